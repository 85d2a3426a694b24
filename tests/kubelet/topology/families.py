"""Hypothesis strategies for families of hints, as providers give them and odder."""

from __future__ import annotations

from hypothesis import strategies as st

from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    Demand,
    HintFamily,
    Hints,
    Piece,
    SocketAlignment,
    expand,
)
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info

LARGEST = 5
"""Nodes of the largest machine: all masks of several lists can still be walked."""


def masks(nodes: int) -> st.SearchStrategy[int]:
    return st.integers(1, (1 << nodes) - 1)


def demands(nodes: int) -> st.SearchStrategy[Demand]:
    spans = st.one_of(st.just(()), st.lists(masks(nodes), max_size=3).map(tuple))
    return st.builds(Demand, st.tuples(*[st.integers(0, 3)] * nodes), st.integers(0, 7), spans)


@st.composite
def pieces(draw: st.DrawFn, nodes: int) -> Piece:
    inside = draw(st.one_of(st.just((1 << nodes) - 1), masks(nodes)))
    required = draw(st.one_of(st.just(0), masks(nodes))) & inside
    touched = draw(st.one_of(st.just(()), st.lists(masks(nodes), max_size=2).map(tuple)))
    wanted = draw(st.lists(demands(nodes), min_size=1, max_size=2).map(tuple))
    piece = Piece(inside, wanted, required, touched)
    if piece.has(inside) or draw(st.booleans()):
        return piece
    return piece._replace(demands=tuple(demand._replace(need=demand.need // 3) for demand in wanted))


@st.composite
def families(draw: st.DrawFn, nodes: int) -> Hints:
    """A family with at least one member, else what a provider answers without one."""
    parts = draw(st.lists(pieces(nodes), min_size=1, max_size=3).map(tuple))
    if draw(st.integers(0, 4)) == 0:
        group = draw(masks(nodes))
        parts = (*parts, Piece(group, (), group))
    sockets = None
    if draw(st.integers(0, 5)) == 0:
        sockets = SocketAlignment(draw(st.integers(1, 2)), draw(st.tuples(masks(nodes), masks(nodes))))
    family = HintFamily(parts, draw(st.integers(1, nodes)), sockets)
    return family if expand(family) else CANNOT_FIT


@st.composite
def machines(draw: st.DrawFn) -> NUMAInfo:
    nodes = draw(st.integers(1, LARGEST))
    if draw(st.booleans()):
        return numa_info(range(nodes))
    row = st.tuples(*[st.sampled_from((10, 11, 20, 21))] * nodes)
    return numa_info(range(nodes), {node: draw(row) for node in range(nodes)})


@st.composite
def merges(draw: st.DrawFn) -> tuple[NUMAInfo, list[Hints]]:
    """A machine and up to four answers; some of them are the same, as those of memory and its huge pages are."""
    numa = draw(machines())
    one = st.one_of(families(len(numa.nodes)), families(len(numa.nodes)), st.just(NO_PREFERENCE))
    answers = draw(st.lists(one, min_size=1, max_size=3))
    if draw(st.booleans()):
        answers.append(answers[0])
    return numa, answers
