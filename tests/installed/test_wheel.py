"""The wheel in an empty environment: it answers, its man pages read well, `kubectl numalign` explains."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import numalign
from tests.cli.running import ROOT
from tests.cli.test_kubectl import ANSWERS, Cluster
from tests.installed.conftest import Installed

pytestmark = pytest.mark.installed
POD = ROOT / "pods/guaranteed-4cpu-1gpu.yaml"
ADMIT = ("admit", POD, "--machine", "dgx-1", "--policy", "single-numa-node", "-o", "name")


def test_it_answers(installed: Installed) -> None:
    done = installed.run("numalign", *ADMIT)

    assert (done.returncode, done.stdout) == (0, "pod/guaranteed-4cpu-1gpu\n")
    data = json.loads(installed.run("numalign", "version", "-o", "json").stdout)
    assert data["kubelets"]["newest"] in data["kubelets"]["exact"]
    assert data["extras"] == {"podresources": False, "serve": False, "dask": False}


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed; tests/test_manual.py has the sources")
@pytest.mark.parametrize("page", ["numalign", "numalign-admit", "kubectl-numalign-why"])
def test_man_finds_its_pages_beside_its_programs(page: str, installed: Installed) -> None:
    done = installed.run("man", page)

    assert done.returncode == 0, done.stderr
    assert f"\n       {page} - " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def kubectl(cluster: Cluster) -> None:
    """Let the stand-in run plugins as kubectl does: the longest program on PATH whose name the words make."""
    stand_in = cluster.folder / "kubectl"
    stand_in.rename(cluster.folder / "kubectl.py")
    stand_in.write_text(
        f'#!/bin/sh\nif [ "$1" = numalign ]; then shift; exec kubectl-numalign "$@"; fi\n'
        f'exec {shlex.quote(str(cluster.folder / "kubectl.py"))} "$@"\n'
    )
    stand_in.chmod(0o755)


def test_kubectl_numalign_why_explains_a_refused_pod(installed: Installed, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    kubectl(cluster)

    done = installed.run("kubectl", "numalign", "why", "vllm-0", "-n", "shop", before=(cluster.folder,))

    assert done.returncode == 1, done.stderr
    assert "3 nvidia.com/gpu need 2 NUMA nodes: each has at most 2" in done.stdout
    assert "Fixes, " in done.stdout
    assert set(cluster.calls) <= set(ANSWERS)


def test_kubectl_completes_by_it(installed: Installed) -> None:
    done = installed.run("kubectl_complete-numalign", "why", "--mach")

    assert done.stdout.splitlines()[0].startswith("--machine")
    assert done.stdout.splitlines()[-1] == ":4"


@pytest.mark.parametrize("words", [ADMIT, ("discover", "-o", "json")], ids=["admit", "discover"])
def test_the_single_file_starts(words: tuple[str | Path, ...], installed: Installed, tmp_path: Path) -> None:
    """`discover` asks the host itself, too, without psutil here."""
    done = installed.run(installed.dist / "numalign.pyz", *words, SHIV_ROOT=str(tmp_path / "cache"))

    assert done.returncode == 0, done.stderr
    assert "psutil" not in done.stderr
    assert done.stdout


COMPILED = (".so", ".pyd", ".dylib", ".a", ".pyc")


def test_the_single_file_and_the_plugin_run_on_any_architecture(installed: Installed, tmp_path: Path) -> None:
    """Nothing in them is compiled, and psutil, which is no use without its compiled part, is not there."""
    with tarfile.open(installed.dist / "numalign-kubectl.tar.gz") as archive:
        archive.extract("kubectl-numalign", tmp_path, filter="data")
    for path in (installed.dist / "numalign.pyz", tmp_path / "kubectl-numalign"):
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
            heads = {packed.read(name)[:4] for name in names}
        assert [name for name in names if name.endswith(COMPILED) or "psutil" in name] == []
        assert heads & {b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ\x90\x00"} == set()
        assert {f"site-packages/{name}/__init__.py" for name in ("numalign", "click", "rich", "yaml")} <= set(names)


def test_everything_works_where_psutil_cannot_be_imported(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "psutil").mkdir()
    (tmp_path / "psutil/__init__.py").write_text("raise ImportError('no compiled part for this architecture')\n")
    archive = tmp_path / "node.tar"
    asked = ("--machine", "dgx-1", "--policy", "single-numa-node")

    def run(*words: str | Path, **more: str) -> tuple[int, str]:
        done = installed.run("numalign", *words, **more)
        return done.returncode, done.stdout

    without = {"PYTHONPATH": str(tmp_path)}
    assert installed.run(installed.bin / "python", "-c", "import psutil", **without).returncode == 1
    assert run("snapshot", archive, **without)[0] == 0
    for words in (ADMIT, ("explain", POD, *asked), ("discover", "-o", "yaml"), ("status", "--node", archive)):
        assert run(*words, **without) == run(*words), words
    assert run(*ADMIT, **without)[0] == run("discover", **without)[0] == 0
    assert run("status", "--node", archive, **without)[0] in (0, 4)  # 4: this kernel is none for a kubelet


def test_the_constraints_name_what_is_installed_by_hash(installed: Installed) -> None:
    text = (installed.dist / "constraints.txt").read_text(encoding="utf-8")
    there = json.loads(installed.run(installed.bin / "python", "-m", "pip", "list", "--format", "json").stdout)

    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.M))
    assert pinned.items() >= {
        (one["name"].lower(), one["version"])
        for one in there
        if one["name"].lower() not in {"numalign", "pip", "setuptools", "wheel"}
    }
    assert text.count("--hash=sha256:") > len(pinned)
    assert "http" not in text


def test_how_it_was_made_is_said_of_every_file(installed: Installed) -> None:
    """SHA256SUMS and an in-toto statement with SLSA provenance, version 1."""
    lines = (installed.dist / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    statement = json.loads((installed.dist / "provenance.json").read_text(encoding="utf-8"))

    files = {path.name for path in installed.dist.iterdir() if path.is_file()}
    assert set(sums) == files - {"SHA256SUMS", "provenance.json"}
    assert sums == {name: hashlib.sha256((installed.dist / name).read_bytes()).hexdigest() for name in sums}
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    assert {one["name"]: one["digest"]["sha256"] for one in statement["subject"]} == sums
    made = statement["predicate"]["buildDefinition"]
    assert made["externalParameters"]["version"] == numalign.__version__
    assert "pkg:pypi/click@" in json.dumps(made["resolvedDependencies"])


def test_schemas_lie_by_their_address(installed: Installed) -> None:
    """As `numalign.version.ADDRESS` will name them: a folder schemas/, one file each."""
    assert {path.name for path in (installed.dist / "schemas").iterdir()} == {
        path.name for path in (ROOT / "numalign/schemas").iterdir()
    }


def test_pipx_installs_programs_and_man_pages(installed: Installed, tmp_path: Path) -> None:
    places = {name: str(tmp_path / name) for name in ("PIPX_HOME", "PIPX_BIN_DIR", "PIPX_MAN_DIR")}
    (wheel,) = installed.dist.glob("*.whl")

    done = installed.run(tool("pipx"), "install", wheel, **places)

    assert done.returncode == 0, done.stderr
    programs = {path.name for path in Path(places["PIPX_BIN_DIR"]).iterdir()}
    assert programs == {"numalign", "kubectl-numalign", "kubectl_complete-numalign"}
    assert Path(places["PIPX_MAN_DIR"], "man1/numalign-lint.1").exists()
    assert installed.run(Path(places["PIPX_BIN_DIR"], "numalign"), *ADMIT).returncode == 0


def test_uvx_runs_it_without_installing(installed: Installed, tmp_path: Path) -> None:
    (wheel,) = installed.dist.glob("*.whl")

    done = installed.run(tool("uvx"), "--from", wheel, "numalign", *ADMIT, UV_CACHE_DIR=str(tmp_path / "cache"))

    assert (done.returncode, done.stdout) == (0, "pod/guaranteed-4cpu-1gpu\n"), done.stderr


def test_the_action_installs_numalign_where_there_is_none(installed: Installed, tmp_path: Path) -> None:
    """As a runner does: no numalign on PATH, and the version that the workflow names."""
    (wheel,) = installed.dist.glob("*.whl")
    manifest = shutil.copy(ROOT / "pods/burstable.yaml", installed.folder)
    given = {"COMMAND": "lint", "PATHS": os.path.basename(manifest), "VERSION": str(wheel), "ARGUMENTS": ""}
    nothing = Installed(tmp_path / "no-environment", installed.dist, installed.folder)

    done = nothing.run(ROOT / "deploy/action.sh", **given, RUNNER_TEMP=str(tmp_path), GITHUB_ACTION_PATH=str(ROOT))

    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=burstable.yaml,line=6,title=not-guaranteed::")


def test_what_is_inside_is_listed(installed: Installed) -> None:
    """The libraries that come along, with their versions and licences, and none that does not."""
    bill = json.loads((installed.dist / "sbom.json").read_text(encoding="utf-8"))
    licences = (installed.dist / "licences.md").read_text(encoding="utf-8")
    there = json.loads(installed.run(installed.bin / "python", "-m", "pip", "list", "--format", "json").stdout)

    components = {one["name"].lower(): one["version"] for one in bill["components"]}
    assert bill["bomFormat"] == "CycloneDX"
    assert components == {one["name"].lower(): one["version"] for one in there}
    assert {"click", "rich", "pyyaml", "psutil"} <= set(components)
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in licences.splitlines()[2:]]
    assert {name.lower() for name, _, _ in rows} == set(components) - {"pip", "setuptools", "wheel"}
    assert [name for name, _, licence in rows if licence in ("", "UNKNOWN")] == []


def tool(name: str) -> Path:
    """Find a program of the environment that runs the tests; `.ci/release` puts it there."""
    return Path(sys.executable).parent / name
