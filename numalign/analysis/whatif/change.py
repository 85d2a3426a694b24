"""One change after which a refused pod is admitted, whatever it consists of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.analysis.in_the_way import Amount
from numalign.analysis.refusal import Refusal, taken_apart
from numalign.analysis.settings import (
    CPU_POLICY_OPTIONS,
    GATES,
    MEMORY_POLICY,
    POLICY,
    SCOPE,
    TOPOLOGY_POLICY_OPTIONS,
    place_of,
)
from numalign.analysis.whatif.past import Anew, Held
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome
from numalign.kubelet.fit.check import Shortage
from numalign.model.pod import Pod
from numalign.model.resources import is_device, is_memory
from numalign.values import NamedTuple

ChangeKind = Literal["machine", "pods", "request", "setting", "combination"]

Key = tuple[str, str]
"""(container, resource)."""

Hardware = tuple[tuple[str, str], ...]
"""(flag, text) pairs that change the machine: `device`, `nvidia.com/gpu@0=2`; `hugepages`, `1Gi@0=4294967296`."""


MANY_PARTS = 5
"""A change of so many parts is a long one."""

CUT_COST = 6.0
"""What it costs to lose all of one request, beside the 1 that it costs to write another one."""
DEVICE_WEIGHT = 1.5
"""How much worse it is to lose a device than the same share of CPUs or memory."""
NOT_ALIGNED = 4.0
"""What it costs to be admitted without being aligned: about half a request."""
KEEPING_OUT = 1.0
"""What it costs beside a setting to keep other pods away."""
MORE_HARDWARE = 40.0
"""What it costs to put something into the machine: more than any cut."""
FOREIGN_MACHINE = 50.0
"""What it costs to need a machine that nobody asked about."""


class WayOut(NamedTuple):
    """One change after which the pod is admitted: a set of edits. Pods go, amounts are others, flags or a machine."""

    aligned: bool | None = None
    """Whether the pod would then be aligned; None: it has nothing to align."""
    pods: tuple[Pod, ...] = ()
    """Pods to move away."""
    fewest: bool = False
    """No smaller set of pods would do."""
    or_pods: tuple[Pod, ...] = ()
    """Of one pod to move: others each of which would do as well instead."""
    amounts: Mapping[Key, int] = {}
    """What to ask for instead, in billionths; 0: leave the resource out."""
    asked: Mapping[Key, int] = {}
    """What the manifest asks for, of the same and of all in `together`."""
    or_else: Mapping[Key, int] = {}
    """Of what grows to a number that can be handed out at all: the next such number below, which would do as well."""
    or_in: Mapping[Key, tuple[tuple[str, int], ...]] = {}
    """Of what is left out in one container: the others that may do without it instead, each with what that one may ask
    for then, in billionths."""
    together: tuple[tuple[Key, ...], ...] = ()
    """Keys of `asked` of one resource of which only the sum counts: another split of it does as well."""
    flags: Mapping[str, str] = {}
    """Settings of the kubelet: flag -> value."""
    machine: str = ""
    """The machine as given."""
    hardware: Hardware = ()
    """What the machine would have to have."""
    example: bool = False
    """Nobody asked about this machine: it is one of those that would do."""
    tried: Outcome | None = None
    """The pod, admitted after the change."""
    parts: tuple[Part, ...] = ()
    """What it consists of, and why each part is needed; empty: it was not asked."""

    anew: Anew | None = None
    """Of a change of settings: how the pods before fare under them; None: the settings stay."""

    needs_newcomers: bool = False
    """Of a change of settings: the pod is admitted only if pods refused before are admitted first then."""

    alone: Outcome | None = None
    """Of a change of settings that leaves the pod apart: it is aligned if it is started before the pods refused so far
    that would come first; how it is admitted then."""

    if_they_end: tuple[str, ...] = ()
    """The names of these pods, if it is aligned, too, where they come first and end before it."""

    kept_out: tuple[Pod, ...] = ()
    """Of a change of settings: pods refused before that would be admitted first then; only without them is it."""

    too_strict: Mapping[str, Refusal] = {}
    """Of a change of the policy: each one between the one that is set and that one -> how it refuses the pod still."""

    cores: int = 1
    """CPUs are given out in multiples of so many."""
    own_cpus: bool = True
    """The pod may have CPUs of its own, if the CPU Manager gives any."""

    @property
    def edits(self) -> int:
        """Count of how many edits it consists; a feature gate is there for the option beside it."""
        machine = bool(self.machine or self.hardware)
        return machine + len(self.flags.keys() - {GATES}) + len(self.amounts) + bool(self.pods)

    @property
    def kind(self) -> ChangeKind:
        """Say what it consists of."""
        if self.machine or self.hardware:
            return "machine"
        if self.edits > 1:
            return "combination"
        return "pods" if self.pods else "request" if self.amounts else "setting"

    @property
    def cost(self) -> float:
        """Say how far it is from what is there: the one order by which edits are left out for others."""
        machine = FOREIGN_MACHINE * self.example + MORE_HARDWARE * bool(self.hardware)
        settings = sum(map(cost_of_setting, self.flags.items())) + KEEPING_OUT * bool(self.kept_out)
        requests = cost_of_requests(self.asked, self.amounts)
        more = max(self.edits - 1, 0)  # several are harder to make than one
        return machine + settings + requests + len(self.pods) + more + NOT_ALIGNED * (self.aligned is False)

    def ask(self, key: Key) -> int:
        """Give what a (container, resource) asks for after the change, in billionths; of `together` some stay."""
        return self.amounts.get(key, self.asked[key])

    @property
    def outcome(self) -> Outcome:
        """Give the admission it was tried by, of a change that was."""
        assert self.tried is not None  # noqa: S101 (nothing is told that was not tried)
        return self.tried

    @property
    def gone(self) -> tuple[Pod, ...]:
        """List the pods that are not there with it: those to move away, and those that must not come first."""
        return (*self.pods, *self.kept_out)

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """List what is to be known of the admission it was tried by, but for what the machine does not say."""
        return tuple([one for one in self.outcome.notices if one.code != "fit"])

    @property
    def cuts(self) -> list[Key]:
        """List the requests that it cuts."""
        return [key for key, nano in self.amounts.items() if nano < self.asked[key]]

    @property
    def keeps_devices(self) -> bool:
        """Tell whether the pod still gets every device it asks for."""
        return not any(is_device(name) for _, name in self.cuts)

    @property
    def keeps_memory(self) -> bool:
        """Tell whether the pod still gets all memory it asks for."""
        return not any(is_memory(name) for _, name in self.cuts)

    @property
    def leaves_out(self) -> bool:
        """Tell whether a container gets nothing at all of a resource that it asks for."""
        return not all(self.amounts.values())

    @property
    def length(self) -> int:
        """Count of how much it consists; containers that are to ask for the same of a resource count once."""
        shared = {key for keys in self.together for key in keys}
        alone = {(key[1], nano, self.asked[key]) for key, nano in self.amounts.items() if key not in shared}
        settings = len(self.flags.keys() - {GATES})  # a feature gate is there for the option beside it
        return settings + bool(self.pods) + len(self.together) + len(alone)

    @property
    def long(self) -> bool:
        """Tell whether it consists of very much: another machine is better."""
        return self.length >= MANY_PARTS


class Part(NamedTuple):
    """One part of a change: one request, one setting, the pods to move, or what the machine would have to have."""

    change: WayOut
    """This part alone."""
    otherwise: Refusal | None
    """How the pod is refused with all the other parts; of a cut request, with the next larger amount."""
    larger: int = 0
    """The next larger amount, in billionths, where `otherwise` is about that; 0: it is not."""
    held: tuple[Held, ...] = ()
    """What each of the pods to move holds."""
    short: tuple[Shortage, ...] = ()
    """Of pods to move: what the node as a whole has too little of as long as they all stay, but for devices."""
    staying: tuple[Refusal | None, ...] = ()
    """Of few pods to move, for each of them how the pod is refused if that one alone stays; None: no CPU is left to
    share then."""
    unshared: bool = False
    """With the next larger amount, or without the part, the pod is admitted, but no CPU is left to share."""
    apart: bool = False
    """Without the part the pod is admitted, and not aligned."""
    whole: Amount | None = None
    """Of CPUs cut to a share of one: the CPUs of the node as a whole, against which that alone counts."""


def cost_of_setting(setting: tuple[str, str]) -> float:
    """Say what a flag with its value costs; a feature gate is nothing beside its option."""
    flag, text = setting
    if flag == POLICY:
        return 4 + place_of(text)
    return {SCOPE: 3, MEMORY_POLICY: 4, GATES: 0}.get(flag, 3.5)


def cost_of_requests(asked: Mapping[Key, int], amounts: Mapping[Key, int]) -> float:
    """Say what it costs to write other amounts, and to lose by them; what grows loses nothing that counts much."""
    return sum(
        1 + (CUT_COST * lost(key, nano, asked[key]) if nano < asked[key] else 1 - asked[key] / nano)
        for key, nano in amounts.items()
    )


def lost(key: Key, nano: int, asked: int) -> float:
    """Say how much a cut loses, of a device more."""
    return (DEVICE_WEIGHT if is_device(key[1]) else 1.0) * (1 - nano / asked)


def parts_of(change: WayOut) -> list[WayOut]:
    """Take a change apart: the machine, each setting, each request, the pods."""
    nothing = WayOut(change.aligned, cores=change.cores, own_cpus=change.own_cpus)
    found = []
    if change.machine or change.hardware:
        found.append(nothing._replace(machine=change.machine, hardware=change.hardware, example=change.example))
    # A feature gate is there for the option beside it.
    gates = {flag: text for flag, text in change.flags.items() if flag == GATES}
    for flag, text in change.flags.items():
        if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
            found.append(nothing._replace(flags={flag: text, **gates}))
            gates = {}
        elif flag != GATES:
            found.append(nothing._replace(flags={flag: text}))
    found += [
        nothing._replace(
            amounts={key: nano},
            asked={key: change.asked[key]},
            or_else={one: less for one, less in change.or_else.items() if one == key},
            or_in={one: others for one, others in change.or_in.items() if one == key},
        )
        for key, nano in change.amounts.items()
    ]
    if change.pods:
        found.append(nothing._replace(pods=change.pods, fewest=change.fewest, or_pods=change.or_pods))
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


def covers(change: WayOut, other: WayOut) -> bool:
    """Tell whether a change does all that another does, and no better: who knows the other does not need it."""
    if (change.machine, change.hardware) != (other.machine, other.hardware) or (change.aligned and not other.aligned):
        return False
    return (
        other.flags.items() <= change.flags.items()
        and {pod.uid for pod in other.gone} <= {pod.uid for pod in change.gone}
        and all(
            key in change.amounts and (nano - change.asked[key]) * (change.amounts[key] - nano) >= 0
            for key, nano in other.amounts.items()
        )
    )
