"""The archive and manifests for krew and Homebrew: what each asks of one holds, and the program in the archive runs."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from numalign import __version__
from tests.installed.conftest import Installed

pytestmark = pytest.mark.installed


def test_the_manifest_is_one_that_krew_takes(installed: Installed) -> None:
    """Its rules: the developer guide on plugin manifests, and what `validate-krew-manifest` refuses."""
    manifest: dict[str, Any] = yaml.safe_load((installed.dist / "numalign.yaml").read_text(encoding="utf-8"))

    assert (manifest["apiVersion"], manifest["kind"]) == ("krew.googlecontainertools.github.com/v1alpha2", "Plugin")
    assert manifest["metadata"] == {"name": "numalign"}  # the file's own name
    spec = manifest["spec"]
    assert set(spec) <= {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
    assert re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", spec["version"])
    assert spec["version"] == f"v{__version__}"
    assert 0 < len(spec["shortDescription"]) <= 50
    assert not {"\n", "kubectl"} & set(spec["shortDescription"].split())
    for platform in spec["platforms"]:
        assert set(platform) == {"selector", "uri", "sha256", "files", "bin"}
        assert platform["uri"].startswith("https://")
        assert platform["uri"].endswith(".tar.gz")
        assert {one["key"] for one in platform["selector"]["matchExpressions"]} <= {"os", "arch"}
        assert all(set(one) == {"from", "to"} and all(one.values()) for one in platform["files"])


def test_the_archive_has_what_the_manifest_names_and_runs(installed: Installed, tmp_path: Path) -> None:
    (platform,) = yaml.safe_load((installed.dist / "numalign.yaml").read_text(encoding="utf-8"))["spec"]["platforms"]
    archive = installed.dist / platform["uri"].rpartition("/")[2]

    assert hashlib.sha256(archive.read_bytes()).hexdigest() == platform["sha256"]
    with tarfile.open(archive) as opened:
        assert set(opened.getnames()) == {one["from"] for one in platform["files"]}
        opened.extractall(tmp_path, filter="data")
    alone = Installed(tmp_path / "no-environment", installed.dist, installed.folder)
    done = alone.run(tmp_path / platform["bin"], "machines", "-o", "name", SHIV_ROOT=str(tmp_path / "cache"))
    assert "hgx-h100" in done.stdout, done.stderr


def test_the_formula_names_what_was_built(installed: Installed) -> None:
    """Homebrew's rules: a class named as the file, a short description that does not begin with the name."""
    formula = (installed.dist / "numalign.rb").read_text(encoding="utf-8")
    said = dict(re.findall(r'^  (\w+) "([^"]*)"', formula, re.M))

    assert "class Numalign < Formula\n" in formula
    assert "{{" not in formula
    assert said["url"].rpartition("/")[2] == "numalign.pyz"
    assert said["sha256"] == hashlib.sha256((installed.dist / "numalign.pyz").read_bytes()).hexdigest()
    assert (said["version"], said["license"]) == (__version__, "Apache-2.0")
    assert len(said["desc"]) <= 80
    assert not re.match(r"(?i)(an?|the|numalign) ", said["desc"])


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed; the test above reads the formula")
def test_the_formula_is_ruby(installed: Installed) -> None:
    done = subprocess.run(["ruby", "-c", installed.dist / "numalign.rb"], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "Syntax OK\n"), done.stderr
