"""Tries of changes of several parts: the past under other settings is replayed once for all of them."""

from __future__ import annotations

from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.moving import without
from numalign.analysis.whatif.settings import apply
from numalign.analysis.whatif.situation import Situation, with_amounts
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Outcome, Session, admit, admits, forecast
from numalign.kubelet.cpu.allocate import NOT_FREE, TOO_FEW
from numalign.model.pod import Pod
from numalign.values import NamedTuple


def needs_newcomers(situation: Situation, outcome: Outcome, change: WayOut) -> bool:
    """Tell whether other settings admit a pod only as pods that were refused before it take their place first then."""
    if not newcomers(outcome, change):
        return False
    tried = without_newcomers(situation, outcome, change)
    return tried is None or not tried.admit


def without_newcomers(situation: Situation, outcome: Outcome, change: WayOut) -> Outcome | None:
    """Try other settings without those pods; others refused before may come first then. None: no such past is told."""
    new = newcomers(outcome, change)
    past = tuple([event for event in situation.past if event.pod.uid not in new])
    return Tries(situation._replace(past=past, replays=None), outcome, {}).attempt(change)


def newcomers(outcome: Outcome, change: WayOut) -> set[str]:
    """List the UIDs of pods that were refused before, and are there under other settings."""
    if not change.flags or change.tried is None:
        return set()
    return {pod.uid for pod in change.tried.before.pods} - {pod.uid for pod in outcome.before.pods}


def sound(outcome: Outcome | None) -> bool:
    """Tell whether the kubelet hands out as many CPUs as are asked, and none twice: on some machines it does not."""
    return outcome is None or not any(one.code in (TOO_FEW, NOT_FREE) for one in outcome.notices)


def gone(change: WayOut) -> tuple[Pod, ...]:
    """List the pods that are not there with a change: those to move away, and those that must not come first."""
    return (*change.pods, *change.kept_out)


def beside(session: Session, outcome: Outcome) -> tuple[Outcome, tuple[Pod, ...]] | None:
    """Admit a pod under other settings, if need be without pods refused before that are admitted first there.

    Returns:
        the admission, and the pods that must not be there, as few as it takes; None: the pod is refused without them,
        too, or a pod that is there now is refused.
    """
    uids, kept = {pod.uid for pod in session.pods}, {pod.uid for pod in outcome.before.pods}
    if not kept <= uids:
        return None
    newcomers = [pod for pod in session.pods if pod.uid not in kept]
    if admits(session, outcome.pod):
        return admit(session, outcome.pod), ()
    if not newcomers or not admits(without(session, newcomers), outcome.pod):
        return None
    for one in newcomers[::-1]:
        fewer = [pod for pod in newcomers if pod is not one]
        if admits(without(session, fewer), outcome.pod):
            newcomers = fewer
    return admit(without(session, newcomers), outcome.pod), tuple(newcomers)


class Tries(NamedTuple):
    """What changes are tried against."""

    situation: Situation
    outcome: Outcome
    """The refusal."""
    elsewhere: dict[tuple[tuple[str, str], ...], Session | None]
    """Settings -> the same past under them; None: the kubelet does not come that far."""

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
        if not change.flags:
            return self.outcome.before
        key = tuple(change.flags.items())
        if key not in self.elsewhere:
            setup = self.situation.setup
            config = apply(setup.config, change.flags)
            try:
                found = self.situation._replace(setup=setup._replace(config=config)).session()
            except (StartError, CrashError):
                self.elsewhere[key] = None
            else:
                self.elsewhere[key] = found
        return self.elsewhere[key]
