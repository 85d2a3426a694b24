"""KAI's score: the fewer zones the predicted placement uses, the better (docs/rules/scheduling.md K-9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final

from numalign.scheduler.kai.demands import asks_device
from numalign.scheduler.kai.evaluate import evaluate
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.request import PodRequest

WEIGHT: Final = 100
"""The weight of this score among KAI's."""


def is_scored(pod: PodRequest, machines: Mapping[str, KaiTopology | None]) -> bool:
    """Tell whether a pod takes part in scoring: it is Guaranteed, or asks for a device that some zone lists."""
    return pod.guaranteed or any(asks_device(pod, machine.aware) for machine in machines.values() if machine)


def score(pod: PodRequest, name: str, machines: Mapping[str, KaiTopology | None]) -> Fraction:
    """Score one machine.

    Args:
        pod: what the pod asks.
        name: the machine.
        machines: all machines of the cluster; None: no NRT.
    """
    return points(pod, machines[name], most_zones(machines.values())) if is_scored(pod, machines) else Fraction(0)


def most_zones(machines: Iterable[KaiTopology | None]) -> int:
    """Return the largest number of zones that a machine of the cluster has; 0: no machine has an NRT."""
    return max((len(machine.zones) for machine in machines if machine), default=0)


def points(pod: PodRequest, machine: KaiTopology | None, most: int) -> Fraction:
    """Score one machine for a pod that takes part in scoring.

    Args:
        pod: what the pod asks.
        machine: the machine; None: it has no NRT.
        most: the cluster's largest number of zones.
    """
    span = _span(pod, machine, most)
    return Fraction(WEIGHT, span) if span else Fraction(0)


def _span(pod: PodRequest, machine: KaiTopology | None, most: int) -> int:
    """Count the zones of the predicted placement; 0: none is possible. `most` is the cluster's largest zone count."""
    if machine is None:
        return most
    if machine.policy == "none":
        return len(machine.zones)
    answer = evaluate(pod, machine)
    return max(len(answer.placement), 1) if answer.admit else 0
