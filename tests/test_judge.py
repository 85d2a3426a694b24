"""What numalign calls aligned an independent judge calls aligned, and the other way round: on every bundled machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest

import numalign
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.sources.machine import bundled
from tests.cli.running import in_process
from tests.judge import Judge

GI = 1 << 30
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")

Shape = tuple[dict[str, Any], dict[str, Any]]
"""Limits and requests of one container."""


def shapes(machine: Mapping[str, Any]) -> Iterator[tuple[str, Shape]]:
    """Yield pods that a machine makes interesting: around the edges of its nodes, with each of its devices."""
    judge = Judge(machine)
    node = max(len(cpus) for cpus in judge.cpus.values())
    most = max(judge.room(numa, "memory") for numa in judge.cpus)
    for cpus in sorted({1, 2, node // 2, node, node + 1, 2 * node}):
        yield f"{cpus} CPUs", ({"cpu": cpus, "memory": "1Gi"}, {})
    yield "memory of two nodes", ({"cpu": 1, "memory": most + GI}, {})
    yield "a part of a CPU", ({"cpu": "500m", "memory": "1Gi"}, {})
    for resource, devices in machine.get("devices", {}).items():
        for number in sorted({1, 2, max(len(devices) // 2, 1), len(devices)}):
            for cpus in sorted({1, node, node + 1}):
                limits = {"cpu": cpus, "memory": "1Gi", resource: min(number, len(devices))}
                yield f"{cpus} CPUs, {number} {resource}", (limits, {})
        yield f"burstable with {resource}", ({resource: 1, "cpu": 2}, {"cpu": 1})
        yield f"a part of a CPU, {resource}", ({"cpu": "500m", "memory": "1Gi", resource: 1}, {})
        yield f"much memory, {resource}", ({"cpu": 2, "memory": most + GI, resource: 1}, {})
    for size, amount in sorted({key: value for pages in judge.pages.values() for key, value in pages.items()}.items()):
        if amount:
            yield f"pages of {size}", ({"cpu": 2, "memory": "1Gi", f"hugepages-{size}": amount}, {})


def pod_of(limits: dict[str, Any], requests: dict[str, Any]) -> Pod:
    resources = {"limits": limits, "requests": requests}
    return read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": resources}]}})


def settings(machine: Mapping[str, Any], policy: str, cpu: str, memory: str) -> dict[str, str]:
    flags = {"topology-manager-policy": policy, "cpu-manager-policy": cpu}
    if len(machine["numaNodes"]) > 8:
        flags["topology-manager-policy-options"] = "max-allowable-numa-nodes=64"
    if memory == "Static":
        flags["memory-manager-policy"] = "Static"
        flags["kube-reserved"] = "memory=1Gi"
        flags["reserved-memory"] = f"{machine['numaNodes'][0]['id']}:memory=1Gi"
    return flags


def asked(limits: Mapping[str, Any], *, guaranteed: bool) -> dict[str, int]:
    """The bytes that a Guaranteed container asks for of each kind of memory."""
    if not guaranteed:
        return {}
    kinds = {name: value for name, value in limits.items() if name == "memory" or name.startswith("hugepages-")}
    return {name: GI if value == "1Gi" else int(value) for name, value in kinds.items()}


@pytest.mark.parametrize("name", bundled.names())
def test_an_independent_judge_agrees(name: str) -> None:
    machine, there = in_process("machines", name, "-o", "json").json, numalign.load_machine(name)
    judge, listed = Judge(machine), list(shapes(machine))
    judged = true = 0
    for policy, cpu, memory in product(POLICIES, ("static", "none"), ("None", "Static")):
        try:
            node = numalign.Node.start(there, settings=settings(machine, policy, cpu, memory))
        except numalign.StartError:
            assert policy != "none", "policy none starts everywhere"
            continue
        for shape, (limits, requests) in listed:
            pod = node.admit(pod_of(limits, requests))[1].to_json()
            for container in pod["containers"]:
                needs = asked(limits, guaranteed=pod["qos"] == "Guaranteed")
                said = container["aligned"] is True
                assert said == judge.aligned(container, needs), (shape, policy, cpu, memory, container)
                judged, true = judged + 1, true + said
    assert judged > 50, "nothing was judged"
    assert true > 5, "nothing was aligned"
