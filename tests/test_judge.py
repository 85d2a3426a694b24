"""What numalign calls aligned an independent judge calls aligned, and the other way round: on every bundled machine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import numalign
from numalign.model.apiserver.defaulting import read_pod
from numalign.sources.machine import bundled
from tests.cli.running import in_process
from tests.judge import Judge

GI = 1 << 30
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
SCOPES = ("container", "pod")
FAULTS = {"CPUs float", "a device is remote", "memory is remote", "memory does not fit", "wider than needed"}

Resources = dict[str, Any]
"""The `resources` of a container."""


def limits(**amounts: Any) -> Resources:
    return {"limits": {name: amounts[name] for name in amounts}}


def shapes(machine: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Resources, ...]]]:
    """Yield pods that a machine makes interesting: around the edges of its nodes, with each of its devices."""
    judge = Judge(machine)
    node = max(len(cpus) for cpus in judge.cpus.values())
    most = max(judge.room(numa, "memory") for numa in judge.cpus)
    for cpus in sorted({1, 2, node // 2, node, node + 1, 2 * node}):
        yield f"{cpus} CPUs", (limits(cpu=cpus, memory="1Gi"),)
    yield "memory of two nodes", (limits(cpu=1, memory=most + GI),)
    yield "a part of a CPU", (limits(cpu="500m", memory="1Gi"),)
    yield "two containers", (limits(cpu=node // 2 + 1, memory="1Gi"),) * 2
    yield "one container pinned, one not", (limits(cpu=2, memory="1Gi"), limits(cpu="500m", memory="1Gi"))
    counts = {resource: len(devices) for resource, devices in machine.get("devices", {}).items()}
    for resource, most_devices in counts.items():
        for number in sorted({1, 2, max(most_devices // 2, 1), most_devices}):
            for cpus in sorted({1, node, node + 1}):
                asked = limits(cpu=cpus, memory="1Gi", **{resource: min(number, most_devices)})
                yield f"{cpus} CPUs, {number} {resource}", (asked,)
        one = {resource: 1}
        yield f"burstable with {resource}", ({"limits": {**one, "cpu": 2}, "requests": {"cpu": 1}},)
        yield f"a part of a CPU, {resource}", (limits(cpu="500m", memory="1Gi", **one),)
        yield f"much memory, {resource}", (limits(cpu=2, memory=most + GI, **one),)
        yield (
            f"a container with {resource}, one without",
            (limits(cpu=2, memory="1Gi", **one), limits(cpu=2, memory=GI)),
        )
    if len(counts) > 1:
        yield "one of each device", (limits(cpu=2, memory="1Gi", **dict.fromkeys(counts, 1)),)
        yield (
            "half of all devices",
            (limits(cpu=node, memory="1Gi", **{name: -(-n // 2) for name, n in counts.items()}),),
        )
        yield "a container a device", tuple(limits(cpu=2, memory="1Gi", **{name: 1}) for name in counts)
    for size, amount in sorted({key: value for pages in judge.pages.values() for key, value in pages.items()}.items()):
        if amount:
            yield f"pages of {size}", (limits(cpu=2, memory="1Gi", **{f"hugepages-{size}": amount}),)
            yield f"pages of {size}, of two nodes", (limits(cpu=1, memory="1Gi", **{f"hugepages-{size}": 2 * amount}),)


def manifest(name: str, containers: tuple[Resources, ...]) -> dict[str, Any]:
    listed = [{"name": f"c{place}", "resources": resources} for place, resources in enumerate(containers)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": listed}}


def settings(machine: Mapping[str, Any], policy: str, scope: str, cpu: str, memory: str) -> dict[str, str]:
    flags = {"topology-manager-policy": policy, "topology-manager-scope": scope, "cpu-manager-policy": cpu}
    if len(machine["numaNodes"]) > 8:
        flags["topology-manager-policy-options"] = "max-allowable-numa-nodes=64"
    if memory == "Static":
        flags["memory-manager-policy"] = "Static"
        flags["kube-reserved"] = "memory=1Gi"
        flags["reserved-memory"] = f"{machine['numaNodes'][0]['id']}:memory=1Gi"
    return flags


def asked(resources: Resources, *, guaranteed: bool) -> dict[str, int]:
    """The bytes that a Guaranteed container asks for of each kind of memory."""
    if not guaranteed:
        return {}
    kinds = {name: value for name, value in resources["limits"].items() if name.startswith(("memory", "hugepages-"))}
    return {name: GI if value == "1Gi" else int(value) for name, value in kinds.items()}


def judged(judge: Judge, pod: Mapping[str, Any], shape: tuple[Resources, ...]) -> Iterator[tuple[bool, set[str]]]:
    """Yield for each container whether numalign calls it aligned, and what the judge says against that."""
    for container in pod["containers"]:
        needs = asked(shape[int(container["name"][1:])], guaranteed=pod["qos"] == "Guaranteed")
        yield container["aligned"] is True, judge.faults(container, needs)


@cache
def grid(name: str) -> list[tuple[str, bool, set[str]]]:
    """List (what was tried, what numalign says, what the judge says) over a machine's whole grid."""
    return list(_grid(name))


def _grid(name: str) -> Iterator[tuple[str, bool, set[str]]]:
    """Try a machine's whole grid.

    Every shape comes alone to an empty node, and after all shapes before it to one that fills up.
    """
    machine, there = in_process("machines", name, "-o", "json").json, numalign.load_machine(name)
    judge, listed = Judge(machine), list(shapes(machine))
    pods = [read_pod(manifest(f"p{place}", containers)) for place, (_, containers) in enumerate(listed)]
    for variant in product(POLICIES, SCOPES, ("static", "none"), ("None", "Static")):
        try:
            empty = numalign.Node.start(there, settings=settings(machine, *variant))
        except numalign.StartError:
            assert variant[0] != "none", "policy none starts everywhere"
            continue
        filling = empty
        for pod, (shape, containers) in zip(pods, listed, strict=True):
            alone = empty.admit(pod)[1]
            filling, after = filling.admit(pod)
            for where, found in (("alone", alone), ("after others", after)):
                for said, faults in judged(judge, found.to_json(), containers):
                    yield f"{shape} {where}: {', '.join(variant)}", said, faults


GRIDS = {"hgx-h100", "xeon-2s-snc2"}
"""Of these the grid is looked at twice."""
TOGETHER = pytest.mark.together("judge")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[TOGETHER] * (name in GRIDS)) for name in bundled.names()])
def test_an_independent_judge_agrees(name: str) -> None:
    said_true = found_true = tried = 0
    for what, said, faults in grid(name):
        assert not (said and faults), f"{what}: numalign flatters: {faults}"
        tried, said_true, found_true = tried + 1, said_true + said, found_true + (not faults)
    assert said_true >= found_true, "a search over all sets of nodes finds more that is aligned"
    assert tried > 100, "hardly anything was judged"
    assert said_true > 10, "hardly anything was aligned"


@TOGETHER
def test_the_grid_has_every_fault() -> None:
    found = Counter(fault for name in GRIDS for *_, faults in grid(name) for fault in faults)
    assert set(found) >= FAULTS, found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["hgx-h100", "xeon-2s-cxl", "gb200", "figure-1"])
def test_the_judge_reads_what_the_command_prints(name: str, policy: str, tmp_path: Path) -> None:
    machine = in_process("machines", name, "-o", "json").json
    judge, listed = Judge(machine), [containers for _, containers in shapes(machine)]
    pods = [manifest(f"p{place}", containers) for place, containers in enumerate(listed)]
    (tmp_path / "pods.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    flags = [f"--{key}={value}" for key, value in settings(machine, policy, "container", "static", "None").items()]

    answer = in_process("admit", tmp_path / "pods.json", "-m", name, *flags, "-o", "json").json

    found = [pair for pod, shape in zip(answer["pods"], listed, strict=True) for pair in judged(judge, pod, shape)]
    assert found
    assert [said for said, _ in found] == [not faults for _, faults in found]
