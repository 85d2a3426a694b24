"""Scheduling on a cluster: what KAI's records and options change, and what a state keeps of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.model.pod import Pod
from numalign.scheduler.config import Kind
from numalign.scheduler.kai.records import PREDICTED
from numalign.scheduler.kai.topology import KaiOptions
from numalign.scheduler.node import Fleet
from numalign.scheduler.nrt.export import export
from numalign.scheduler.nrt.value import manifest
from numalign.sources.cluster import dump, state, state_dump
from numalign.sources.cluster.fleet import fleet_of
from numalign.tasks.schedule import schedule
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods

RECORD = json.dumps([{"zone": "node-1", "amount": {"cpu": "4", "memory": "1Gi"}}])


def pinned(name: str, cpus: int) -> Pod:
    return guaranteed(name, {"cpu": str(cpus), "memory": "1Gi"})


def cluster(tmp_path: Path, *, record: str | None, **attributes: str) -> Fleet:
    """One node of two NUMA nodes, 7 and 8 CPUs for pods; one pod holds 4 CPUs on node 0, KAI may say otherwise."""
    session = with_pods(static(regular(), topology_manager_policy="single-numa-node"), [pinned("there", 4)])
    nrt = export(session, "n")
    nrt = nrt._replace(attributes=tuple((dict(nrt.attributes) | attributes).items()))
    total = {"cpu": "15", "memory": "60Gi", "pods": "110"}
    limits = {"limits": {"cpu": "4", "memory": "1Gi"}}
    metadata: dict[str, Any] = {"name": "there", "annotations": {PREDICTED: record} if record else {}}
    pod = {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": "n", "containers": [{"name": "c0", "image": "x", "resources": limits}]},
        "status": {"phase": "Running"},
    }
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": total, "capacity": total}}
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": [node, manifest(nrt), pod]}))
    return fleet_of(dump.read_dump(file)).fleet


def with_kai(fleet: Fleet, **options: Any) -> Fleet:
    return fleet._replace(scheduler=fleet.scheduler._replace(kind="kai", kai=KaiOptions(**options)))


def answers(fleet: Fleet, *pods: Pod) -> list[tuple[bool, str]]:
    """Say of each pod whether KAI passes the node, and why the kubelet says otherwise."""
    result = schedule(fleet, pods).result
    return [
        (one.answers[0].verdicts["kai"].passed, one.answers[0].cause.code if one.answers[0].cause else "")
        for one in result.pods
    ]


@pytest.mark.parametrize(
    ("record", "options", "expected"),
    [
        (RECORD, {}, (False, "XK-6")),
        (RECORD, {"reconstruct": False}, (True, "")),
        (None, {}, (True, "")),
        (None, {"reconstruct": True}, (True, "")),
    ],
    ids=["a record that is not so", "records are not looked at", "no record", "no record, and yet rebuilt"],
)
def test_kai_believes_its_records(tmp_path: Path, record: str | None, options: Any, expected: Any) -> None:
    assert answers(with_kai(cluster(tmp_path, record=record), **options), pinned("p", 8)) == [expected]


def test_without_any_record_a_rebuilt_node_looks_empty(tmp_path: Path) -> None:
    """The pod on it has no record, so 7 CPUs seem free on node 0, where 3 are; after p 3 are left on node 1, too."""
    fleet = with_kai(cluster(tmp_path, record=None), reconstruct=True)
    assert answers(fleet, pinned("p", 5), pinned("q", 5)) == [(True, ""), (True, "XK-6")]


def test_a_pod_that_kai_binds_is_recorded_where_its_kubelet_puts_it(tmp_path: Path) -> None:
    fleet = with_kai(cluster(tmp_path, record=json.dumps([{"zone": "node-0", "amount": {"cpu": "4"}}])))
    done = schedule(fleet, [pinned("p", 3), pinned("q", 3)])
    observed = [placed.observed for placed in done.fleet.nodes[0].placed[1:]]
    assert [[zone for zone, _ in record or ()] for record in observed] == [["node-0"], ["node-1"]]
    assert [record[0][1]["cpu"] for record in observed if record] == [3 * 10**9] * 2
    again = state.read_cluster_state(json.loads(json.dumps(state_dump.document(done.fleet))), "state.json").fleet
    assert again.nodes[0].placed == done.fleet.nodes[0].placed
    assert again.scheduler == done.fleet.scheduler


def test_a_resource_on_the_ignore_list_is_not_looked_at(tmp_path: Path) -> None:
    """XK-3: memory is listed although its manager is off; `ignoreList` is KAI's way out."""
    fleet = cluster(tmp_path, record=None, memoryManagerPolicy="None")
    much = guaranteed("p", {"cpu": "1", "memory": "40Gi"})
    assert answers(with_kai(fleet), much) == [(False, "XK-3")]
    assert answers(with_kai(fleet, ignored=("memory",)), much) == [(True, "")]


def test_a_state_keeps_how_full_nodes_are_of_which_nothing_is_known(tmp_path: Path) -> None:
    fleet = cluster(tmp_path, record=None)
    unknown = Fleet((fleet.nodes[0]._replace(session=None, nrt=None, known="nothing"),))
    again = state.read_cluster_state(json.loads(json.dumps(state_dump.document(unknown))), "state.json").fleet
    assert again.nodes[0].totals == unknown.nodes[0].totals


@pytest.mark.parametrize(
    ("kind", "victims"),
    [("unaware", ("default/low",)), ("nrt", ()), ("kai", ("default/low",))],
    ids=["a bag has room then", "the plugin sees what is free now", "KAI credits what an exporter would observe"],
)
def test_whom_a_scheduler_would_evict(tmp_path: Path, kind: Kind, victims: tuple[str, ...]) -> None:
    """7 and 8 CPUs, of which `there` holds 4, `mid` 3 and `low` 8: no room for 8 of `high`."""
    ranks = {"mid": 5, "low": 1, "high": 9}

    def ranked(name: str, cpus: int) -> Pod:
        return pinned(name, cpus)._replace(spec={"priority": ranks[name]})

    fleet = cluster(tmp_path, record=None)
    full = schedule(fleet, [ranked("low", 8), ranked("mid", 3)]).fleet
    (high,) = schedule(full, [ranked("high", 8)], fleet.scheduler._replace(kind=kind)).result.pods

    assert high.node is None
    assert (high.preemption is not None) == bool(victims)
    assert high.preemption is None or (high.preemption.node == "n" and set(victims) <= set(high.preemption.victims))
