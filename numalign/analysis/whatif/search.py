"""Sets of edits that meet a goal: begun with more than is needed, and given back from there.

A start asks for the least there is, sends every pod away, or sets something else. What is given back first loses least,
so several orders are tried; what costs less stays (see `WayOut`). `shrink` makes small what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, islice

from numalign.analysis.alignment import aligned, alignments
from numalign.analysis.culprits import refused_decision
from numalign.analysis.matrix import Row, matrix
from numalign.analysis.settings import (
    MEMORY_POLICY,
    POLICY,
    SCOPE,
    Flags,
    options_of,
    options_on,
    with_option,
)
from numalign.analysis.situation import with_amounts
from numalign.analysis.whatif.change import Key, WayOut, cost_of_requests, lost
from numalign.analysis.whatif.goal import Goal
from numalign.analysis.whatif.past import moved, without
from numalign.analysis.whatif.tries import LARGER_TRIED, SHARE, Requests, Tries, page, steps
from numalign.kubelet.admission import Session, admit, forecast
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO
from numalign.model.resources import CPU, MEMORY, is_device, is_memory

LEAST_MEMORY = 16 * MEBI
"""No container is told to live with less memory than this (or than it asks for)."""

MAX_CONTAINERS_TRIED = 3
"""How many containers of a pod are tried for each resource."""

MAX_ADMISSIONS = 1000
"""How many admissions a search under other settings may take."""

ADMISSIONS_OF_CUTS = 150
"""About how many admissions it takes to find what to cut."""

Amounts = dict[Key, int]
"""Of all that a pod asks for, in billionths."""


def single_requests(tries: Tries) -> Iterator[WayOut]:
    """Ask for other amounts of one resource: more, as it is given out so; less, in the first container that will do."""
    requests, refused = tries.requests, tries.outcome.result.container
    more = [_more_cpus(tries, *one) for one in _with_room(tries)] if tries.outcome.admit else [_wider(tries)]
    yield from (_way(requests, each) for each in more if each is not None)
    for resource in sorted({name for _, name in requests.asked}):
        keys = _of(requests, resource, refused)[:MAX_CONTAINERS_TRIED]
        for key in keys:
            rounded = {**requests.asked, key: requests.wanted[key]}
            if requests.does(rounded):
                yield _way(requests, rounded)
            amounts = _one_cut(requests, key)
            if amounts is not None:
                yield _way(requests, amounts)
                break


def _of(requests: Requests, resource: str, refused: str | None) -> list[Key]:
    """List the requests of a resource: of the refused container first, then the largest."""
    keys = [key for key in requests.asked if key[1] == resource]
    return sorted(keys, key=lambda key: (key[0] != refused, -requests.asked[key]))


def _one_cut(requests: Requests, key: Key) -> Amounts | None:
    """Cut one request as little as it takes: larger amounts first, as they may take other nodes, at last the least."""
    asked = requests.asked[key]
    step = requests.steps[key] if requests.pinned or key[1] != CPU else NANO // 1000
    high = -(-asked // step)
    least = _least(requests, key, share=not requests.pinned)
    places = [(high - 1) * (LARGER_TRIED - part) // LARGER_TRIED for part in range(LARGER_TRIED)]
    for nano in (*dict.fromkeys(place * step for place in places if place * step > least), least):
        cut = {**requests.asked, key: nano}
        if nano < asked and requests.does(cut):
            return cut | {key: requests.most(cut, key, step, high)}
        high = nano // step
    return None


def _least(requests: Requests, key: Key, *, share: bool) -> int:
    """Say with how little a container can live: a share of a CPU or a whole one, some memory, no device."""
    if key[1] == CPU:
        return min(requests.wanted[key], SHARE if share else requests.steps[key])
    return min(requests.wanted[key], LEAST_MEMORY * NANO) if key[1] == MEMORY else 0


def _wider(tries: Tries) -> Amounts | None:
    """Ask for more CPUs or memory, so that they take as many nodes as what needs most of them.

    Under `restricted` a pod with eight GPUs on two nodes and a few CPUs is refused for ever: the CPUs would fit one.
    """
    outcome, requests = tries.outcome, tries.requests
    decision = refused_decision(outcome)
    if decision is None:
        return None
    found, rows = dict(requests.asked), matrix(outcome.before.node, outcome.demand, decision).rows
    for row in rows:
        widest = max(one.width for one in rows)
        if 0 < row.width < widest and (row.resource == CPU or is_memory(row.resource)):
            keys = _of(requests, row.resource, decision.container or outcome.result.container)
            if keys:
                found[keys[0]] += (_least_of_width(requests.session, row, widest) - row.requested) * NANO
    return found if requests.does(found) else None


def _with_room(tries: Tries) -> Iterator[tuple[Key, int]]:
    """Give containers with CPUs of their own, with the most CPUs that need no more nodes than they need anyway."""
    cpu = tries.outcome.before.node.cpu
    for container, judged in islice(alignments(tries.outcome), MAX_CONTAINERS_TRIED):
        if container.cpus and judged.verdict in ("aligned", "spread"):
            yield (container.name, CPU), cpu.widest[: judged.least][-1]


def _more_cpus(tries: Tries, key: Key, most: int) -> Amounts | None:
    """Ask for a few CPUs more, for more than a node has free or has at all: the least of these, and then below it."""
    requests, step = tries.requests, tries.requests.steps[key]
    node, state = requests.session.node, requests.session.state.cpu
    had = requests.asked[key] // step
    free = [(numa.cpus & state.default & ~node.cpu.reserved).bit_count() for numa in node.machine.numa_nodes]
    cores = step // NANO
    edges = [edge // cores + 1 for edge in (*free, *node.cpu.widest)]
    places = sorted({*range(had + LARGER_TRIED + 1), *edges})
    low = had
    for place in [one for one in places if had < one <= most // cores]:
        if requests.does({**requests.asked, key: place * step}):
            while place - low > 1:
                middle = (low + place) // 2
                low, place = (low, middle) if requests.does({**requests.asked, key: middle * step}) else (middle, place)
            return {**requests.asked, key: place * step}
        low = place
    return None


def _least_of_width(session: Session, row: Row, width: int) -> int:
    """Find the smallest amount that takes so many nodes on an empty machine; more than there is where none does."""
    node = session.node
    if row.resource == CPU:
        size, widest = steps(session, {("", CPU): NANO})["", CPU] // NANO, node.cpu.widest
    else:
        size, widest = page(row.resource), node.memory.widest[node.memory.places[row.resource]]
    return (widest[: width - 1][-1] // size + 1) * size


def cut_now(requests: Requests) -> Iterator[WayOut]:
    """Cut several requests, everything else as it is."""
    yield from (_way(requests, amounts) for amounts in _best(requests, _cuts(requests)))


def cut_and_move(session: Session, pod: Pod, goal: Goal) -> Iterator[WayOut]:
    """Cut requests down to what an empty machine has, and move pods away for it."""
    empty = Requests(session.empty(), pod, goal)
    for amounts in _best(empty, _cuts(empty)):
        going = moved(session, with_amounts(pod, empty.changed(amounts)), goal)
        if going is not None:
            rest = Requests(without(session, going.pods), pod, goal)
            yield _way(rest, amounts)._replace(pods=going.pods, fewest=going.fewest)


def setting_and_cut(tries: Tries) -> Iterator[WayOut]:
    """Change one setting and cut requests under it; options that would only be turned on help least."""
    setup = tries.situation.setup
    last = [
        with_option(setup, name, True) for name in options_of(setup.kubelet) if name not in options_on(setup.config)
    ]
    settings = sorted(tries.settings(), key=last.__contains__)
    for flags, session in _elsewhere(tries, settings, ADMISSIONS_OF_CUTS):
        requests = Requests(session, tries.outcome.pod, tries.goal)
        for amounts in _best(requests, _cuts(requests, thorough=False)):
            yield _way(requests, amounts)._replace(flags=flags)


def two_settings(tries: Tries) -> Iterator[WayOut]:
    """Change two settings that do not touch each other, one of them more than an option."""
    outcome = tries.outcome
    if forecast(outcome.before, outcome.pod) is False:
        return
    pairs = (
        {**one, **other}
        for one, other in combinations(tries.settings(), 2)
        if not one.keys() & other.keys() and {POLICY, SCOPE, MEMORY_POLICY} & {*one, *other}
    )
    found: list[Flags] = []
    for flags, session in _elsewhere(tries, pairs):
        rest = {flag: text for flag, text in flags.items() if flag != POLICY}
        if POLICY in flags and rest in found:
            continue  # with a stricter policy it does, too
        tried = admit(session, outcome.pod)
        if tries.goal.met(tried):
            found.append(rest)
            yield WayOut(aligned(tried), flags=flags, tried=tried)


def _elsewhere(tries: Tries, settings: Iterable[Flags], more: int = 1) -> Iterator[tuple[Flags, Session]]:
    """Replay the past under other settings, as long as that is not too much; pods that are there must stay."""
    left = MAX_ADMISSIONS
    for flags in settings:
        left -= len(tries.situation.past) + more
        if left < 0:
            return
        session = tries.standing(flags)
        if session is not None:
            yield flags, session


def _cuts(requests: Requests, *, thorough: bool = True) -> Iterator[Amounts]:
    """Cut everything down to the least, and shrink that: to some of everything first, then to no device.

    Args:
        requests: what is cut.
        thorough: look also what comes of weakening each edit first that another order leaves.
    """
    asked, wanted = requests.asked, requests.wanted
    if requests.does(wanted):
        yield wanted
        return
    for share in (False, True):
        shares = share and not requests.pinned
        step = {key: SHARE if key[1] == CPU and shares else each for key, each in requests.steps.items()}
        least = {key: _least(requests, key, share=share) for key in asked}
        some = {key: nano or min(step[key], asked[key]) for key, nano in least.items()}
        found: list[Amounts] = []
        for start in (some, least):
            if requests.does(start):
                found += _shrunk(requests, start, step, thorough=thorough)
                if any(_keeps_devices(requests, one) for one in found):
                    break
        yield from found
        if found:
            return


def _shrunk(requests: Requests, least: Amounts, step: Mapping[Key, int], *, thorough: bool) -> Iterator[Amounts]:
    """Weaken every edit, devices first, then CPUs; then see whether to begin with one that is left comes cheaper."""

    def kind(key: Key) -> tuple[bool, bool]:
        return not is_device(key[1]), key[1] != CPU

    backwards = [*least][::-1]
    orders = [sorted(least, key=kind), sorted(backwards, key=kind)]
    best, kept, begun = least, list[Key](), {orders[0][0]}
    for order in orders:  # it grows
        found = dict(least)
        for key in order:
            if found[key] < requests.wanted[key]:
                found[key] = requests.most(found, key, step[key])
        yield found
        if _order(requests, found) < _order(requests, best):
            best, kept = found, order
        if thorough and order is orders[-1]:
            cut = [key for key in requests.changed(best) if best[key] < requests.asked[key] and key not in begun]
            first = max(cut, key=lambda key: lost(key, best[key], requests.asked[key]), default=None)
            if first is not None:
                begun.add(first)
                orders.append([first, *kept])


def _order(requests: Requests, amounts: Amounts) -> tuple[bool, float]:
    changed = requests.changed(amounts)
    return not _keeps_devices(requests, amounts), cost_of_requests(requests.asked, changed)


def _keeps_devices(requests: Requests, amounts: Amounts) -> bool:
    return not any(is_device(name) for _, name in requests.changed(amounts))


def _best(requests: Requests, found: Iterable[Amounts]) -> list[Amounts]:
    """Take what costs least of all, what does of that which keeps all devices, and of that which leaves nothing out."""
    every = sorted(found, key=lambda one: cost_of_requests(requests.asked, requests.changed(one)))
    keeping = [one for one in every if _keeps_devices(requests, one)]
    whole = [one for one in every if all(one.values())]
    return list({id(one): one for one in (*every[:1], *keeping[:1], *whole[:1])}.values())


def _way(requests: Requests, amounts: Amounts) -> WayOut:
    changed = requests.changed(amounts)
    tried = admit(requests.session, with_amounts(requests.pod, changed))
    return WayOut(aligned(tried), amounts=changed, asked={key: requests.asked[key] for key in changed}, tried=tried)
