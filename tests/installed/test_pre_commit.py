"""The hook under the real pre-commit: a repository of 200 mixed files, where only those with pods are judged."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from numalign import __version__
from tests.cli.running import ROOT
from tests.installed.conftest import Installed

pytestmark = pytest.mark.installed
BURSTABLE = (ROOT / "pods/burstable.yaml").read_text(encoding="utf-8")
ALIGNED = (ROOT / "pods/limits-only.yaml").read_text(encoding="utf-8")
OTHERS = (
    "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n",
    "name: build\non: [push]\njobs: {test: {runs-on: here, steps: [{run: make}]}}\n",
    '{"compilerOptions": {"strict": true}}\n',
)


class Repository:
    """A git repository with the hook."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet")

    def git(self, *words: str) -> str:
        name = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always")
        done = subprocess.run(["git", *name, *words], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "--quiet", "--no-verify", "-m", "x")
        return self.git("rev-parse", "HEAD")


def hooks(installed: Installed, folder: Path) -> tuple[str, str]:
    """Make numalign a repository to take the hook from, of what the source distribution has."""
    archive = installed.dist / f"numalign-{__version__}.tar.gz"
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    repository = Repository(folder / "hooks")
    (folder / f"numalign-{__version__}").rename(folder / "hooks" / "source")
    for path in (folder / "hooks" / "source").iterdir():
        path.rename(folder / "hooks" / path.name)
    return str(repository.folder), repository.commit()


def manifests(folder: Path, findings: int) -> None:
    """Lay out 200 files: services, workflows, settings; every fifth is a pod, the first of them with findings."""
    pods = 0
    for at in range(200):
        is_pod = at % 5 == 0
        text = (BURSTABLE if pods < findings else ALIGNED) if is_pod else OTHERS[at % len(OTHERS)]
        pods += is_pod
        (folder / f"{at:03}.{'json' if text.startswith('{') else 'yaml'}").write_text(text)


def test_only_files_with_pods_are_judged_and_one_changed_file_takes_no_time(
    installed: Installed, tmp_path: Path
) -> None:
    url, revision = hooks(installed, tmp_path)
    repository = Repository(tmp_path / "manifests")
    manifests(repository.folder, findings=3)
    config = {"repos": [{"repo": url, "rev": revision, "hooks": [{"id": "numalign-lint"}]}]}
    (repository.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    repository.commit()
    installed.folder = repository.folder
    home = {"PRE_COMMIT_HOME": str(tmp_path / "cache"), "GIT_CONFIG_COUNT": "1"}
    home |= {"GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}
    pre_commit = Path(sys.executable).parent / "pre-commit"

    everything = installed.run(pre_commit, "run", "--all-files", **home)

    assert everything.returncode == 1, everything.stdout + everything.stderr
    judged = {line.partition(":")[0] for line in everything.stdout.splitlines() if ": not-guaranteed" in line}
    assert judged == {"000.yaml", "005.yaml", "010.yaml"}
    assert "40 pods, 9 findings" in everything.stdout

    changed = repository.folder / "015.yaml"
    changed.write_text(changed.read_text() + "# changed\n")
    repository.git("add", "-A")
    one = installed.run(pre_commit, "run", "--verbose", **home)

    assert one.returncode == 0, one.stdout + one.stderr
    assert "1 pod, 0 findings" in one.stdout

    service = repository.folder / "001.yaml"
    service.write_text(service.read_text() + "# changed\n")
    repository.git("add", "001.yaml")
    repository.git("reset", "--quiet", "015.yaml")
    assert installed.run(pre_commit, "run", **home).returncode == 0
