"""Changes of several parts, for a pod that no single change admits: cuts, moves and settings together.

Each is applied and tried on the twin like any other change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations as subsets

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.cuts import Cut, cuts
from numalign.analysis.whatif.moving import moved, without
from numalign.analysis.whatif.settings import (
    MEMORY_POLICY,
    POLICY,
    SCOPE,
    Flags,
    options_of,
    options_on,
    other_settings,
    with_option,
)
from numalign.analysis.whatif.situation import ContainerAmounts, with_amounts
from numalign.analysis.whatif.tries import Tries, newcomers
from numalign.kubelet.admission import Outcome, Session, admit, forecast
from numalign.model.pod import Pod

COMBINED_COST = 2.0
"""What a combination costs beside its parts: several changes are harder to make than one."""

CUT_COST = 4.0
"""What it costs to lose all of one request."""

SETTING_COST = 3.0
"""What a setting costs beside a cut."""

MORE_THAN_OPTIONS = {POLICY, SCOPE, MEMORY_POLICY}

MAX_ADMISSIONS = 1000
"""How many admissions a search under other settings may take."""

ADMISSIONS_OF_CUTS = 150
"""About how many admissions it takes to find what to cut."""


def cut_now(outcome: Outcome) -> Iterator[WayOut]:
    """Cut several requests, everything else as it is."""
    for cut in _best(cuts(outcome.before, outcome.pod)):
        yield _change(outcome.before, outcome.pod, cut)


def cut_and_move(outcome: Outcome) -> Iterator[WayOut]:
    """Cut requests down to what an empty machine has, and move pods away for it."""
    for cut in _best(cuts(outcome.before.empty(), outcome.pod)):
        asked = with_amounts(outcome.pod, cut.amounts)
        going = moved(outcome.before, asked)
        if going is not None:
            session = without(outcome.before, going.pods)
            found = _change(session, outcome.pod, cut)
            yield found._replace(pods=going.pods, fewest=going.fewest, cost=found.cost + len(going.pods))


def two_settings(tries: Tries) -> Iterator[WayOut]:
    """Change two settings that do not touch each other, one of them more than an option."""
    outcome = tries.outcome
    if forecast(outcome.before, outcome.pod) is False:
        return
    pairs = (
        {**one, **other}
        for one, other in subsets(other_settings(tries.situation.setup, outcome.pod), 2)
        if not one.keys() & other.keys() and MORE_THAN_OPTIONS & {*one, *other}
    )
    found: list[Flags] = []
    for flags, session in _elsewhere(tries, pairs):
        beside = {flag: text for flag, text in flags.items() if flag != POLICY}
        if POLICY in flags and beside in found:
            continue  # with a stricter policy it does, too
        tried = admit(session, outcome.pod)
        if tried.admit:
            found += [beside] if POLICY in flags else []
            cost = COMBINED_COST + 2 * SETTING_COST + 2 * (POLICY in flags)
            yield WayOut("combination", cost, aligned(tried), flags=flags, tried=tried)


def setting_and_cut(tries: Tries) -> Iterator[WayOut]:
    """Change one setting and cut requests under it; options that would only be turned on help least."""
    setup = tries.situation.setup
    pod = tries.outcome.pod
    off = [name for name in options_of(setup.kubelet) if name not in options_on(setup.config)]
    last = [with_option(setup, name, True) for name in off]
    settings = sorted(other_settings(setup, pod), key=last.__contains__)
    for flags, session in _elsewhere(tries, settings, ADMISSIONS_OF_CUTS):
        for cut in _best(cuts(session, pod, thorough=False)):
            found = _change(session, pod, cut)
            yield found._replace(flags=flags, cost=found.cost + SETTING_COST + 2 * (POLICY in flags))


def _best(found: Iterable[Cut]) -> list[Cut]:
    """Take the cut that loses least, and the one that loses least of those that keep all devices.

    Where one request would be left out, it may be shared instead: also the one that leaves nothing out.
    """
    every = sorted(found, key=lambda cut: cut.lost)
    keeping = [cut for cut in every if cut.keeps_devices]
    shared = [cut for cut in every if all(cut.amounts.values()) and len(every[0].amounts) == 1]
    return list({id(cut): cut for cut in (*every[:1], *keeping[:1], *shared[:1])}.values())


def _change(session: Session, pod: Pod, cut: Cut) -> WayOut:
    asked = {(one.name, name): amount.nano for one in pod.containers for name, amount in one.requests.items()}
    tried = admit(session, with_amounts(pod, cut.amounts))
    amounts: ContainerAmounts = cut.amounts
    return WayOut(
        "combination",
        COMBINED_COST + CUT_COST * cut.lost,
        aligned(tried),
        amounts=amounts,
        asked={key: asked[key] for key in amounts},
        tried=tried,
    )


def _elsewhere(tries: Tries, settings: Iterable[Flags], more: int = 1) -> Iterator[tuple[Flags, Session]]:
    """Replay the past under other settings, as long as that is not too much; pods that are there must stay."""
    left = MAX_ADMISSIONS
    for flags in settings:
        left -= len(tries.situation.past) + more
        if left < 0:
            return
        session = tries.under(flags)
        if session is not None and newcomers(session, tries.outcome.before) is not None:
            yield flags, session
