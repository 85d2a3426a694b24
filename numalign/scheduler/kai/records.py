"""KAI's records of where running pods are, and the free amounts rebuilt from them (docs/rules/scheduling.md K-8).

Within a scheduling session its ledger charges, gives back and takes back what pods have of a machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from numalign.model.apiserver import amount
from numalign.scheduler.kai.evaluate import ZoneAmounts, evaluate, filter_acts
from numalign.scheduler.kai.topology import Around, KaiTopology
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.request import PodRequest, add
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple

OBSERVED: Final = "kai.scheduler/numa-placement-observed"
PREDICTED: Final = "kai.scheduler/numa-placement-predicted"
ACTIVE: Final = frozenset({"Allocated", "Pipelined", "Binding", "Bound", "Running"})
"""The states in which a pod counts."""

Record = tuple[tuple[str, Amounts], ...]
"""(zone name, amounts) pairs."""


class PlacedPod(NamedTuple):
    """A pod on a machine, as KAI sees it."""

    status: str
    observed: Record | None = None
    bind_request: Record | None = None
    predicted: Record | None = None

    @property
    def record(self) -> Record | None:
        """The record that counts: observed, else the pending bind, else predicted. None, or empty: there is none."""
        return self.observed or self.bind_request or self.predicted


def read_record(text: str) -> Record | None:
    """Read an annotation; None: malformed or empty, so that the next source counts."""
    with suppress(ValueError, TypeError, RecursionError):
        return record_from(json.loads(text))
    return None


def record_from(entries: Iterable[object]) -> Record | None:
    """Read the zones of a record; None: it has none.

    Raises:
        TypeError: it has another shape.
        ValueError: an amount is no quantity.
    """
    return tuple([_entry(entry) for entry in entries]) or None


def _entry(entry: object) -> tuple[str, Amounts]:
    """Read one zone of a record.

    Raises:
        TypeError: it has another shape.
        ValueError: an amount is no quantity.
    """
    zone, amounts = (entry.get("zone"), entry.get("amount") or {}) if isinstance(entry, dict) else (None, None)
    if not isinstance(zone, str) or not isinstance(amounts, dict):
        raise TypeError(entry)
    return zone, {name: amount(text).nano for name, text in amounts.items()}


def of_annotations(annotations: Mapping[str, str], status: str, bind_request: Record | None = None) -> PlacedPod:
    """Read a pod's records out of its annotations."""
    return PlacedPod(
        status, read_record(annotations.get(OBSERVED, "")), bind_request, read_record(annotations.get(PREDICTED, ""))
    )


def zones_of(machine: KaiTopology, record: Record | None) -> ZoneAmounts | None:
    """Turn a record into zone numbers; None: there is none, or it names a zone that the machine has not."""
    if not record:
        return None
    numbers = {zone.name: number for number, zone in enumerate(machine.zones)}
    result: dict[int, dict[str, int]] = {}
    for name, amounts in record:
        if name not in numbers:
            return None
        add(result.setdefault(numbers[name], {}), amounts.items())
    return dict(sorted(result.items()))


def record_of(machine: KaiTopology | None, placement: ZoneAmounts) -> Record:
    """Write a placement with the zones' names; empty where the machine has no NRT."""
    return () if machine is None else tuple([(machine.zones[zone].name, part) for zone, part in placement.items()])


def taken(before: NodeResourceTopology | None, after: NodeResourceTopology | None) -> Record:
    """Say what went from each zone between two objects of one machine, as an exporter observes a pod that came."""
    if before is None or after is None:
        return ()
    left = {zone.name: zone.resources for zone in after.zones}
    record = []
    for zone in before.zones:
        now = left.get(zone.name, {})
        gone = {
            name: (one.available or 0) - (now[name].available or 0)
            for name, one in zone.resources.items()
            if name in now
        }
        if any(gone.values()):
            record.append((zone.name, {name: amount_ for name, amount_ in gone.items() if amount_}))
    return tuple(record)


def reconstruct(machine: KaiTopology, pods: Iterable[PlacedPod], *, on: bool = True) -> KaiTopology:
    """Rebuild the free amounts: allocatable less what the active pods hold (K-8).

    Args:
        machine: the machine as its NRT says.
        pods: the pods on it.
        on: the option `reconstructAvailable`; off: the NRT's own amounts count.
    """
    if not on or machine.policy == "none":
        return machine
    free: Sequence[Amounts] = [zone.allocatable for zone in machine.zones]
    for pod in pods:
        placement = zones_of(machine, pod.record) if pod.status in ACTIVE else None
        if placement:
            free = shifted(free, placement, -1)
    return machine.with_available(free)


def shifted(free: Sequence[Amounts], placement: ZoneAmounts, sign: int) -> tuple[Amounts, ...]:
    """Give back (sign 1) or take (sign -1) a placement; resources that a zone does not list are passed over."""
    result = []
    for number, amounts in enumerate(free):
        moved = placement.get(number, {})
        result.append({name: amount_ + sign * moved.get(name, 0) for name, amount_ in amounts.items()})
    return tuple(result)


def seed(
    pod: PodRequest, machine: KaiTopology | None, placed: PlacedPod, known: ZoneAmounts | None = None
) -> ZoneAmounts:
    """Return the placement that an eviction of a pod would give back (K-8); empty: nothing is credited.

    Args:
        pod: what the pod asks.
        machine: the machine it is on; None: it is on none, or the machine has no NRT.
        placed: its records.
        known: the placement of this session, which counts before any record.
    """
    if known:
        return known
    if not filter_acts(machine, pod):
        return {}
    return zones_of(machine, placed.record) or {}


class Ledger(NamedTuple):
    """A machine, and where the pods of this session are on it. To roll back is to go on with an earlier ledger."""

    machine: KaiTopology | None
    """None: it has no object; then nothing is charged."""
    placements: Mapping[str, ZoneAmounts] = {}
    """Pod -> what it takes from which zone."""
    around: Around = Around()

    def place(self, pod: str, request: PodRequest) -> Ledger | None:
        """Evaluate a pod against what is free now and charge it; None: it cannot be aligned.

        A pod that the filter does not handle is let in, and charged nothing (K-2).
        """
        if not filter_acts(self.machine, request):
            return self
        answer = evaluate(request, self.machine)
        return self.charge(pod, answer.placement) if answer.admit else None

    def charge(self, pod: str, placement: ZoneAmounts) -> Ledger:
        """Take a known placement."""
        return self._shifted(placement, -1)._replace(placements={**self.placements, pod: placement})

    def free(self, pod: str) -> Ledger:
        """Give back what a pod took; nothing where that is not known."""
        placement = self.placements.get(pod)
        if placement is None:
            return self
        rest = {name: other for name, other in self.placements.items() if name != pod}
        return self._shifted(placement, 1)._replace(placements=rest)

    def _shifted(self, placement: ZoneAmounts, sign: int) -> Ledger:
        if self.machine is None:
            return self
        return self._replace(machine=self.machine.with_available(shifted(self.machine.available, placement, sign)))
