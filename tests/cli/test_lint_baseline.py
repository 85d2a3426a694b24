"""`numalign lint --baseline`: what was there already is passed over, what is new or gone is told."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.running import Done, in_process
from tests.schemas import strictly

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %(name)s}
spec:
  containers:
  - name: app
    image: app
    resources:
      requests: {cpu: %(cpu)s, memory: 1Gi}
      limits: {cpu: 4, memory: 1Gi, example.com/gpu: 1}
"""
BASELINE = "baseline.yaml"


def pod(name: str = "web", cpu: str = "2") -> str:
    return POD % {"name": name, "cpu": cpu}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a manifest whose findings are in the baseline."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests/a.yaml").write_text(pod())
    assert lint(tmp_path, "--write-baseline").status == 0
    return tmp_path


def lint(folder: Path, *words: str, names: tuple[str, ...] = ("manifests",)) -> Done:
    return in_process("lint", *names, "--baseline", BASELINE, *words, cwd=folder)


def codes(done: Done) -> list[str]:
    return [finding["code"] for one in done.json["pods"] for finding in one["findings"]]


def test_what_was_there_is_passed_over(folder: Path) -> None:
    done = lint(folder)

    assert (done.status, done.err) == (0, "")
    assert (
        done.out == "1 pod, 0 findings. 2 findings known from the baseline. No machine given (--machine adds checks).\n"
    )


def test_it_says_each_finding_on_a_line(folder: Path) -> None:
    text = (folder / BASELINE).read_text()

    assert yaml.safe_load(text)["findings"] == [
        {"file": "manifests/a.yaml", "pod": "Pod default/web", "container": "", "code": "not-guaranteed", "count": 1},
        {
            "file": "manifests/a.yaml",
            "pod": "Pod default/web",
            "container": "app",
            "code": "request-not-limit",
            "count": 1,
        },
    ]
    assert len([line for line in text.splitlines() if line.startswith("- ")]) == 2


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("# moved\n\n\n" + pod(), id="lines move"),
        pytest.param(pod(cpu="3"), id="an amount changes"),
        pytest.param(pod() + "---\n" + POD % {"name": "fine", "cpu": "4"}, id="a pod without findings comes"),
    ],
)
def test_it_stays_silent_where(content: str, folder: Path) -> None:
    (folder / "manifests/a.yaml").write_text(content)

    assert (lint(folder).status, codes(lint(folder, "-o", "json"))) == (0, [])


def test_one_more_of_the_same_code_is_new(folder: Path) -> None:
    (folder / "manifests/a.yaml").write_text(
        pod().replace("requests: {cpu: 2, memory: 1Gi}", "requests: {cpu: 2, memory: 2Mi}")
    )

    done = lint(folder, "-o", "json")

    assert (done.status, codes(done)) == (1, ["request-not-limit"])


def test_another_pod_is_new(folder: Path) -> None:
    (folder / "manifests/b.yaml").write_text(pod("other"))

    assert codes(lint(folder, "-o", "json")) == ["not-guaranteed", "request-not-limit"]


def test_what_is_gone_is_named(folder: Path) -> None:
    (folder / "manifests/a.yaml").write_text(pod(cpu="4"))

    done = lint(folder)

    assert done.status == 0
    assert "manifests/a.yaml: request-not-limit is gone from Pod default/web, container app\n" in done.out
    assert done.err == "note: baseline.yaml: 2 of its findings are gone\n  fix: add --write-baseline\n"
    document = lint(folder, "-o", "json").json
    strictly("lint-result").validate(document)
    assert [one["code"] for one in document["gone"]] == ["not-guaranteed", "request-not-limit"]


def test_of_files_that_were_not_looked_at_nothing_is_gone(folder: Path) -> None:
    """So that a hook that is given the changed files alone stays quiet, and writing anew keeps the others."""
    (folder / "manifests/b.yaml").write_text(pod("other"))
    only_b = ("manifests/b.yaml",)

    assert lint(folder, "-o", "json", names=only_b).json["gone"] == []
    lint(folder, "--write-baseline", names=only_b)
    assert lint(folder).status == 0


def test_findings_of_a_file_that_is_no_longer_there_are_gone(folder: Path) -> None:
    (folder / "manifests/b.yaml").write_text(pod("other", "4"))
    (folder / "manifests/a.yaml").unlink()

    assert len(lint(folder, "-o", "json", names=("manifests/b.yaml",)).json["gone"]) == 2


def test_paths_start_at_the_baseline(folder: Path) -> None:
    done = in_process("lint", "a.yaml", "--baseline", "../baseline.yaml", cwd=folder / "manifests")

    assert done.status == 0, done.out


def test_a_broken_input_leaves_it_alone(folder: Path) -> None:
    before = (folder / BASELINE).read_text()
    (folder / "manifests/b.yaml").write_text("kind: Pod\nspec: [\n")
    (folder / "manifests/a.yaml").write_text(pod(cpu="4"))

    done = lint(folder, "--write-baseline")

    assert done.status == 2
    assert (folder / BASELINE).read_text() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "baseline.yaml: cannot be read", id="a file that is not there"),
        pytest.param("kind: Pod\n", 'baseline.yaml:1: kind: expected LintBaseline, got "Pod"', id="another kind"),
        pytest.param(
            "kind: LintBaseline\nfindings:\n- {file: a, pod: b, code: c, count: 0}\n",
            "baseline.yaml:3: findings[0].count: expected a whole number from 1",
            id="a count that is none",
        ),
        pytest.param("kind: LintBaseline\nfindings:\n- {fil: a}\n", "similar: file", id="a misspelt key"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(content: str | None, message: str, folder: Path) -> None:
    (folder / BASELINE).unlink()
    if content is not None:
        (folder / BASELINE).write_text(content)

    done = lint(folder)

    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_it_can_be_written_only_into_a_file_that_is_named() -> None:
    done = in_process("lint", "pods/burstable.yaml", "--write-baseline")

    assert done.status == 2
    assert "--write-baseline requires --baseline" in done.err
