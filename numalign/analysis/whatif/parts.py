"""A change taken apart: its settings, its requests, its pods; and what refuses a pod with some of them."""

from __future__ import annotations

from numalign.analysis.refusal import Refusal, taken_apart
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.settings import CPU_POLICY_OPTIONS, GATES, TOPOLOGY_POLICY_OPTIONS
from numalign.kubelet.admission import Outcome


def parts_of(change: WayOut) -> list[WayOut]:
    """Take a change apart: the machine, each setting, each request, the pods."""
    nothing = WayOut(change.kind, change.cost, change.aligned, cores=change.cores, own_cpus=change.own_cpus)
    found = []
    if change.machine or change.hardware:
        found.append(
            nothing._replace(kind="machine", machine=change.machine, hardware=change.hardware, example=change.example)
        )
    # A feature gate is there for the option beside it.
    gates = {flag: text for flag, text in change.flags.items() if flag == GATES}
    for flag, text in change.flags.items():
        if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
            found.append(nothing._replace(kind="setting", flags={flag: text, **gates}))
            gates = {}
        elif flag != GATES:
            found.append(nothing._replace(kind="setting", flags={flag: text}))
    found += [
        nothing._replace(
            kind="request",
            amounts={key: nano},
            asked={key: change.asked[key]},
            or_else={one: less for one, less in change.or_else.items() if one == key},
            or_in={one: others for one, others in change.or_in.items() if one == key},
        )
        for key, nano in change.amounts.items()
    ]
    if change.pods:
        found.append(nothing._replace(kind="pods", pods=change.pods, fewest=change.fewest, or_pods=change.or_pods))
    return found


def without_part(change: WayOut, part: WayOut) -> WayOut:
    """Return a change without one of its parts."""
    return change._replace(
        flags={flag: text for flag, text in change.flags.items() if flag not in part.flags},
        amounts={key: nano for key, nano in change.amounts.items() if key not in part.amounts},
        asked={key: nano for key, nano in change.asked.items() if key not in part.amounts},
        pods=() if part.pods else change.pods,
    )


def refused_with(tried: Outcome, change: WayOut, part: WayOut) -> Refusal:
    """Take a refusal apart; it knows of which resources a change asks for less, but for the part that it is about."""
    found = taken_apart(tried)
    at = found.matrix.container if found.matrix else found.container
    reduced = frozenset(
        resource
        for (container, resource), nano in change.amounts.items()
        if at in (None, container) and nano < change.asked[container, resource]
    )
    around = found.around._replace(reduced=reduced - {name for _, name in part.amounts})
    elsewhere = change.pods or (change.flags and tried.before.pods)
    return found._replace(around=around._replace(when="then") if elsewhere else around)
