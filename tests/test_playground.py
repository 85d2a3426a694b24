"""What the playground asks of numalign: its command lines, the answers' bytes, and fixes written into a manifest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from manual import bridge
from manual.playground import examples, lists

POD = """\
# kept
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  template:
    spec:
      containers:
      - name: server
        resources:
          requests: {nvidia.com/gpu: 8}
          limits:
            nvidia.com/gpu: "8"  # all of them
            cpu: 16
      - {name: other, resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bridge, "FOLDER", str(tmp_path / "question"))
    return tmp_path / "question"


def ask(question: dict[str, Any], form: str = "table") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bridge.answer(json.dumps(question), form))
    return found


@pytest.mark.parametrize("example", examples(), ids=[one["title"] for one in examples()])
def test_an_example_is_answered_as_on_the_command_line(example: dict[str, Any], folder: Path) -> None:
    question = example["question"]
    found = ask(question)
    words = [sys.executable, "-m", "numalign", *bridge.arguments(question)]
    run = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)
    assert (found["status"], found["out"], found["err"]) == (run.returncode, run.stdout, run.stderr)
    assert found["status"] in (0, 1, 4)


def test_a_question_is_a_command_with_its_files() -> None:
    question = {
        "command": "admit",
        "pod": "a: b",
        "machineText": "x: 1\n",
        "flags": {"reserved-memory": "0:memory=1Gi;1:memory=2Gi"},
    }
    assert ask(question)["command"] == (
        "cat > pod.yaml <<'END_OF_FILE'\na: b\nEND_OF_FILE\ncat > machine.txt <<'END_OF_FILE'\nx: 1\nEND_OF_FILE\n"
        "numalign admit pod.yaml --machine machine.txt '--reserved-memory=0:memory=1Gi;1:memory=2Gi'\n"
    )


@pytest.mark.parametrize(
    "flags", [{"output": "json"}, {"state": "x"}, {"node": "/"}, {"kubelet-config": "/etc/passwd"}, {"exec": "sh"}]
)
def test_a_question_sets_settings_of_the_kubelet_alone(flags: dict[str, str]) -> None:
    assert bridge.arguments({"command": "admit", "flags": flags}) == ["admit", "pod.yaml"]


def test_a_machine_of_a_link_names_no_flag() -> None:
    assert bridge.arguments({"machine": "--help"})[-1] == "--machine=--help"
    assert bridge.arguments({"command": "serve"}) == ["explain", "pod.yaml"]


def test_an_amount_is_written_where_the_container_requests_it() -> None:
    changed = bridge.with_request(POD, "server", "nvidia.com/gpu", "4")
    assert changed == POD.replace(
        "{nvidia.com/gpu: 8}\n          limits", '{nvidia.com/gpu: "4"}\n          limits'
    ).replace('"8"  #', '"4"  #')
    assert bridge.with_request(POD, "server", "memory", "1Gi") is None
    assert bridge.with_request("a: [", "server", "cpu", "1") is None


def test_a_fix_that_can_be_clicked_does_what_it_says() -> None:
    question = examples()[0]["question"]
    found = json.loads(bridge.fixes(ask(question, "json")["out"]))
    assert {one["aligned"] for one in found} == {True, False}
    for fix in found:
        after = json.loads(bridge.applied(json.dumps(question), json.dumps(fix["change"])))
        pod = json.loads(ask(after, "json")["out"])["pods"][0]
        assert (pod["admit"], pod["verdict"] == "aligned") == (True, fix["aligned"])


def test_a_request_that_the_manifest_does_not_name_is_set_beside_it() -> None:
    change = {"settings": {}, "requests": [{"container": "server", "resource": "memory", "ask": "1Gi"}]}
    once = bridge.applied(json.dumps({"pod": POD, "sets": ["server:memory=2Gi"]}), json.dumps(change))
    assert json.loads(once)["sets"] == ["server:memory=1Gi"]


@pytest.mark.parametrize("text", ["", "\0", "a: [", "x" * 200_000, "&a [*a, *a]", "- " * 5000, "<svg onload=alert(1)>"])
@pytest.mark.parametrize("command", bridge.COMMANDS)
def test_whatever_is_pasted_is_answered(text: str, command: str) -> None:
    question = {"command": command, "pod": text, "machineText": text, "kubelet": text}
    assert ask(question)["status"] in (0, 1, 2, 4)


def test_what_can_be_chosen_is_there() -> None:
    found = lists()
    assert "hgx-h100" in [one["name"] for one in found["machines"]]
    assert found["versions"][0] == "1.37"
    named = [one["question"].get("machine") for one in yaml.safe_load(json.dumps(found["examples"]))]
    assert set(filter(None, named)) <= {one["name"] for one in found["machines"]}
