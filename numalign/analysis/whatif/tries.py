"""Tries of changes of several parts: the past under other settings is replayed once for all of them."""

from __future__ import annotations

from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.moving import without
from numalign.analysis.whatif.settings import Flags, apply
from numalign.analysis.whatif.situation import Situation, with_amounts
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Outcome, Session, admit, admits, forecast
from numalign.kubelet.cpu.allocate import NOT_FREE, POOL_EMPTY, TOO_FEW
from numalign.model.pod import Pod


def sound(outcome: Outcome | None) -> bool:
    """Tell whether the kubelet hands out as many CPUs as are asked, none twice, and leaves one to share."""
    return outcome is None or not any(one.code in (TOO_FEW, NOT_FREE, POOL_EMPTY) for one in outcome.notices)


def as_sound(outcome: Outcome, change: WayOut) -> bool:
    """Tell whether an admission is sound, where that after a change is."""
    return sound(outcome) or not sound(change.tried)


def gone(change: WayOut) -> tuple[Pod, ...]:
    """List the pods that are not there with a change: those to move away, and those that must not come first."""
    return (*change.pods, *change.kept_out)


def beside(session: Session, outcome: Outcome) -> tuple[Outcome, tuple[Pod, ...]] | None:
    """Admit a pod under other settings, if need be without pods refused before that are admitted first there.

    Returns:
        the admission, and the pods that must not be there, as few as it takes; None: the pod is refused without them,
        too, or a pod that is there now is refused.
    """
    new = newcomers(session, outcome.before)
    if new is None:
        return None
    if admits(session, outcome.pod):
        return admit(session, outcome.pod), ()
    if not new or not admits(without(session, new), outcome.pod):
        return None
    for one in new[::-1]:
        fewer = [pod for pod in new if pod is not one]
        if admits(without(session, fewer), outcome.pod):
            new = fewer
    return admit(without(session, new), outcome.pod), tuple(new)


def newcomers(session: Session, before: Session) -> list[Pod] | None:
    """List the pods that are on a node beside those of before; None: one of these is not there."""
    kept = {pod.uid for pod in before.pods}
    if not kept <= {pod.uid for pod in session.pods}:
        return None
    return [pod for pod in session.pods if pod.uid not in kept]


class Tries:
    """A refusal, and what changes are tried against; what was tried once is known from then on."""

    __slots__ = ("_beside", "_elsewhere", "outcome", "situation")

    def __init__(self, situation: Situation, outcome: Outcome) -> None:
        self.situation = situation
        """What the pod met; `situation.past` ends right before it came up."""
        self.outcome = outcome
        """The refusal."""
        self._elsewhere: dict[tuple[tuple[str, str], ...], Session | None] = {}
        self._beside: dict[tuple[tuple[str, str], ...], tuple[Outcome, tuple[Pod, ...]] | None] = {}

    def attempt(self, change: WayOut) -> Outcome | None:
        """Try a change of requests, pods and settings; None: the past cannot be replayed under its settings."""
        session = self.session(change)
        if session is None:
            return None
        return admit(without(session, gone(change)), with_amounts(self.outcome.pod, change.amounts))

    def admitted(self, change: WayOut) -> Outcome | None:
        """Try a change; None: the pod is refused with it. Quicker than `attempt` where it is too large for the node."""
        session = self.session(change)
        if session is None:
            return None
        there, pod = without(session, gone(change)), with_amounts(self.outcome.pod, change.amounts)
        tried = None if forecast(there, pod) is False else admit(there, pod)
        return tried if tried is not None and tried.admit else None

    def session(self, change: WayOut) -> Session | None:
        """Replay the past under the settings of a change; None: the kubelet does not come that far."""
        return self.under(change.flags) if change.flags else self.outcome.before

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

    def beside(self, flags: Flags) -> tuple[Outcome, tuple[Pod, ...]] | None:
        """Admit the pod as it is under other settings: see `beside`; None: it is refused, or nobody gets that far."""
        key = tuple(flags.items())
        if key not in self._beside:
            session = self.under(flags)
            self._beside[key] = beside(session, self.outcome) if session is not None else None
        return self._beside[key]

    def first_then(self, change: WayOut) -> set[str]:
        """List the UIDs of pods that were refused before, and are there under other settings."""
        if not change.flags or change.tried is None:
            return set()
        return {pod.uid for pod in change.tried.before.pods} - {pod.uid for pod in self.outcome.before.pods}

    def alone(self, change: WayOut) -> Outcome | None:
        """Try other settings without those pods; others refused before may come first then. None: no past is told."""
        first = self.first_then(change)
        if not first:
            return change.tried
        past = tuple([event for event in self.situation.past if event.pod.uid not in first])
        return Tries(self.situation._replace(past=past), self.outcome).attempt(change)

    def needs_newcomers(self, change: WayOut) -> bool:
        """Tell whether other settings admit a pod only as pods that were refused before it come first then."""
        tried = self.alone(change)
        return tried is None or not tried.admit
