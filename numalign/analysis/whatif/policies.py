"""Policies that do not help: those between the one that is set and one that is offered, and all others where none is.

Who reads that another policy admits a pod looks for the strictest one that does, and who reads that the policy is in
the way looks for another one.
"""

from __future__ import annotations

from numalign.analysis.refusal import Refusal, refusal, taken_apart
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.moving import without
from numalign.analysis.whatif.settings import POLICY, STRICTEST_FIRST, place_of
from numalign.analysis.whatif.situation import with_amounts
from numalign.analysis.whatif.tries import Tries, gone, newcomers
from numalign.kubelet.admission import admit, admits, forecast
from numalign.values import NamedTuple


class NoPolicy(NamedTuple):
    """No other policy admits a refused pod as it is beside all pods that are there."""

    others: bool = False
    """There are pods."""
    policy: str = ""
    """The strictest that would, if others stayed away."""
    unless: tuple[str, ...] = ()
    """Names of pods refused so far that would have to stay away."""
    lax: Refusal | None = None
    """How `best-effort` refuses it beside the pods that are there, where none is named; None: it does not, or nobody
    gets that far."""
    lost: tuple[str, ...] = ()
    """Names of pods that are there now and would not be, were the policy `best-effort`."""


def too_strict(tries: Tries, change: WayOut) -> dict[str, Refusal]:
    """Name the policies less strict than the one that is set, and stricter than the one of a change, that do not do.

    Each is tried in place of the change's own, with all the rest of it.
    """
    if POLICY not in change.flags:
        return {}
    now = place_of(tries.situation.setup.config.topology_manager_policy)
    between = STRICTEST_FIRST[now + 1 : place_of(change.flags[POLICY])]
    others = {one: change._replace(flags={**change.flags, POLICY: one}) for one in between}
    refused = {one: tries.attempt(other) for one, other in others.items() if _refuses(tries, other)}
    return {one: taken_apart(tried) for one, tried in refused.items() if tried is not None}


def no_policy(tries: Tries) -> NoPolicy | None:
    """Tell that a pod that the policy may be in the way of is not admitted as it is under any other one.

    None: one of them admits it, or the policy refuses nothing.
    """
    outcome, now = tries.outcome, tries.situation.setup.config.topology_manager_policy
    if now not in ("single-numa-node", "restricted"):
        return None
    found = NoPolicy(others=bool(outcome.before.pods))
    # A node that is too small as a whole refuses it whatever the policy.
    small = forecast(outcome.before, outcome.pod) is False
    for policy in STRICTEST_FIRST if not small else ():
        tried = tries.beside({POLICY: policy}) if policy != now else None
        if tried is None:
            continue
        _, kept_out = tried
        if not kept_out:
            return None
        if not found.unless:
            found = found._replace(policy=policy, unless=tuple([pod.name for pod in kept_out]))
    if found.unless:
        return found
    change = WayOut("setting", 0, None, flags={POLICY: "best-effort"})
    session = tries.session(change)
    new = newcomers(session, outcome.before) if session is not None else None
    lax = admit(without(session, new), outcome.pod) if session is not None and new else tries.attempt(change)
    there = {pod.uid for pod in session.pods} if session is not None else set[str]()
    return found._replace(
        lax=refusal(lax) if lax is not None and not lax.admit else None,
        lost=tuple([pod.name for pod in outcome.before.pods if session is not None and pod.uid not in there]),
    )


def _refuses(tries: Tries, change: WayOut) -> bool:
    """Tell whether a pod is refused after a change, whether pods refused so far come first then or not.

    False also where it cannot be told, as the past is not replayed to its end, or a pod that is there now is refused.
    """
    session = tries.session(change)
    new = newcomers(session, tries.outcome.before) if session is not None else None
    if session is None or new is None:
        return False
    there, pod = without(session, gone(change)), with_amounts(tries.outcome.pod, change.amounts)
    return not admits(there, pod) and not (new and admits(without(there, new), pod))
