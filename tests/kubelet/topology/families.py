"""Hypothesis strategies for families of hints, as providers give them and odder.

A strategy is made once a size of machine: checking a new one costs more than drawing from it.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    AtLeast,
    HintFamily,
    Hints,
    MaskSet,
    SocketAlignment,
    expand,
)
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info

LARGEST = 5
"""Nodes of the largest machine: all masks of several lists can still be walked."""
SIZES = st.integers(1, LARGEST)
BOOLEANS = st.booleans()


@cache
def masks(nodes: int) -> st.SearchStrategy[int]:
    return st.integers(1, (1 << nodes) - 1)


@cache
def demands(nodes: int) -> st.SearchStrategy[AtLeast]:
    spans = st.one_of(st.just(()), st.lists(masks(nodes), max_size=3).map(tuple))
    return st.builds(AtLeast, st.tuples(*[st.integers(0, 3)] * nodes), st.integers(0, 7), spans)


@cache
def sets(nodes: int) -> st.SearchStrategy[MaskSet]:
    insides = st.one_of(st.just((1 << nodes) - 1), masks(nodes))
    requirements = st.one_of(st.just(0), masks(nodes))
    touches = st.one_of(st.just(()), st.lists(masks(nodes), max_size=2).map(tuple))
    wishes = st.lists(demands(nodes), min_size=1, max_size=2).map(tuple)

    @st.composite
    def one(draw: st.DrawFn) -> MaskSet:
        inside = draw(insides)
        wanted = draw(wishes)
        mask_set = MaskSet(inside, wanted, draw(requirements) & inside, draw(touches))
        if mask_set.has(inside) or draw(BOOLEANS):
            return mask_set
        return mask_set._replace(conditions=tuple(demand._replace(need=demand.need // 3) for demand in wanted))

    return one()


@cache
def families(nodes: int) -> st.SearchStrategy[Hints]:
    """A family with at least one member, else what a provider answers without one."""
    some = st.lists(sets(nodes), min_size=1, max_size=3).map(tuple)
    pairs = st.tuples(masks(nodes), masks(nodes))
    widths, one_in_five, one_in_six = st.integers(1, nodes), st.integers(0, 4), st.integers(0, 5)
    needed = st.integers(1, 2)

    @st.composite
    def one(draw: st.DrawFn) -> Hints:
        parts = draw(some)
        if draw(one_in_five) == 0:
            group = draw(masks(nodes))
            parts = (*parts, MaskSet(group, (), group))
        sockets = SocketAlignment(draw(needed), draw(pairs)) if draw(one_in_six) == 0 else None
        family = HintFamily(parts, draw(widths), sockets)
        return family if expand(family) else CANNOT_FIT

    return one()


@cache
def rows(nodes: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.sampled_from((10, 11, 20, 21))] * nodes)


@st.composite
def machines(draw: st.DrawFn) -> NUMAInfo:
    nodes = draw(SIZES)
    if draw(BOOLEANS):
        return numa_info(range(nodes))
    return numa_info(range(nodes), {node: draw(rows(nodes)) for node in range(nodes)})


@cache
def answers(nodes: int) -> st.SearchStrategy[list[Hints]]:
    one = st.one_of(families(nodes), families(nodes), st.just(NO_PREFERENCE))
    return st.lists(one, min_size=1, max_size=3)


@st.composite
def merges(draw: st.DrawFn) -> tuple[NUMAInfo, list[Hints]]:
    """A machine and up to four answers; some of them are the same, as those of memory and its huge pages are."""
    numa = draw(machines())
    given = draw(answers(len(numa.nodes)))
    return numa, [*given, given[0]] if draw(BOOLEANS) else given
