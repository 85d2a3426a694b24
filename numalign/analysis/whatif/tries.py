"""Tries of other requests on a node, and of whole changes; what was tried once is known from then on.

The past under other settings is replayed once for all changes that set the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.analysis.settings import Flags, apply, other_settings
from numalign.analysis.situation import Situation, with_amounts
from numalign.analysis.whatif.change import Key, WayOut
from numalign.analysis.whatif.goal import ADMITTED, Goal
from numalign.analysis.whatif.past import without
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Forecast, Outcome, Session, admit, forecaster
from numalign.kubelet.cpu.allocate import NOT_FREE, POOL_EMPTY, TOO_FEW
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO, parse, value
from numalign.model.resources import CPU, is_hugepages, is_memory, page_size


def sound(outcome: Outcome) -> bool:
    """Tell whether the kubelet hands out as many CPUs as are asked, none twice, and leaves one to share."""
    return not any(one.code in (TOO_FEW, NOT_FREE, POOL_EMPTY) for one in outcome.notices)


def as_sound(outcome: Outcome, change: WayOut) -> bool:
    """Tell whether an admission is sound, where that after a change is."""
    return sound(outcome) or not sound(change.outcome)


def beside(session: Session, outcome: Outcome, goal: Goal = ADMITTED) -> tuple[Outcome, tuple[Pod, ...]] | None:
    """Admit a pod under other settings, if need be without pods refused before that are admitted first there.

    Returns:
        the admission, and the pods that must not be there, as few as it takes; None: the goal is missed without them,
        too, or a pod that is there now is refused.
    """
    new = newcomers(session, outcome.before)
    if new is None:
        return None
    if goal.does(session, outcome.pod):
        return admit(session, outcome.pod), ()
    if not new or not goal.does(without(session, new), outcome.pod):
        return None
    for one in new[::-1]:
        fewer = [pod for pod in new if pod is not one]
        if goal.does(without(session, fewer), outcome.pod):
            new = fewer
    return admit(without(session, new), outcome.pod), tuple(new)


def newcomers(session: Session, before: Session) -> list[Pod] | None:
    """List the pods that are on a node beside those of before; None: one of these is not there."""
    kept = {pod.uid for pod in before.pods}
    if not kept <= {pod.uid for pod in session.pods}:
        return None
    return [pod for pod in session.pods if pod.uid not in kept]


MAX_CONTAINERS = 12
"""Of a pod with more containers only as many requests as these have are cut."""

LARGER_TRIED = 8
"""In how many parts the way from a cut amount to the asked one is divided to look whether more would do."""

SHARE = NANO // 10
"""In which steps a share of a CPU is asked for, in billionths."""


def may_pin(session: Session, pod: Pod) -> bool:
    """Tell whether the kubelet gives CPUs of their own to containers of a pod that ask for whole ones."""
    return session.node.cpu.static and pod.qos == "Guaranteed"


def steps(session: Session, asked: Mapping[Key, int]) -> dict[Key, int]:
    """In which steps an amount is cut: whole cores where only they are given out, whole pages, MiB, thousandths."""
    manager = session.node.cpu
    cores = manager.topology.cpus_per_core if manager.options.full_pcpus_only else 1
    found = {}
    for key, amount in asked.items():
        resource = key[1]
        if resource == CPU:
            found[key] = cores * NANO if amount % NANO == 0 else NANO // 1000
        elif is_hugepages(resource):
            found[key] = page(resource) * NANO
        else:
            found[key] = MEBI * NANO if is_memory(resource) else NANO
    return found


def page(resource: str) -> int:
    """Huge pages come in whole pages, memory in KiB."""
    return value(parse(page_size(resource))) if is_hugepages(resource) else 1024


class Requests:
    """A pod's requests on a node as it is, all amounts in billionths."""

    __slots__ = ("_ahead", "_tried", "asked", "goal", "pinned", "pod", "session", "steps", "wanted")

    def __init__(self, session: Session, pod: Pod, goal: Goal = ADMITTED) -> None:
        self.goal = goal
        self.session = session
        self.pod = pod
        containers = pod.containers[:MAX_CONTAINERS]
        self.asked = {
            (one.name, name): each.nano for one in containers for name, each in one.requests.items() if each.nano
        }
        """What the manifest asks for."""
        self.steps = steps(session, self.asked)
        """In which steps an amount is cut."""
        self.wanted = {
            key: -(-nano // self.steps[key]) * self.steps[key] if key[1] == CPU or nano % NANO else nano
            for key, nano in self.asked.items()
        }
        """What it asks for, brought up to what can be given out: whole cores, whole bytes."""
        self.pinned = may_pin(session, pod)
        self._ahead: Forecast = forecaster(session, pod)
        self._tried: dict[tuple[int, ...], bool] = {}

    def does(self, amounts: Mapping[Key, int]) -> bool:
        """Try amounts of everything that is asked for."""
        key = tuple([amounts[one] for one in self.asked])
        known = self._tried.get(key)
        if known is None:
            asked = with_amounts(self.pod, self.changed(amounts))
            known = self._tried[key] = self.goal.does(self.session, asked, self._ahead)
        return known

    def changed(self, amounts: Mapping[Key, int]) -> dict[Key, int]:
        """Leave out what stays as it is."""
        return {key: nano for key, nano in amounts.items() if nano != self.asked[key]}

    def most(self, amounts: Mapping[Key, int], key: Key, step: int, high: int = 0) -> int:
        """Find by halving the most of one resource that meets the goal, all else as given; what is given does.

        Args:
            amounts: of everything.
            key: what may be more.
            step: only multiples of this are tried.
            high: so many steps are too many; 0: all that is wanted may do.
        """
        wanted, found = self.wanted[key], amounts[key]
        if not high and self.does({**amounts, key: wanted}):
            return wanted
        low, high = found // step, high or -(-wanted // step)
        while high - low > 1:
            middle = (low + high) // 2
            if self.does({**amounts, key: middle * step}):
                low, found = middle, middle * step
            else:
                high = middle
        return found


class Tries:
    """An admission that is not as wanted, and what changes are tried against; what was tried once is known then."""

    __slots__ = ("_beside", "_elsewhere", "goal", "outcome", "requests", "situation")

    def __init__(self, situation: Situation, outcome: Outcome, goal: Goal = ADMITTED) -> None:
        self.goal = goal
        """What is looked for."""
        self.situation = situation
        """What the pod met; `situation.past` ends right before it came up."""
        self.outcome = outcome
        """The refusal, or the admission that is not aligned."""
        self.requests = Requests(outcome.before, outcome.pod, goal)
        """What the pod asks for where it came up."""
        self._elsewhere: dict[tuple[tuple[str, str], ...], Session | None] = {(): outcome.before}
        self._beside: dict[tuple[tuple[str, str], ...], tuple[Outcome, tuple[Pod, ...]] | None] = {}

    def settings(self) -> Iterator[Flags]:
        """Yield settings one step away (see `other_settings`)."""
        return other_settings(self.situation.setup, self.outcome.pod, aligning=self.goal.aligned)

    def attempt(self, change: WayOut) -> Outcome | None:
        """Try a change of requests, pods and settings; None: the past cannot be replayed under its settings."""
        return self.after(change) if self.under(change.flags) is not None else None

    def after(self, change: WayOut) -> Outcome:
        """Try a change under whose settings the past can be replayed."""
        return admit(without(self.session(change), change.gone), with_amounts(self.outcome.pod, change.amounts))

    def admitted(self, change: WayOut) -> Outcome | None:
        """Try a change; None: it misses the goal. Quicker than `attempt` where it is too large for the node."""
        session = self.under(change.flags)
        if session is None:
            return None
        return self.goal.reached(without(session, change.gone), with_amounts(self.outcome.pod, change.amounts))

    def session(self, change: WayOut) -> Session:
        """Replay the past under the settings of a change, where the kubelet does come that far."""
        session = self.under(change.flags)
        assert session is not None  # noqa: S101 (a setting is told only where it could be tried)
        return session

    def under(self, flags: Flags) -> Session | None:
        """Replay the past under other settings; None: the kubelet does not come that far."""
        key = tuple(flags.items())
        if key not in self._elsewhere:
            setup = self.situation.setup
            changed = setup._replace(config=apply(setup.config, flags))
            try:
                self._elsewhere[key] = self.situation._replace(setup=changed).session()
            except (StartError, CrashError):
                self._elsewhere[key] = None
        return self._elsewhere[key]

    def standing(self, flags: Flags) -> Session | None:
        """Replay the past under other settings; None also where a pod that is there now is refused."""
        session = self.under(flags)
        return session if session is not None and newcomers(session, self.outcome.before) is not None else None

    def beside(self, flags: Flags) -> tuple[Outcome, tuple[Pod, ...]] | None:
        """Admit the pod as it is under other settings: see `beside`; None: that does not do, or cannot be tried."""
        key = tuple(flags.items())
        if key not in self._beside:
            session = self.under(flags)
            self._beside[key] = beside(session, self.outcome, self.goal) if session is not None else None
        return self._beside[key]

    def first_then(self, change: WayOut) -> set[str]:
        """List the UIDs of pods that were refused before, and are there under other settings."""
        if not change.flags:
            return set()
        return {pod.uid for pod in change.outcome.before.pods} - {pod.uid for pod in self.outcome.before.pods}

    def alone(self, change: WayOut) -> Outcome | None:
        """Try other settings without those pods; others refused before may come first then. None: no past is told."""
        first = self.first_then(change)
        if not first:
            return change.tried
        past = tuple([event for event in self.situation.past if event.pod.uid not in first])
        return Tries(self.situation._replace(past=past), self.outcome, self.goal).attempt(change)

    def needs_newcomers(self, change: WayOut) -> bool:
        """Tell whether other settings do only as pods that were refused before it come first then."""
        tried = self.alone(change)
        return tried is None or not self.goal.met(tried)
