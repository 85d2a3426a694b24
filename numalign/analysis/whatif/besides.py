"""What is told of a refused pod beside its ways out: what refuses it for ever, policies and plugins.

Who reads that another policy admits a pod looks for the strictest one that does, and who reads that the policy is in
the way looks for another one; a plugin may name NUMA nodes which the machine does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from numalign.analysis.alignment import alignments
from numalign.analysis.loose import Loose
from numalign.analysis.refusal import Refusal, refusal, taken_apart
from numalign.analysis.settings import POLICY, STRICTEST_FIRST, place_of
from numalign.analysis.situation import Situation, with_amounts
from numalign.analysis.whatif.change import WayOut, parts_of, refused_with, without_part
from numalign.analysis.whatif.past import without
from numalign.analysis.whatif.tries import Tries, beside, newcomers
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Outcome, admit, admits, forecast
from numalign.model.resources import CPU, MEMORY
from numalign.values import NamedTuple


class NoPolicy(NamedTuple):
    """No other policy admits a refused pod as it is beside all pods that are there."""

    others: bool
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


class Repair(NamedTuple):
    """Devices that count nowhere for what their plugins tell of them."""

    devices: tuple[tuple[str, tuple[int, ...]], ...]
    """(resource, ids that the plugin names and the machine does not have), one a resource."""
    admits: bool | None
    """The pod is admitted as it is if these plugins name no node; None: that cannot be tried."""
    kept_out: tuple[str, ...] = ()
    """Names of pods refused before that must not come first then."""


def besides(tries: Tries, ways: Iterable[WayOut]) -> Iterator[Refusal]:
    """Tell what else refuses the pod for ever, whatever is done about the rest: a refusal for each resource.

    The kubelet tells what it meets first. So all of the nearest change on this machine is done but what is about one
    resource, or about one setting.
    """
    here = [one for one in ways if not (one.machine or one.hardware or one.kept_out)]
    nearest = next(iter(here), None)
    if nearest is not None and len(nearest.parts) < 2:
        # What a setting alone mends at once may be several things as it is set.
        as_set = [one for one in here if not one.flags]
        nearest = min(as_set, key=lambda one: len(one.parts), default=None)
    if nearest is None or len(nearest.parts) < 2:
        return
    now = taken_apart(tries.outcome)
    told = {(now.at, name) for name in now.resources}
    told.update((now.at, row.resource) for row in now.also if now.too_large(row))
    for each in _by_resource(nearest):
        part = each if each.flags else _not_told(each, told)
        if not part.amounts and not part.flags:
            continue
        rest = without_part(nearest, part)
        tried = tries.attempt(rest)
        found = None if tried is None or tried.admit else refused_with(tried, rest, part)
        raised = {name for (whose, name), nano in rest.amounts.items() if nano > rest.asked[whose, name]}
        if found is None or not found.lasting or (found.around.reduced | raised) & set(found.resources):
            continue  # what a change only brings about is told where it stands
        if part.amounts != each.amounts and found.around.sums:
            continue  # a sum with what is cut elsewhere is nobody's
        ever = found.for_ever()
        some = {(found.at, name) for name in ever.resources}
        if not told.issuperset(some) or (found.odd_cores and not now.odd_cores):
            told.update(some)
            yield ever


def _not_told(part: WayOut, told: Collection[tuple[str | None, str]]) -> WayOut:
    """Keep of a part the containers that it is not told of; what is told of a whole pod is told of each."""
    amounts = {key: nano for key, nano in part.amounts.items() if key not in told and (None, key[1]) not in told}
    return part._replace(amounts=amounts, asked={key: part.asked[key] for key in amounts})


def _by_resource(change: WayOut) -> Iterator[WayOut]:
    """Take a change apart as `parts_of` does, the amounts of one resource together."""
    parts = parts_of(change)
    names = dict.fromkeys(name for _, name in change.amounts)
    for name in sorted(names, key=lambda one: (one != CPU, one != MEMORY)):
        amounts = {key: nano for key, nano in change.amounts.items() if key[1] == name}
        asked = {key: change.asked[key] for key in amounts}
        parts = [part for part in parts if not amounts.keys() >= part.amounts.keys() or not part.amounts]
        parts.append(WayOut(change.aligned, amounts=amounts, asked=asked))
    yield from parts


def too_strict(tries: Tries, change: WayOut) -> dict[str, Refusal]:
    """Name the policies less strict than the one that is set, and stricter than the one of a change, that do not do.

    Each is tried in place of the change's own, with all the rest of it.
    """
    if POLICY not in change.flags:
        return {}
    now = place_of(tries.situation.setup.config.topology_manager_policy)
    between = STRICTEST_FIRST[now + 1 : place_of(change.flags[POLICY])]
    others = {one: change._replace(flags={**change.flags, POLICY: one}) for one in between}
    return {one: taken_apart(tries.after(other)) for one, other in others.items() if _refuses(tries, other)}


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
    session = tries.under({POLICY: "best-effort"})
    if session is None:
        return found
    lax = admit(without(session, newcomers(session, outcome.before) or ()), outcome.pod)
    there = {pod.uid for pod in session.pods}
    return found._replace(
        lax=None if lax.admit else refusal(lax),
        lost=tuple([pod.name for pod in outcome.before.pods if pod.uid not in there]),
    )


def _refuses(tries: Tries, change: WayOut) -> bool:
    """Tell whether a pod is refused after a change, whether pods refused so far come first then or not.

    False also where it cannot be told, as the past is not replayed to its end, or a pod that is there now is refused.
    """
    session = tries.standing(change.flags)
    if session is None:
        return False
    there, pod = without(session, change.gone), with_amounts(tries.outcome.pod, change.amounts)
    new = newcomers(session, tries.outcome.before) or ()
    return not admits(there, pod) and not admits(without(there, new), pod)


def least_bad(tries: Tries) -> WayOut:
    """Find the setting under which a pod that nothing aligns lies least apart; no flags: the settings are that."""
    best = WayOut(aligned=False, tried=tries.outcome)
    least = _apartness(tries.outcome)
    for flags in tries.settings():
        session = tries.standing(flags)
        if session is None:
            continue
        tried = admit(session, tries.outcome.pod)
        if tried.admit and _apartness(tried) < least:
            best, least = best._replace(flags=flags, tried=tried), _apartness(tried)
    return best


def _apartness(outcome: Outcome) -> tuple[int, int, int]:
    """Count of an admitted pod the containers that are not aligned, their nodes too many, and what lies elsewhere."""
    apart = [one for _, one in alignments(outcome) if one.aligned is False]
    return len(apart), sum(one.nodes.bit_count() - one.least for one in apart), sum(len(one.remote) for one in apart)


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
