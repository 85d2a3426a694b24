"""Suggested changes hold: applied to the recorded scenario itself, `replay` admits the pod.

Every tenth line of the recorded end-to-end scenarios, in file order. Changes are written into the scenario as a person
would write them (a step before, other amounts in the manifest, other fields of the KubeletConfiguration), so that
nothing of the search is trusted.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.refusal import refusal
from numalign.analysis.whatif.changes import Change, changes
from numalign.analysis.whatif.situation import Event, Situation
from numalign.errors import StartError
from numalign.kubelet.admission import admit
from numalign.kubelet.demand import NANO
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity, canonical
from numalign.render.json.replay import replay_json
from numalign.sources.recorded import scenario
from numalign.tasks.replay import replay

VECTORS = Path(__file__).parents[2] / "vectors" / "e2e.jsonl.gz"
SHARES = 10
"""The scenarios are split among so many tests."""

FIELDS = {
    "topology-manager-policy": "topologyManagerPolicy",
    "topology-manager-scope": "topologyManagerScope",
    "topology-manager-policy-options": "topologyManagerPolicyOptions",
    "cpu-manager-policy-options": "cpuManagerPolicyOptions",
    "memory-manager-policy": "memoryManagerPolicy",
    "feature-gates": "featureGates",
}


def every_tenth(share: int) -> Iterator[dict[str, Any]]:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        for line in islice(lines, 10 * share, None, 10 * SHARES):
            yield json.loads(line)


def played(data: dict[str, Any]) -> dict[str, Any]:
    one = scenario.read(json.dumps(data).encode())
    return replay_json(replay(Setup(one.machine, one.config, "kubelet"), one.steps))


def with_change(data: dict[str, Any], index: int, change: Change) -> tuple[dict[str, Any], int]:
    """Write a change into a scenario; returns it and where the pod now comes up."""
    data = copy.deepcopy(data)
    del data["steps"][index + 1 :]
    if change.pods:
        data["steps"][index:index] = [{"op": "remove", "pod": pod.name} for pod in change.pods]
    for flag, text in change.flags.items():
        value: Any = text
        if "=" in text:
            value = dict(pair.split("=") for pair in text.split(","))
        if flag == "feature-gates":
            value = {name: on == "true" for name, on in value.items()}
        data["kubelet"][FIELDS[flag]] = value
    spec = data["steps"][-1]["pod"]["spec"]
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        write_amounts(container.get("resources") or {}, container["name"], change)
    return data, len(data["steps"]) - 1


def write_amounts(resources: dict[str, Any], container: str, change: Change) -> None:
    limits = resources.setdefault("limits", {})
    requests = resources.get("requests")
    for (name, resource), nano in change.amounts.items():
        if name != container:
            continue
        text = canonical(Quantity(nano, "DecimalSI", nano // NANO))
        if resource in limits and (requests is None or requests.get(resource, limits[resource]) == limits[resource]):
            limits[resource] = text
        if requests is not None and resource in requests:
            requests[resource] = text


@pytest.mark.parametrize("share", range(SHARES))
def test_each_change_is_admitted_by_replay_and_never_means_an_empty_machine_refuses(share: int) -> None:
    for data in every_tenth(share):
        one = scenario.read(json.dumps(data).encode())
        start = Situation(Setup(one.machine, one.config, "kubelet"), fit_check=False)
        try:
            start.session()
        except StartError:
            continue
        pods: dict[str, Pod] = {}
        past: tuple[Event, ...] = ()
        for index, step in enumerate(one.steps):
            if step.pod is None:
                if step.name in pods:
                    past = (*past, Event("end" if step.op == "remove" else "start", pods[step.name]))
                continue
            pods[step.name] = step.pod
            situation = start._replace(past=past)
            past = (*past, Event("admit", step.pod))
            outcome = admit(situation.session(), step.pod)
            if outcome.stage in ("panic", "hang"):
                break
            if outcome.admit:
                continue
            judged = refusal(outcome)
            alone = played({**data, "steps": [data["steps"][index]]})["steps"][0]
            assert judged.never == (not alone["admit"]), (data["id"], index)
            for change in changes(situation, outcome):
                assert judged.never is False or change.kind != "pods"
                changed, place = with_change(data, index, change)
                answer = played(changed)
                assert answer["steps"][place]["admit"], (data["id"], index, change)
