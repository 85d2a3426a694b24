"""The library: its names and signatures stay, its document's examples run, a client of it is typed."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api as mypy

import numalign
from numalign import api
from tests.cli.running import ENVIRONMENT, in_process
from tests.library import client

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = ROOT / "docs" / "library.md"

SIGNATURES = {
    "admit": "(machine, pods, config=None, *, settings=None, kubelet=None, beside=(), started=False)",
    "check_config": "(machine, config=None)",
    "compare": "(machine, pods, config=None, *, settings=None, kubelet=None, beside=(), started=False, options=())",
    "explain": "(pod)",
    "lint": "(*names, machine=None, ignore=())",
    "load_config": "(path)",
    "load_machine": "(name)",
    "load_pods": "(*names, replicas=None)",
    "load_running": "(path)",
    "this_host": "()",
}
"""Function -> what it takes. Parameters may be added at the end, as keywords with a default."""


@pytest.fixture(autouse=True)
def in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def bare(function: object) -> str:
    """Write a signature without its types."""
    signature = inspect.signature(function)  # type: ignore[arg-type]  # any of the library's functions
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def test_the_functions_take_what_they_took() -> None:
    found = {name: bare(getattr(api, name)) for name in api.__all__ if inspect.isfunction(getattr(api, name))}
    assert found == SIGNATURES


def test_the_package_names_what_the_library_has() -> None:
    assert numalign.__all__ == api.__all__
    assert set(api.__all__) <= set(dir(numalign))
    for name in api.__all__:
        assert getattr(numalign, name) is getattr(api, name)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'replay'"):
        numalign.replay  # noqa: B018


def test_the_bare_import_is_cheap() -> None:
    """Only the package itself comes, no module of it."""
    code = "import sys; before = set(sys.modules); import numalign; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    assert [name for name in done.stdout.split() if name.startswith("numalign")] == ["numalign"]


def test_the_document_s_examples_run() -> None:
    found = doctest.testfile(str(DOCUMENT), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.failed == 0
    assert found.attempted > 20


def test_the_document_names_everything() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in api.__all__ if f"`{name}" not in text] == []


@pytest.mark.usefixtures("own_garbage")  # mypy has all of the heap looked through, in very long steps
def test_a_client_is_typed() -> None:
    out, err, status = mypy.run(["--strict", "--config-file", str(ROOT / "pyproject.toml"), client.__file__])
    assert status == 0, out + err


def test_a_client_runs(capsys: pytest.CaptureFixture[str]) -> None:
    machine = numalign.load_machine("figure-1")
    pods = numalign.load_pods("pods/announcement.yaml", "pods/wide.yaml")

    told = client.report(machine, *pods)

    assert told["numa-aligned-1"] == "numa-aligned-container on 0-1"
    assert told["wide"].startswith("TopologyAffinityError: ")
    assert client.fill(machine, pods[0]) == 2
    assert client.best_policies(machine, pods[0]) == ["best-effort", "none", "restricted", "single-numa-node"]
    assert capsys.readouterr() == ("", "")


def test_a_result_is_what_the_command_prints() -> None:
    result = numalign.admit("figure-1", numalign.load_pods("pods"), settings={"topology-manager-policy": "restricted"})

    done = in_process("admit", "pods", "-m", "figure-1", "--policy", "restricted", "-o", "json")

    assert {**json.loads(client.document(result)), "warnings": []} == {**done.json, "warnings": []}


def test_an_explanation_is_that_of_the_pod_in_its_place() -> None:
    """The pods before it count as there."""
    pods = numalign.load_pods("pods/announcement.yaml")
    result = numalign.admit("figure-1", pods, settings={"topology-manager-policy": "single-numa-node"})

    explained = numalign.explain(result["numa-aligned-3"])

    assert explained.pod == result["numa-aligned-3"]._replace(impossible=False)
    assert explained.changes[0].kind == "pods"
    assert explained.advice[0].startswith("Move pod numa-aligned-")


def test_only_what_admit_returned_can_be_explained() -> None:
    _, result = numalign.Node.start("figure-1").admit(numalign.load_pods("pods/announcement.yaml")[0])

    with pytest.raises(ValueError, match="only a pod of what `admit` returned"):
        numalign.explain(result)


def test_a_restart_and_a_resize_give_another_node() -> None:
    full = {"topology-manager-policy": "best-effort", "cpu-manager-policy-options": "full-pcpus-only=true"}
    pod = numalign.load_pods("pods/guaranteed-4cpu-1gpu.yaml")[0]
    busy, _ = numalign.Node.start("dgx-1", settings=full).admit(pod)
    many = pod.containers[0]._replace(requests={}, limits={})

    after, came = busy.restart()
    older, _ = busy.restart(kubelet="1.35")
    same, answer = busy.resize(pod)
    left, refused = busy.resize(pod._replace(containers=(many, *pod.containers[1:])))

    assert [(one.name, one.admitted) for one in came] == [(pod.name, True)]
    assert [one.name for one in after.pods] == [one.name for one in older.pods] == [pod.name]
    assert older.session.node.kubelet.version == (1, 35)
    assert (answer.changed, same.pods) == (False, busy.pods)
    assert (refused.changed, refused.reason, left.pods) == (True, "Infeasible", busy.pods)
    with pytest.raises(numalign.StartError, match="differs from state checkpoint policy"):
        busy.restart(settings={"cpu-manager-policy": "none", "cpu-manager-policy-options": ""})
    with pytest.raises(KeyError):
        busy.resize(pod._replace(name="other"))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: numalign.load_machine("figure-2"), numalign.InputError),
        (lambda: numalign.admit("figure-1", (), settings={"policy": "restricted"}), numalign.InputError),
        (
            lambda: numalign.admit("figure-1", (), settings={"topology-manager-policy": "strictest"}),
            numalign.InputError,
        ),
        (lambda: numalign.admit("figure-1", (), kubelet="1.2"), numalign.InputError),
        (lambda: numalign.admit("figure-1", (), numalign.IDEAL), numalign.StartError),
        (lambda: numalign.Node.start("figure-1").end("web"), KeyError),
        (lambda: numalign.admit("figure-1", ())["web"], KeyError),
    ],
    ids=["machine", "flag", "policy", "version", "no reservation", "no such pod", "no such result"],
)
def test_wrong_arguments_raise(call: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()  # type: ignore[operator]  # each is a lambda
