"""A session of KAI: what it believes of a node, and whom it evicts (docs/rules/scheduling.md K-8, K-11)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from numalign.model.quantity import NANO
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.kai.topology import Around, KaiOptions
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.copy import copy_of
from numalign.scheduler.record import Belief, KnownNode, PodEntry, Preemption
from numalign.scheduler.schedulers import kai
from tests.conformance.sched import amounts
from tests.scheduler.make import asking, object_of, zone

MINE, OTHER = "mine", "other"


def running(name: str, cpus: int, on: int, priority: int = 0, queue: str = MINE, preemptible: bool = True) -> PodEntry:
    """Make a pod with CPUs on one NUMA node."""
    placed = PlacedPod("Running", ((f"node-{on}", {"cpu": cpus * NANO}),))
    pod = asking(cpus, memory="1Gi", name=name)
    return pod._replace(priority=priority, queue=queue, preemptible=preemptible, placed=placed)


def evicted(pods: list[PodEntry], cpus: int, deserved: Mapping[str, int] | None = None) -> tuple[str, ...] | None:
    """Say who goes for a pod of priority 5: of its own queue, or of others where there is what queues deserve."""
    options = KaiOptions(deserved={queue: amounts({"cpu": str(fair)}) for queue, fair in (deserved or {}).items()})
    config, found = SchedulerConfig("kai", kai=options), object_of(*(zone(number, cpu="4") for number in range(2)))
    totals = NodeTotals(amounts({"cpu": "16", "memory": "64Gi", "pods": "10"}), {}, 0)
    for one in pods:
        totals = totals.with_pod(one.load)
    belief = kai.SCHEDULER.opened(config, Around(), copy_of(found), [one.placed for one in pods])
    node = KnownNode(ClusterNode("n", totals), belief, {one.key: one for one in pods})
    asked = asking(cpus)._replace(priority=5, queue=MINE)
    got: Preemption | None = kai.SCHEDULER.preempt(kai.SCHEDULER, config, [node], asked)
    return got and tuple([key.removeprefix("default/") for key in got.victims])


FIXED = running("fixed", 4, on=0, preemptible=False)
SMALLER = running("fixed", 3, on=0, preemptible=False)
GOES = [
    ("the least important goes", [running("low", 4, 0, 1), running("mid", 4, 1, 2)], 4, None, ("low",)),
    ("nobody of the same priority", [running("same", 4, 0, 5), FIXED], 4, None, None),
    ("nobody that may not be evicted", [FIXED, running("high", 4, 1, 6)], 4, None, None),
    ("nobody of another queue", [FIXED, running("theirs", 4, 1, queue=OTHER)], 4, None, None),
    ("who just fits where it was runs on", [FIXED, running("small", 1, 1), running("big", 3, 1, 1)], 3, None, ("big",)),
    (
        "the more important first",
        [FIXED, running("low", 2, 1), running("high", 2, 1, 1)],
        2,
        None,
        ("low",),
    ),
    (
        "one that comes back takes its room again",
        [SMALLER, running("low", 1, 1), running("mid", 1, 1, 1), running("high", 2, 1, 2)],
        3,
        None,
        ("low", "high"),
    ),
    (
        "of a queue that holds more than it deserves",
        [FIXED, running("theirs", 4, 1, 9, OTHER)],
        4,
        {OTHER: 3},
        ("theirs",),
    ),
    ("not of one that holds just that", [FIXED, running("theirs", 4, 1, 9, OTHER)], 4, {OTHER: 4}, None),
    ("nor of one that nothing is said of", [FIXED, running("theirs", 4, 1, 9, OTHER)], 4, {"third": 0}, None),
    (
        "as long as its own queue deserves it",
        [FIXED, running("theirs", 4, 1, 9, OTHER)],
        4,
        {OTHER: 3, MINE: 8},
        ("theirs",),
    ),
    ("and no longer", [FIXED, running("theirs", 4, 1, 9, OTHER)], 4, {OTHER: 3, MINE: 7}, None),
]


@pytest.mark.parametrize(
    ("pods", "cpus", "deserved", "victims"), [row[1:] for row in GOES], ids=[row[0] for row in GOES]
)
def test_who_goes(
    pods: list[PodEntry], cpus: int, deserved: Mapping[str, int] | None, victims: tuple[str, ...] | None
) -> None:
    assert evicted(pods, cpus, deserved) == victims


TWO = [zone(0, cpu="4", gpu="1"), zone(1, cpu="4")]
CONFIG = SchedulerConfig("kai")


def opened(policy: str = "single-numa-node", rebuilds: bool = True) -> Belief:
    """Believe what an object says of two NUMA nodes of 4 CPUs; no machine exposes devices."""
    around = Around(exposed=frozenset({"cpu"}), rebuilds=rebuilds)
    return kai.SCHEDULER.opened(CONFIG, around, copy_of(object_of(*TWO, policy=policy)), ())


def free(belief: Belief) -> list[int]:
    assert belief.ledger is not None
    assert belief.ledger.machine is not None
    return [one["cpu"] // NANO for one in belief.ledger.machine.available]


def test_only_what_machines_expose_is_looked_at() -> None:
    ledger = opened().ledger
    assert ledger is not None
    assert ledger.machine is not None
    assert ledger.machine.aware == {"cpu"}


def test_a_pod_is_charged_where_it_is_predicted_and_one_that_fits_nowhere_is_not() -> None:
    belief = opened()
    for cpus, left in ((3, [1, 4]), (5, [1, 4]), (2, [1, 2])):
        belief = kai.SCHEDULER.bound(CONFIG, belief, asking(cpus, name=f"p{cpus}"))
        assert free(belief) == left


OBSERVED = [
    ("where the pod really is", "single-numa-node", True, "node-1", [4, 1]),
    ("a zone that is not there", "single-numa-node", True, "node-7", [1, 4]),
    ("nothing is rebuilt", "single-numa-node", False, "node-1", [2, 2]),
    ("nothing is rebuilt under this policy", "none", True, "node-1", [2, 2]),
]


@pytest.mark.parametrize(
    ("policy", "rebuilds", "on", "left"), [row[1:] for row in OBSERVED], ids=[row[0] for row in OBSERVED]
)
def test_what_is_free_once_an_object_was_published(policy: str, rebuilds: bool, on: str, left: list[int]) -> None:
    """3 CPUs were predicted on node 0; of the object's own, 2 are free on each node."""
    belief = kai.SCHEDULER.bound(CONFIG, opened(policy, rebuilds), asking(3))
    new = copy_of(object_of(zone(0, cpu="2"), zone(1, cpu="2"), policy=policy))
    assert new is not None
    belief = kai.SCHEDULER.published(CONFIG, belief, new, lambda: {"default/pod": ((on, {"cpu": 3 * NANO}),)})
    assert belief.published == new
    assert free(belief) == left
