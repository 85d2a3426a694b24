"""One change after which a refused pod is admitted, whatever it consists of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.analysis.in_the_way import Amount
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.past import Anew, Held
from numalign.analysis.whatif.settings import GATES
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome
from numalign.kubelet.fit.check import Shortage
from numalign.model.pod import Pod
from numalign.model.resources import is_device
from numalign.values import NamedTuple

ChangeKind = Literal["machine", "pods", "request", "setting", "combination"]


Hardware = tuple[tuple[str, str], ...]
"""(flag, text) pairs that change the machine: `device`, `nvidia.com/gpu@0=2`; `hugepages`, `1Gi@0=4294967296`."""


MANY_PARTS = 5
"""A change of so many parts is a long one."""


class WayOut(NamedTuple):
    """One change after which the pod is admitted. Which fields are filled depends on `kind`."""

    kind: ChangeKind
    cost: float
    """How far it is from what is there; only good for putting changes in order."""
    aligned: bool | None
    """Whether the pod would then be aligned; None: it has nothing to align."""
    pods: tuple[Pod, ...] = ()
    """Pods to move away."""
    fewest: bool = False
    """No smaller set of pods would do."""
    or_pods: tuple[Pod, ...] = ()
    """Of one pod to move: others each of which would do as well instead."""
    amounts: Mapping[tuple[str, str], int] = {}
    """What to ask for instead, in billionths; 0: leave the resource out."""
    asked: Mapping[tuple[str, str], int] = {}
    """What the manifest asks for, of the same and of all in `together`."""
    or_else: Mapping[tuple[str, str], int] = {}
    """Of what grows to a number that can be handed out at all: the next such number below, which would do as well."""
    or_in: Mapping[tuple[str, str], tuple[tuple[str, int], ...]] = {}
    """Of what is left out in one container: the others that may do without it instead, each with what that one may ask
    for then, in billionths."""
    together: tuple[tuple[tuple[str, str], ...], ...] = ()
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

    kept_out: tuple[Pod, ...] = ()
    """Of a change of settings: pods refused before that would be admitted first then; only without them is it."""

    too_strict: Mapping[str, Refusal] = {}
    """Of a change of the policy: each one between the one that is set and that one -> how it refuses the pod still."""

    cores: int = 1
    """CPUs are given out in multiples of so many."""
    own_cpus: bool = True
    """The pod may have CPUs of its own, if the CPU Manager gives any."""

    def ask(self, key: tuple[str, str]) -> int:
        """Give what a (container, resource) asks for after the change, in billionths; of `together` some stay."""
        return self.amounts.get(key, self.asked[key])

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """List what is to be known of the admission it was tried by, but for what the machine does not say."""
        return tuple([one for one in self.tried.notices if one.code != "fit"]) if self.tried is not None else ()

    @property
    def keeps_devices(self) -> bool:
        """Tell whether the pod still gets every device it asks for."""
        return not any(is_device(key[1]) and nano < self.asked[key] for key, nano in self.amounts.items())

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
    whole: Amount | None = None
    """Of CPUs cut to a share of one: the CPUs of the node as a whole, against which that alone counts."""
