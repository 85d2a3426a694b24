"""Defaults of flags from a project's own file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import PODS, Done, in_process

POD = PODS / "limits-only.yaml"


def run(*words: str | Path) -> Done:
    return in_process(*words, cwd=Path.cwd())


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a folder in it, where the commands run."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    return tmp_path


def test_pyproject_sets_flags_for_every_command_that_has_them(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.numalign]\nmachine = "dgx-1"\npolicy = "restricted"\n')

    head = run("admit", POD).out.splitlines()[:2]

    assert head[0].startswith("machine: dgx-1 (bundled)")
    assert "policy restricted" in head[1]
    assert run("machines").status == 0


def test_a_file_of_our_own_sets_the_flags_of_one_command(project: Path) -> None:
    (project / ".numalign.toml").write_text(
        'machine = ["dgx-1"]\n[lint]\nignore = ["request-not-limit", "not-guaranteed"]\nfail-on = "unaligned"\n'
    )

    done = run("lint", PODS / "burstable.yaml")

    assert (done.status, done.out) == (0, "1 pod, 0 findings; 2 rules ignored; judged on dgx-1\n")


def test_a_table_of_a_command_in_a_group(project: Path) -> None:
    (project / ".numalign.toml").write_text('[config.suggest]\nmachine = "figure-1"\noutput = "kubeadm"\n')

    assert "kind: ClusterConfiguration" in run("config", "suggest").out


def test_the_line_and_the_environment_win(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".numalign.toml").write_text('machine = "dgx-1"\n')

    assert run("admit", POD, "-m", "figure-1").out.startswith("machine: figure-1 ")
    monkeypatch.setenv("NUMALIGN_MACHINE", "hgx-h100")
    assert run("admit", POD).out.startswith("machine: hgx-h100 ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lint]\nignroe = ['x']\n", '../.numalign.toml: lint: no flag is called "--ignroe"; did you mean ignore?'),
        ("lint = 3\n", "../.numalign.toml: lint: expected a table of flags of `numalign lint`"),
        ("started = 'yes'\n[lint]\nquiet = true\n", "../.numalign.toml: lint.quiet: expected a text, a number or"),
        ("[lint]\nmachine = true\n", "../.numalign.toml: lint.machine: expected a text, a number or a list of them"),
        ("oops\n", "../.numalign.toml: not TOML: "),
    ],
)
def test_what_is_wrong_is_said(project: Path, text: str, message: str) -> None:
    (project / ".numalign.toml").write_text(text)

    done = run("lint", POD)

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"numalign: {message}")


def test_a_file_above_the_project_is_not_looked_at(project: Path) -> None:
    (project / "inside" / ".git").mkdir()
    (project / ".numalign.toml").write_text("oops\n")

    assert run("lint", POD).status == 0
