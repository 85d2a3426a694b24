"""Why a scheduler and the kubelet disagree about a pod on a node (docs/rules/scheduling.md 1.5, 10).

What no scheduler passes over and no kubelet asks, a device that the node lacks or its taints, comes first. Each other
known cause is taken back alone: if both then agree, it is the cause. The first one in the order of the rules wins.
The causes are told by `nrt.causes` and `kai.causes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from numalign.scheduler import node_filters
from numalign.scheduler.attempt import Kind
from numalign.scheduler.disagreement import Case, TakenBack
from numalign.scheduler.kai.causes import CAUSES as OF_KAI
from numalign.scheduler.node import lacking
from numalign.scheduler.nrt.causes import causes, knows_better, shared_pool
from numalign.values import NamedTuple


class Cause(NamedTuple):
    """Why two answers differ."""

    code: str
    """`X-1` … `X-9`, `XK-1` … `XK-8`, `T-14`, `KEP` (today's plugin knows better), `blind`, `device-missing`, `taints`
    or `unknown`."""
    text: str
    """One clause."""


UNKNOWN: Final = Cause("unknown", "no known cause makes the two agree")
_TEXTS: Final = {
    "device-missing": (
        "the node lacks a device, so that no scheduler sends the pod there until its plugin runs; the kubelet "
        "does not look"
    ),
    "taints": "kube-scheduler keeps the pod away by the node's taints or name, which the kubelet does not look at",
    "blind": "the scheduler sees the node as one bag of resources",
    "X-1": "the published object is old",
    "X-2": "the kubelet does not pin fractional CPUs, the filter still looks for a zone that has them",
    "X-3": "pods in the shared pool are not in the object: only the node as a whole is short",
    "X-4": "the filter puts containers into other zones than the kubelet",
    "X-5": "the filter does not count sidecars beside the other containers",
    "X-6": "the filter never looks at nodes with this policy",
    "X-7": "options of the CPU Manager, or reserved CPUs, leave less than the object counts",
    "X-8": "the filter adds the pod's overhead, the kubelet's hints do not",
    "X-9": "somebody else placed pods there, and the plugin's cache waits for an object that counts them",
    "T-14": "no zone lists what the pod asks, so the filter finds none; without its manager the kubelet does not look",
    "KEP": "the proposal compares no memory and subtracts nothing; today's plugin agrees with the kubelet",
    "XK-1": "KAI takes the width from what is allocatable, the kubelet from all CPUs, reserved ones too",
    "XK-2": "NUMA nodes that the Memory Manager uses as a group take no other blocks",
    "XK-3": "the object lists a resource whose manager is off",
    "XK-4": "options of the CPU or Topology Manager that KAI does not know",
    "XK-5": "a device of several NUMA nodes is counted on each of them",
    "XK-6": "KAI's records have pods in other zones, or with other amounts, than the kubelet gave them",
    "XK-7": "the kubelet takes init containers in order and reuses what they held",
    "XK-8": "KAI adds the pod's overhead in scope pod",
}


def text_of(code: str) -> str:
    """Say a cause in words."""
    return _TEXTS.get(code, UNKNOWN.text)


def cause(kind: Kind, case: Case) -> Cause:
    """Find the first known cause."""
    for code, taken_back in (*_OF_ALL, *_CAUSES[kind]):
        if taken_back(case):
            return Cause(code, _TEXTS[code])
    return UNKNOWN


def _passed_over(case: Case) -> bool:
    """Tell whether the kubelet passes over a device that its node lacks; kube-scheduler's own filters never do."""
    return not case.passes and case.admits and bool(lacking(case.node, (case.pod,)))


def _kept_away(case: Case) -> bool:
    """Tell whether kube-scheduler keeps the pod away, whatever room there is, and the kubelet would take it."""
    return not case.passes and case.admits and not node_filters.allows(case.node, case.pod).passed


_OF_ALL: Final[Sequence[tuple[str, TakenBack]]] = (("device-missing", _passed_over), ("taints", _kept_away))


def _always(_: Case) -> bool:
    return True


_CAUSES: Final[dict[Kind, Sequence[tuple[str, TakenBack]]]] = {
    "unaware": [("X-3", shared_pool), ("blind", _always)],
    "kep": [("KEP", knows_better), *causes("kep")],
    "nrt": causes("nrt"),
    "kai": OF_KAI,
}
