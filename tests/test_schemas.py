"""The JSON that scripts rely on: what is printed obeys its schema, and the site's page of fields has every key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from manual.fields import fields
from manual.schemas import DOCUMENTS, FOLDER, made
from numalign.errors import InputError, Notice
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.setup import Setup
from numalign.render.json.about import machines_json
from numalign.render.json.admit import admit_json
from numalign.render.json.node import check_json
from numalign.render.json.replay import replay_json
from numalign.results.admit import AdmitResult
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from numalign.sources.pods import manifest
from numalign.sources.recorded import scenario
from numalign.tasks.admit import admit
from numalign.tasks.config import check_config
from numalign.tasks.replay import replay
from tests.cli.running import in_process
from tests.conformance import cases
from tests.conftest import VECTORS
from tests.schemas import SCHEMAS, keys, strictly, validator

ROOT = Path(__file__).parent.parent
PODS_FOLDER = str(ROOT / "pods")
PODS = manifest.read_pods([PODS_FOLDER]).pods
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
DOCUMENT = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
FIELDS = fields()
CAMEL_CASE = re.compile(r"[a-z]+[0-9]*([A-Z][a-z0-9]*|CPUs)*")


def answer(config: KubeletConfig, machine: str, *, ideal: bool = True) -> tuple[dict[str, Any], AdmitResult]:
    result = admit(Setup(load_machine(machine).machine, config, "ideal" if ideal else "kubelet"), PODS)
    return json.loads(json.dumps(admit_json(result, result.notices))), result


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"urn:numalign:v1:{name}"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("machine", bundled.names())
def test_every_pod_on_every_machine_gives_a_described_answer(machine: str, policy: str) -> None:
    many = len(load_machine(machine).machine.numa_nodes) > 8
    options = {"max-allowable-numa-nodes": "64"} if many else None
    config = IDEAL._replace(topology_manager_policy=policy, topology_manager_policy_options=options)

    found, result = answer(config, machine)

    strictly("admit-result").validate(found)
    assert [pod["admit"] for pod in found["pods"]] == [pod.admitted for pod in result.pods]


def test_pinned_memory_and_a_kubelet_with_every_setting_are_described() -> None:
    config = KubeletConfig(
        topology_manager_policy="restricted",
        topology_manager_scope="pod",
        topology_manager_policy_options={"prefer-closest-numa-nodes": "true"},
        cpu_manager_policy="static",
        cpu_manager_policy_options={"full-pcpus-only": "true"},
        reserved_system_cpus="0,64",
        memory_manager_policy="Static",
        reserved_memory=(MemoryReservation(0, {"memory": "1124Mi"}),),
        kube_reserved={"memory": "1Gi"},
        feature_gates={"CPUManagerPolicyOptions": True},
    )

    found, _ = answer(config, "xeon-2s-snc2", ideal=False)

    strictly("admit-result").validate(found)
    assert any(container["memory"] for pod in found["pods"] for container in pod["containers"])
    assert any(pod["reason"] == "SMTAlignmentError" for pod in found["pods"])


@pytest.mark.parametrize("family", ["e2e", "lifecycle"])
def test_scenarios_and_what_replay_answers_are_described(family: str) -> None:
    """Also the recorded answers obey the schema, those with a crash, a hang and a refused start included."""
    seen = set()
    for case in cases(VECTORS / f"{family}.jsonl.gz", 10):
        validator("scenario").validate(case)
        one = scenario.read_scenario(json.dumps(case).encode())
        decided = (
            {"startError": one.start_error}
            if one.start_error
            else replay_json(replay(Setup(one.machine, one.config, "kubelet"), one.steps))
        )
        strictly("replay-result").validate({"id": one.id, **json.loads(json.dumps(decided))})
        seen.update(decided)
    assert seen >= {"startError", "steps", "finalState", "reservedCPUs"}


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"machine": {"numaNodes": []}, "steps": []},
        {"machine": {"numaNodes": [{"id": 0}], "devices": {}}, "steps": []},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": {}},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": [], "family": "cpu"},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": [], "devices": {"v/g": [{"numaNode": 0}]}},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": [{"op": "admit", "pod": "web"}]},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": [{"op": "remove", "pod": {}}]},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": [{"op": "stop", "pod": "web"}]},
        {"machine": {"numaNodes": [{"id": 0}]}, "steps": [{"op": "admit", "pod": {"spec": {}}}]},
    ],
    ids=json.dumps,
)
def test_what_the_scenario_schema_refuses_replay_refuses_too(broken: dict[str, Any]) -> None:
    assert not validator("scenario").is_valid(broken)
    with pytest.raises(InputError):
        scenario.read_scenario(json.dumps(broken).encode())


def test_a_line_that_is_no_scenario_has_a_described_answer() -> None:
    strictly("replay-result").validate({"line": 3, "error": "not JSON"})


def test_unknown_keys_pass_for_readers_and_not_for_tests() -> None:
    """Keys may be added: a script that validates must not break, and a test must notice."""
    found, _ = answer(IDEAL, "figure-1")
    found["pods"][0]["later"] = found["later"] = 1

    assert validator("admit-result").is_valid(found)
    assert not strictly("admit-result").is_valid(found)


def test_results_describe_what_they_share_alike() -> None:
    first, second = SCHEMAS["admit-result"]["$defs"], SCHEMAS["replay-result"]["$defs"]
    for name in ("cpus", "exclusiveCpus", "sharedPool", "hint", "numaNodes", "blocks", "devices"):
        assert first[name] == second[name]


def test_warnings_are_described() -> None:
    result = admit(Setup(load_machine("figure-1").machine, IDEAL, "ideal"), ())
    strictly("admit-result").validate(admit_json(result, (Notice("fit", "text", "web"),)))


@pytest.mark.parametrize(
    "config",
    [
        IDEAL,
        KubeletConfig(cpu_manager_policy="static", reserved_system_cpus="0", feature_gates={"Nonsense": True}),
        KubeletConfig(memory_manager_policy="Static", kube_reserved={"memory": "1Gi"}),
        KubeletConfig(memory_manager_policy="Static", reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),)),
        KubeletConfig(memory_manager_policy="Static", system_reserved={"memory": "lots"}),
        KubeletConfig(topology_manager_policy="strictest", cpu_manager_policy="dynamic"),
    ],
    ids=["starts", "gate", "no reservation", "wrong sum", "no quantity", "two unknown policies"],
)
@pytest.mark.parametrize("machine", ["figure-1", "gb200"])
def test_what_config_check_answers_is_described(config: KubeletConfig, machine: str) -> None:
    found = check_config(Setup(load_machine(machine).machine, config, "kubelet"))
    notices = (Notice("fit", "text"),)

    written = json.loads(json.dumps(check_json(found, notices)))

    strictly("config-check-result").validate(written)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("scope", ["container", "pod"])
@pytest.mark.parametrize("machine", ["figure-1", "dgx-1", "power9-2s-sparse-ids"])
def test_what_explain_answers_is_described(policy: str, scope: str, machine: str) -> None:
    more = ("--details", "--alternatives", "-o", "json")
    done = in_process("explain", PODS_FOLDER, "-m", machine, "--policy", policy, "--scope", scope, *more)

    assert done.status == 1, done.err
    strictly("explain-result").validate(done.json)


def test_explain_describes_a_kubelet_that_does_not_start_alike() -> None:
    done = in_process("explain", PODS_FOLDER, "-m", "figure-1", "--memory-manager-policy", "Static", "-o", "json")

    strictly("explain-result").validate(done.json)
    assert done.status == 4
    assert done.json["startError"]


@pytest.mark.parametrize("machine", [(), ("--machine", "figure-1"), ("--machine", "gb200")], ids=str)
def test_what_lint_answers_is_described(machine: tuple[str, ...]) -> None:
    found = in_process("lint", PODS_FOLDER, *machine, "-o", "json").json

    strictly("lint-result").validate(found)
    assert any(pod["findings"] for pod in found["pods"])


def test_the_list_of_machines_is_described() -> None:
    listed = [(load_machine(name).machine, bundled.description(name)) for name in bundled.names()]
    strictly("machine-list").validate(machines_json(listed))


@pytest.mark.parametrize("more", [(), ("--sweep", "policy=none|single-numa-node")], ids=["runs", "a sweep"])
def test_what_simulate_answers_is_described(more: tuple[str, ...]) -> None:
    inputs = ("--cluster", "docs/examples/cluster.yaml", "--trace", "docs/examples/trace.jsonl")
    done = in_process("simulate", *inputs, *more, "-o", "json", "--jobs", "1")
    strictly("simulate-result").validate(json.loads(done.out))


def test_what_test_answers_is_described() -> None:
    done = in_process("test", "docs/examples/alignment.yaml", "-o", "json")
    strictly("test-result").validate(json.loads(done.out))


@pytest.mark.parametrize(("command", "schema"), [("version", "version"), ("doctor", "doctor-result")])
def test_what_numalign_says_of_itself_is_described(command: str, schema: str) -> None:
    strictly(schema).validate(json.loads(in_process(command, "-o", "json").out))


@pytest.mark.parametrize("name", SCHEMAS)
def test_keys_are_in_camel_case_and_documented(name: str) -> None:
    for key in keys(SCHEMAS[name]) if name not in DOCUMENTS else ():
        assert CAMEL_CASE.fullmatch(key), key
        assert re.search(rf"^\| `(?:.*[.*])?{key}` \|", FIELDS, re.M) or key in ("apiVersion", "kind"), key
    assert f"{name}.schema.json" in DOCUMENT


def test_the_meaning_of_a_field_is_short() -> None:
    rows = re.findall(r"^\| `.*?` \| .* \| (.*) \|$", FIELDS, re.M)
    assert len(rows) > 500
    assert [row for row in rows if len(row.split()) > 40] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_of_what_people_write_is_made_of_what_reads_it(name: str) -> None:
    """`python -m manual.schemas` writes them."""
    assert (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8") == made(name)
