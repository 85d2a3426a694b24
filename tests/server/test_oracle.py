"""The oracle: every action, and wrong lines that cost nothing but themselves."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.running import ENVIRONMENT, ROOT, in_process
from tests.schemas import strictly

COMMAND = ("serve", "--cluster", "docs/examples/cluster.yaml", "--stdio")


def pod(name: str, cpus: str = "6") -> dict[str, object]:
    limits = {"cpu": cpus, "memory": "1Gi"}
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]}}


def talk(*lines: object) -> list[dict[str, object]]:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = in_process(*COMMAND, stdin=text.encode())
    assert (done.status, done.err) == (0, "")
    answers = [json.loads(line) for line in done.out.splitlines()]
    for answer in answers:
        strictly("oracle").validate(answer)
    return answers


def test_pods_come_and_go() -> None:
    answers = talk(
        {"admit": pod("a"), "node": "node-0"},
        {"admit": pod("b"), "node": "node-0"},
        {"admit": pod("c"), "node": "node-0"},
        {"admit": pod("c"), "node": "node-1"},
        {"remove": "default/a", "node": "node-0"},
        {"admit": pod("c"), "node": "node-0"},
        {"remove": "nobody", "node": "node-0"},
    )

    assert [answer.get("admit", answer.get("remove")) for answer in answers] == [
        True, True, False, True, True, True, False,
    ]  # fmt: skip
    assert answers[2]["reason"] == "TopologyAffinityError"
    assert answers[2]["container"] == "c"


def test_reset_forgets_one_node_or_all() -> None:
    answers = talk(
        {"admit": pod("a", "8"), "node": "node-0"},
        {"admit": pod("a", "8"), "node": "node-1"},
        {"reset": True, "node": "node-0"},
        {"admit": pod("a", "8"), "node": "node-0"},
        {"reset": True},
        {"admit": pod("a", "8"), "node": "node-1", "id": "last"},
    )

    assert [answer.get("admit") for answer in answers] == [True, True, None, True, None, True]
    assert answers[-1]["id"] == "last"


def test_what_an_exporter_and_the_kubelets_api_would_say_is_told_on_request() -> None:
    plain, both = talk(
        {"admit": pod("a"), "node": "node-0"},
        {"start": "a", "node": "node-0", "nrt": True, "podResources": True},
    )

    assert "nrt" not in plain
    nrt, listed = both["nrt"], both["podResources"]
    assert isinstance(nrt, dict)
    cpu = nrt["zones"][0]["resources"][0]
    assert (cpu["name"], cpu["available"]) == ("cpu", "2")
    assert isinstance(listed, list)
    assert listed[0]["containers"][0]["cpu_ids"] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        pytest.param("{", "the line is not JSON", id="half a line"),
        pytest.param('{"id": 1e400, "nodes": true}', "1e400 is too large for a number", id="infinity"),
        pytest.param('{"id": NaN, "nodes": true}', "NaN is not a number", id="no number"),
        pytest.param([], "expected a JSON object", id="a list"),
        pytest.param({}, "expected one of admit, remove, start, reset, nodes", id="nothing to do"),
        pytest.param({"admit": {}, "remove": "a"}, "expected one of admit", id="two things to do"),
        pytest.param({"admit": pod("a"), "node": "x"}, "unknown node x", id="no such node"),
        pytest.param({"admit": pod("a")}, "unknown node None", id="which node"),
        pytest.param({"admit": "a", "node": "node-0"}, "admit: expected a Pod", id="no pod"),
        pytest.param({"admit": {"spec": 1}, "node": "node-0"}, "spec", id="a pod that is none"),
        pytest.param({"admit": pod("a", "x"), "node": "node-0"}, "cpu", id="an amount that is none"),
        pytest.param("[" * 100_000, "the line is not JSON", id="deep nesting"),
    ],
)
def test_a_wrong_line_is_answered_and_so_is_the_next(line: object, error: str) -> None:
    wrong, right = talk(line, {"nodes": True})

    assert error in str(wrong["error"])
    assert right == {"nodes": ["node-0", "node-1"]}


def test_the_client_of_the_documents_works() -> None:
    """The twenty lines of docs/serve.md, as they stand there."""
    text = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    program = (
        text.split("```python\n")[1]
        .split("```")[0]
        .replace('["numalign", ', f"[{sys.executable!r}, '-m', 'numalign', ")
    )

    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)

    assert (done.stdout, done.returncode) == ("0-5\n", 0), done.stderr


def test_a_line_over_the_bound_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numalign.server.oracle.MAX_LINE_BYTES", 100)
    long = b'{"nodes": "' + b"x" * 1000 + b'"}\n'

    done = in_process(*COMMAND, stdin=long + b'{"nodes": true}\n' + b"y" * 350)

    answers = [json.loads(line) for line in done.out.splitlines()]
    assert ["error" in answer for answer in answers] == [True, False, True]
