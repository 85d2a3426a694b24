"""The calculator for `reservedMemory` (docs/rules/kubelet-files.md 35, 37; memory-manager.md 2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.config.reserve import Part, accepted_section, isolated_cpus, memory_sum, split_cores
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.start.reservation import reserve
from numalign.model.cpuset import parse
from numalign.model.hardware import Hardware
from numalign.model.machine import Machine, NUMANode
from numalign.model.quantity import parse as quantity

MI, GI = 1 << 20, 1 << 30


def machine(*memory: int, pages: tuple[int, ...] = ()) -> Machine:
    """Nodes of two CPUs with so much memory, some of it huge pages."""
    nodes = tuple(
        NUMANode(number, 0b11 << 2 * number, size, {"2Mi": pages[number]} if pages else {})
        for number, size in enumerate(memory)
    )
    return Machine("m", nodes, cores=tuple(0b11 << 2 * number for number in range(len(memory))))


TWO = machine(8 * GI, 8 * GI)


def settings(memory: str | None = "1Gi", *given_: tuple[int, str], **more: Any) -> KubeletConfig:
    kube = {} if memory is None else {"memory": memory}
    sections = tuple(MemoryReservation(node, {"memory": text}) for node, text in given_)
    return KubeletConfig(kube_reserved=kube, reserved_memory=sections)._replace(**more)


NOTHING: dict[str, Any] = {"eviction_hard": {}}


def section(config: KubeletConfig, of: Machine = TWO) -> list[tuple[int, str]] | None:
    found = accepted_section(config, of, reserve(config, of, 0))
    return None if found is None else [(one.numa_node, one.limits["memory"]) for one in found]


SECTIONS = [
    ("an even split", settings(**NOTHING), TWO, [(0, "512Mi"), (1, "512Mi")]),
    ("with the threshold that holds by itself", settings(), TWO, [(0, "562Mi"), (1, "562Mi")]),
    (
        "an odd number of Mi: one more to the last node",
        settings("1025Mi", **NOTHING),
        TWO,
        [(0, "512Mi"), (1, "513Mi")],
    ),
    (
        "bytes: what is no whole Mi to the first node",
        settings("1073741825", **NOTHING),
        TWO,
        [(0, "536870913"), (1, "512Mi")],
    ),
    (
        "a node too small for its share gives what it has",
        settings(**NOTHING),
        machine(8 * GI, 100 * MI),
        [(0, "924Mi"), (1, "100Mi")],
    ),
    (
        "bytes to a node that has room for them",
        settings("1073741825", **NOTHING),
        machine(100 * MI, 8 * GI),
        [(0, "100Mi"), (1, str(924 * MI + 1))],
    ),
    ("the small one first", settings(**NOTHING), machine(100 * MI, 8 * GI), [(0, "100Mi"), (1, "924Mi")]),
    ("huge pages are not there for it", settings(**NOTHING), machine(GI, 8 * GI, pages=(GI, 0)), [(1, "1Gi")]),
    ("all that there is", settings("2Gi", **NOTHING), machine(GI, GI), [(0, "1Gi"), (1, "1Gi")]),
    ("more than there is", settings("2049Mi", **NOTHING), machine(GI, GI), None),
    ("nothing is kept back", settings(None, **NOTHING), TWO, None),
    ("no whole number of bytes", settings("1500m", **NOTHING), TWO, None),
    ("what is configured and adds up", settings("1Gi", (1, "1Gi"), **NOTHING), TWO, [(1, "1Gi")]),
    (
        "the last node makes up the difference",
        settings("1Gi", (1, "256Mi"), (0, "1Mi"), **NOTHING),
        TWO,
        [(0, "768Mi"), (1, "256Mi")],
    ),
    ("one byte is a share", settings("1Gi", (1, "1"), (0, "1Mi"), **NOTHING), TWO, [(0, "1073741823"), (1, "1")]),
    (
        "too much before it: an even split",
        settings("1Gi", (1, "2Gi"), (0, "1Mi"), **NOTHING),
        TWO,
        [(0, "512Mi"), (1, "512Mi")],
    ),
    ("a node that is not there", settings("1Gi", (7, "1Gi"), **NOTHING), TWO, [(0, "512Mi"), (1, "512Mi")]),
    (
        "of a node that is there twice the first counts",
        settings("1Gi", (0, "256Mi"), (1, "1Mi"), (0, "9Gi"), **NOTHING),
        TWO,
        [(0, "256Mi"), (1, "768Mi")],
    ),
    (
        "a node without room is passed over",
        settings("1Gi", (0, "256Mi"), (1, "1Mi"), (2, "1Mi"), **NOTHING),
        machine(8 * GI, GI, 8 * GI, pages=(0, GI, 0)),
        [(0, "256Mi"), (2, "768Mi")],
    ),
    (
        "more than the last node has",
        settings("3Gi", (0, "1Mi"), (1, "1Mi"), **NOTHING),
        machine(8 * GI, GI),
        [(0, "2Gi"), (1, "1Gi")],
    ),
]


@pytest.mark.parametrize(("config", "of", "found"), [row[1:] for row in SECTIONS], ids=[row[0] for row in SECTIONS])
def test_a_section_that_would_be_accepted(
    config: KubeletConfig, of: Machine, found: list[tuple[int, str]] | None
) -> None:
    assert section(config, of) == found


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=4), st.integers(1, 5000))
def test_what_is_split_adds_up_and_fits(sizes: list[int], wanted: int) -> None:
    of = machine(*(size * MI for size in sizes))
    found = section(settings(f"{wanted}Mi", **NOTHING), of)

    assert (found is None) == (wanted > sum(sizes))
    shares = {node: (quantity(text).int64 or 0) // MI for node, text in found or ()}
    assert sum(shares.values()) == (wanted if found else 0)
    assert all(0 < share <= sizes[node] for node, share in shares.items())


def test_both_sides_of_the_sum() -> None:
    config = settings("1Gi", (0, "100Mi"), (1, "x"), system_reserved={"memory": "1500m", "cpu": "1"})
    found = memory_sum(config, TWO, reserve(config, TWO, 0))

    assert found.wanted == (
        Part("systemReserved.memory", "1500m", 2),
        Part("kubeReserved.memory", "1Gi", GI),
        Part("evictionHard[memory.available], default", "100Mi", 100 * MI),
    )
    assert found.given == (
        Part("reservedMemory[0], NUMA node 0", "100Mi", 100 * MI),
        Part("reservedMemory[1], NUMA node 1", "x", 0),
    )
    assert (found.total_wanted, found.total_given) == (2 + GI + 100 * MI, 100 * MI)
    assert found.accepted is None, "it is no whole number of bytes"


def test_a_threshold_that_is_set() -> None:
    config = settings(None, eviction_hard={"memory.available": "10%"})
    [part] = memory_sum(config, TWO, reserve(config, TWO, 0)).wanted

    assert (part.source, part.text) == ("evictionHard[memory.available]", "10%")
    assert abs(16 * GI // 10 - part.bytes) < 1000
    none = settings(None, eviction_hard={"nodefs.available": "10%"})
    assert memory_sum(none, TWO, reserve(none, TWO, 0)).wanted == ()


def test_sections_of_other_kinds_are_not_in_the_sum() -> None:
    config = settings("1Gi", **NOTHING)._replace(reserved_memory=(MemoryReservation(0, {"hugepages-2Mi": "2Mi"}),))
    found = memory_sum(config, TWO, reserve(config, TWO, 0))
    assert (found.given, found.pages) == ((), (Part("reservedMemory[0], NUMA node 0, hugepages-2Mi", "2Mi", 2 * MI),))


def test_cores_that_a_reservation_splits_and_cpus_that_the_host_isolates() -> None:
    of = machine(GI, GI)
    assert split_cores(0, of) == 0
    assert split_cores(parse("0-1"), of) == 0
    assert split_cores(parse("0,3"), of) == parse("1-2")
    assert isolated_cpus(of) == 0
    assert isolated_cpus(of._replace(hardware=Hardware(isolated_cpus=0b10))) == 0b10
