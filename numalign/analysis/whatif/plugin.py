"""A device plugin that names NUMA nodes which the machine does not have: what becomes of a pod once it names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.whatif.tries import beside
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Outcome
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.loose import Loose
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.situation import Situation


class Repair(NamedTuple):
    """Devices that count nowhere for what their plugins tell of them."""

    devices: tuple[tuple[str, tuple[int, ...]], ...]
    """(resource, ids that the plugin names and the machine does not have), one a resource."""
    admits: bool | None
    """The pod is admitted as it is if these plugins name no node; None: that cannot be tried."""
    kept_out: tuple[str, ...] = ()
    """Names of pods refused before that must not come first then."""


def repair(situation: Situation, outcome: Outcome, refusal: Refusal) -> Repair | None:
    """Try a refused pod with plugins that name no node for the devices in the way; None: that is not what it is about.

    A device of which no node is told may lie anywhere, one on a node that is not there lies nowhere
    (docs/rules/device-manager.md 3).
    """
    wrong: dict[str, Loose] = {}
    for each in filter(None, (refusal, refusal.empty)):
        rows = (*each.culprits, *each.also)
        wrong |= {row.resource: row.loose for row in rows if row.loose is not None and row.loose.misplaced}
    if not wrong:
        return None
    machine = situation.setup.machine
    devices = {
        name: tuple([one._replace(numa_nodes=None) for one in every]) if name in wrong else every
        for name, every in machine.devices.items()
    }
    other = situation._replace(setup=situation.setup._replace(machine=machine._replace(devices=devices)))
    told = tuple([(name, one.told) for name, one in wrong.items()])
    if situation.there is not None:
        return Repair(told, None)  # other devices would have all pods of a node in use come again
    try:
        found = beside(other.session(), outcome)
    except (StartError, CrashError):
        return Repair(told, None)
    kept_out = tuple([pod.name for pod in found[1]]) if found else ()
    return Repair(told, found is not None, kept_out)
