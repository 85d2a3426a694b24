"""Merging families of hints is merging their hints one by one; and laws that every merge obeys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.errors import KubeletHangError
from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    AtLeast,
    HintFamily,
    HintList,
    Hints,
    MaskSet,
    SocketAlignment,
    TopologyHint,
    expand,
    masks_by_width,
)
from numalign.kubelet.topology.merge import best_set as lowest
from numalign.kubelet.topology.merge import families as search
from numalign.kubelet.topology.merge.and_of_sets import and_of_sets, leaves_out
from numalign.kubelet.topology.merge.families import best_member, narrowest_width
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info
from numalign.kubelet.topology.policy import explicit, merge
from tests.dice import Dice, draws, rolled
from tests.kubelet.topology.families import demand, family, mask_set, merge_case, size

MERGES = rolled(merge_case)

POLICIES = ("best-effort", "restricted", "single-numa-node")


def merged(policy: str, lists: list[Hints], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
    return merge(policy, [{"r": hints} for hints in lists], numa)


def tight(dice: Dice) -> tuple[NUMAInfo, list[Hints]]:
    """Up to six nodes with amounts of one or two things, of which nearly all is needed."""
    nodes = dice.between(3, 6)

    def scarce(each: Dice) -> Hints:
        rows = each.several(lambda one: tuple(one.between(1, 5) for _ in range(nodes)), 1, 2)
        spare = each.between(1, 7)
        wanted = tuple(AtLeast(row, max(1, sum(row) - spare)) for row in rows)
        return HintFamily((MaskSet((1 << nodes) - 1, wanted),), 0)

    distances = {node: tuple(dice.pick((10, 12, 21)) for _ in range(nodes)) for node in range(nodes)}
    return numa_info(range(nodes), distances if dice.flag() else None), dice.several(scarce, 2, 3)


def set_and_width(dice: Dice) -> tuple[int, MaskSet, int]:
    nodes = size(dice)
    return nodes, mask_set(dice, nodes), dice.between(1, nodes)


def sets_to_and(dice: Dice) -> tuple[int, list[MaskSet]]:
    """Sets of which each has the mask of all its nodes; every second time they can spare little."""
    nodes = size(dice)
    full = (1 << nodes) - 1

    def scarce(each: Dice) -> MaskSet:
        inside = each.between(1, full)
        weights = tuple(each.between(1, 4) for _ in range(nodes))
        spare = each.below(7)
        there = sum(weight for node, weight in enumerate(weights) if inside >> node & 1)
        return MaskSet(inside, (AtLeast(weights, max(1, there - spare)),))

    made = dice.several(scarce if dice.flag() else lambda each: mask_set(each, nodes), 1, 4)
    return nodes, [one if one.has(one.nodes) else MaskSet(one.nodes, ()) for one in made]


def size_and_demand(dice: Dice) -> tuple[int, AtLeast]:
    nodes = size(dice)
    return nodes, demand(dice, nodes)


def merge_and_order(dice: Dice) -> tuple[tuple[NUMAInfo, list[Hints]], list[Hints]]:
    case = merge_case(dice)
    return case, dice.shuffled(case[1])


LEFT_OUT: list[tuple[str, int, list[tuple[int, ...]], bool, bool]] = [
    ("all by one set", 4, [(1, 1), (1, 1), (2, 2)], True, True),
    ("a large and a small one by each", 5, [(3, 3), (3, 3), (2, 2), (2, 2)], False, True),
    ("each where it costs less", 5, [(4, 4), (4, 4), (3, 1), (1, 3)], False, True),
    ("too much by one", 3, [(1, 1), (3, 3), (3, 3)], False, False),
    ("one by each of three", 5, [(4, 4, 4)] * 3, True, True),
    ("in the last of a hundred ways", 127, [(63, 63), (64, 64), *((64 >> bit,) * 2 for bit in range(7))], False, True),
    ("in none of a hundred ways", 127, [(63, 63), (65, 65), *((64 >> bit,) * 2 for bit in range(7))], False, False),
]
"""What leaving a node out costs each set: found in a simple way, possible at all."""


@pytest.fixture(params=["few masks looked at one by one", "all searched"], scope="class")
def search_from(request: pytest.FixtureRequest) -> Iterator[None]:
    """Small machines have so few masks that none would be searched for."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "all searched":
            patch.setattr(search, "MAX_MASKS_TRIED", 0)
        yield


@pytest.mark.usefixtures("search_from")
class TestFamiliesAgainstTheirHints:
    @pytest.mark.parametrize("policy", POLICIES)
    @draws(100)
    @given(MERGES)
    def test_same_hint(self, policy: str, case: tuple[NUMAInfo, list[Hints]]) -> None:
        """A family stands for its hints; what `restricted` refuses is not worked out, so not compared."""
        numa, lists = case

        family, admitted = merged(policy, lists, numa)
        listed, expected = merged(policy, list(explicit(lists)), numa)

        assert (listed.preferred, expected) == (family.preferred, admitted)
        if policy != "restricted" or expected:
            assert listed == family

    @draws(100)
    @given(rolled(tight))
    def test_where_little_can_be_left_out(self, case: tuple[NUMAInfo, list[Hints]]) -> None:
        """Nothing is preferred: the best mask is an AND of masks that each leave out a little (6.4)."""
        numa, lists = case
        assert merged("best-effort", lists, numa) == merged("best-effort", list(explicit(lists)), numa)

    @draws(150)
    @given(rolled(set_and_width))
    def test_the_best_member_of_a_set_is_its_smallest_mask(self, case: tuple[int, MaskSet, int]) -> None:
        nodes, made, width = case
        members = [mask for mask in range(1, 1 << nodes) if made.has(mask) and mask.bit_count() == width]

        assert min(members, default=None) == best_member((made,), width)

    @draws(300)
    @given(rolled(sets_to_and))
    def test_the_smallest_and_of_a_member_of_each_set(self, case: tuple[int, list[MaskSet]]) -> None:
        nodes, sets = case
        found, common = {(1 << nodes) - 1}, (1 << nodes) - 1
        for one in sets:
            found = {mask & member for mask in found for member in range(1 << nodes) if one.has(member)}
            common &= one.nodes
        order = [node for node in range(nodes) if common >> node & 1]
        for width in range(1, len(order) + 1):
            smallest = min((mask for mask in found if mask.bit_count() == width), default=None)
            assert lowest.lowest(order, width, and_of_sets(sets, order)) == smallest

    @pytest.mark.parametrize(
        ("spare", "costs", "simple", "possible"), [row[1:] for row in LEFT_OUT], ids=[row[0] for row in LEFT_OUT]
    )
    def test_nodes_are_shared_out_among_the_sets_that_leave_them_out(
        self, spare: int, costs: list[tuple[int, ...]], simple: bool, possible: bool
    ) -> None:
        """Each set can spare so much; the last node, which costs more, is left."""
        last = 1 << len(costs)
        weights = [(*row, 1000) for row in zip(*costs, strict=True)]
        sets = [MaskSet(2 * last - 1, (AtLeast(row, sum(row) - spare),)) for row in weights]
        order = range(len(costs) + 1)

        assert leaves_out(sets, 2 * last - 1, last) is simple
        assert lowest.lowest(order, 1, and_of_sets(sets, order)) == (last if possible else None)

    @given(rolled(lambda dice: family(dice, size(dice))))
    def test_the_narrowest_width(self, made: Hints) -> None:
        if isinstance(made, HintFamily):
            widths = [hint.numa_affinity.bit_count() for hint in expand(made) if hint.numa_affinity is not None]

            assert min(widths) == narrowest_width(made.sets)

    def test_sets_without_a_member_have_no_width(self) -> None:
        with pytest.raises(ValueError, match="no member"):
            narrowest_width((MaskSet(0b11, (AtLeast((1, 1), 3),)),))


class TestLaws:
    @pytest.mark.parametrize("policy", POLICIES)
    @given(rolled(merge_and_order))
    def test_provider_order_never_changes_the_merged_hint(
        self, policy: str, case: tuple[tuple[NUMAInfo, list[Hints]], list[Hints]]
    ) -> None:
        (numa, lists), shuffled = case

        assert merged(policy, lists, numa) == merged(policy, shuffled, numa)

    @pytest.mark.parametrize("policy", POLICIES)
    @given(MERGES, st.integers(0, 3), st.integers(0, 31), st.booleans())
    def test_one_more_hint_never_takes_the_preference_away(
        self, policy: str, case: tuple[NUMAInfo, list[Hints]], which: int, mask: int, preferred: bool
    ) -> None:
        numa, lists = case
        listed = list(explicit(lists))
        before, _ = merged(policy, list(listed), numa)
        which %= len(listed)
        listed[which] = (*listed[which], TopologyHint(mask, preferred))
        after, _ = merged(policy, list(listed), numa)

        assert after.preferred or not before.preferred

    @given(rolled(size_and_demand))
    def test_a_set_is_upward_closed(self, case: tuple[int, AtLeast]) -> None:
        nodes, wanted = case
        made = MaskSet((1 << nodes) - 1, (wanted,))

        for mask in masks_by_width(made.nodes):
            if made.has(mask):
                assert all(made.has(mask | 1 << node) for node in range(nodes))


def capacity(total: tuple[int, ...], free: tuple[int, ...], need: int) -> Hints:
    """What the CPU or Device Manager answers on a machine with so much on each node."""
    full = (1 << len(total)) - 1
    mask_set = MaskSet(full, (AtLeast(free, need),))
    return (
        HintFamily((mask_set,), narrowest_width((MaskSet(full, (AtLeast(total, need),)),)))
        if mask_set.has(full)
        else CANNOT_FIT
    )


def node_list(mask: int | None) -> list[int]:
    return [node for node in range(64) if (mask or 0) >> node & 1]


def hierarchy(nodes: int, sockets: int) -> dict[int, tuple[int, ...]]:
    """Distances of a machine of several sockets: 10 at home, 12 in the socket, 21 elsewhere."""
    size = nodes // sockets
    return {
        i: tuple(10 if i == j else 12 if i // size == j // size else 21 for j in range(nodes)) for i in range(nodes)
    }


SIZES = (16, 32, 64)


class TestLargeMachines:
    """16, 32 and 64 nodes: none of these ends if it walks masks; few are looked at."""

    @pytest.fixture(autouse=True)
    def few_steps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lowest, "MAX_STEPS", 450)

    @staticmethod
    def lists(nodes: int, width: int) -> list[Hints]:
        """CPU, GPU and NIC, some of each taken on every third node, asked for so that `width` nodes are needed."""
        cpus = tuple(10 if node % 3 == 0 else 16 for node in range(nodes))
        gpus = tuple(node % 3 for node in range(nodes))
        nics = tuple(0 if node % 5 == 0 else 1 for node in range(nodes))
        return [
            capacity((2,) * nodes, gpus, 2 * width - 1),
            capacity((1,) * nodes, nics, width),
            capacity((16,) * nodes, cpus, 16 * width - 8),
        ]

    @pytest.mark.parametrize("nodes", SIZES)
    @pytest.mark.parametrize("policy", POLICIES)
    def test_one_node_is_enough(self, nodes: int, policy: str) -> None:
        """The lowest node with a free GPU pair, a NIC and eight CPUs is node 2."""
        best, admit = merged(policy, self.lists(nodes, 1), numa_info(range(nodes)))

        assert (TopologyHint(0b10, True), True) == (best, admit)

    @pytest.mark.parametrize("nodes", SIZES)
    def test_several_nodes(self, nodes: int) -> None:
        best, admit = merged("restricted", self.lists(nodes, 4), numa_info(range(nodes)))

        assert admit
        assert node_list(best.numa_affinity) == [1, 2, 8, 11]

    @pytest.mark.parametrize("nodes", SIZES)
    @pytest.mark.parametrize("policy", ["restricted", "best-effort"])
    def test_closest_nodes_fill_sockets(self, nodes: int, policy: str) -> None:
        """Four sockets; the first lacks one node, so half the machine is the two sockets after it."""
        socket = nodes // 4
        free = (*(16,) * (socket - 1), 0, *(16,) * (nodes - socket))
        lists = [capacity((16,) * nodes, free, 16 * 2 * socket)] * 2

        best, admit = merged(policy, lists, numa_info(range(nodes), hierarchy(nodes, 4)))

        assert admit
        assert best == TopologyHint(((1 << 2 * socket) - 1) << socket, True)

    @pytest.mark.parametrize("nodes", SIZES)
    @pytest.mark.parametrize("distances", [None, 1, 2, 4, 8], ids=lambda sockets: f"{sockets} sockets")
    def test_several_nodes_and_nothing_preferred(self, nodes: int, distances: int | None) -> None:
        """The GPUs want another width than the CPUs: `best-effort` takes the lowest and closest of the wider one."""
        table = None if distances is None else hierarchy(nodes, distances)
        lists = [self.lists(nodes, 2)[0], *self.lists(nodes, nodes // 4)[1:]]

        best, admit = merged("best-effort", lists, numa_info(range(nodes), table))

        assert admit
        assert best == TopologyHint((1 << nodes // 4) - 1, False)

    @pytest.mark.parametrize("nodes", SIZES)
    @pytest.mark.parametrize("sockets", [None, 2, 4])
    def test_little_can_be_left_out(self, nodes: int, sockets: int | None) -> None:
        """The GPUs can do without node 0 only, the CPUs without node 2 only: leaving out 2 is the smaller integer."""
        gpus = (1, *(2,) * (nodes - 1))
        cpus = (4, 4, 2, *(4,) * (nodes - 3))
        lists = [capacity(gpus, gpus, sum(gpus) - 1), capacity(cpus, cpus, sum(cpus) - 2)]
        table = None if sockets is None else hierarchy(nodes, sockets)

        best, _ = merged("best-effort", lists, numa_info(range(nodes), table))

        assert best == TopologyHint(((1 << nodes) - 1) & ~0b100, False)

    @pytest.mark.parametrize(("own", "expected"), [("T", True), ("F", False)])
    def test_a_list_of_one_hint_beside_families(self, own: str, expected: bool) -> None:
        """A container that has its memory already: its own nodes are the only hint."""
        memory = HintList((TopologyHint(0b1100, own == "T"),))
        cpus = capacity((16,) * 64, (16,) * 64, 24)

        assert merged("best-effort", [memory, cpus], numa_info(range(64)))[0] == TopologyHint(0b1100, expected)
        assert merged("restricted", [memory, cpus], numa_info(range(64)))[1] is expected
        assert merged("single-numa-node", [memory, cpus], numa_info(range(64)))[1] is False

    def test_long_lists_of_16_nodes(self) -> None:
        """Every set of nodes, three times, and no two agree."""
        every = [HintList(TopologyHint(m, m.bit_count() == width) for m in range(1, 1 << 16)) for width in (1, 2, 3)]
        wide = HintList(hint for hint in every[2] if (hint.numa_affinity or 0).bit_count() > 2)

        best, _ = merged("best-effort", [*every, wide], numa_info(range(16)))

        assert best == TopologyHint(0b111, False)

    def test_what_would_have_to_be_listed_is_refused(self) -> None:
        """Distance rows that are too short need the kubelet's own walk, which never ends here."""
        rows = dict.fromkeys(range(32), (10,))

        with pytest.raises(KubeletHangError, match="list every set of 32 NUMA nodes"):
            merged("best-effort", self.lists(32, 1), numa_info(range(32), rows))

    def test_sets_of_up_to_twenty_nodes_are_listed(self) -> None:
        """Whatever their ids."""
        for nodes in (20, 21):
            full = (1 << nodes + 1) - 2
            family = HintFamily((MaskSet(full, (), full),), nodes)
            with nullcontext() if nodes == 20 else pytest.raises(KubeletHangError, match="list every set of 21"):
                assert expand(family) == (TopologyHint(full, True),)

    def test_a_search_that_would_not_end_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The kubelet itself does not come back: it looks at every set of nodes."""
        monkeypatch.setattr(lowest, "MAX_STEPS", 5)

        with pytest.raises(KubeletHangError, match="every set of 16 NUMA nodes"):
            merged("restricted", self.lists(16, 4), numa_info(range(16)))
        with pytest.raises(KubeletHangError, match="every set of 16 NUMA nodes"):
            merged("restricted", self.lists(16, 4), numa_info(range(16), hierarchy(16, 4)))


NODES = 64
FULL = (1 << NODES) - 1
EVEN, ODD = tuple(1 + node % 2 for node in range(NODES)), tuple(2 - node % 2 for node in range(NODES))
"""How much nodes have of two things: who has more of one has less of the other."""
IN_PAIRS = tuple(0b11 << node for node in range(0, NODES, 8))
QUARTERS = tuple(0xFFFF << node for node in range(0, NODES, 16))
# What a set asks for, what alignments by sockets ask for; steps to eight nodes of it: the lowest, the closest.
SHORT: list[tuple[str, MaskSet, list[SocketAlignment], int, int]] = [
    ("one thing", MaskSet(FULL, (AtLeast(EVEN, 13),)), [], 64, 64),
    ("all of it", MaskSet(FULL, (AtLeast(EVEN, 16),)), [], 64, 64),
    ("more than there is", MaskSet(FULL, (AtLeast(EVEN, 17),)), [], 0, 0),
    ("two things", MaskSet(FULL, (AtLeast(EVEN, 12), AtLeast(ODD, 12))), [], 64, 64),
    ("too much of two together", MaskSet(FULL, (AtLeast(EVEN, 13), AtLeast(ODD, 13))), [], 0, 0),
    ("devices between two nodes", MaskSet(FULL, (AtLeast((0,) * NODES, 8, IN_PAIRS),)), [], 750, 750),
    ("some nodes", MaskSet(FULL, (AtLeast(EVEN, 13),), 1 << 40 | 1 << 20 | 1), [], 64, 1100),
    ("a node of each pair", MaskSet(FULL, (AtLeast(EVEN, 13),), 0, IN_PAIRS), [], 68, 1800),
    ("two sockets", MaskSet(FULL, (AtLeast(EVEN, 13),)), [SocketAlignment(2, QUARTERS)], 64, 670),
    ("more sockets than there are", MaskSet(FULL, (AtLeast(EVEN, 13),)), [SocketAlignment(5, QUARTERS)], 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "sockets", "least", "nearest"), [r[1:] for r in SHORT], ids=[r[0] for r in SHORT])
def test_a_search_looks_at_little(
    wanted: MaskSet, sockets: list[SocketAlignment], least: int, nearest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for numa, steps in ((numa_info(range(NODES)), least), (numa_info(range(NODES), hierarchy(NODES, 4)), nearest)):
        monkeypatch.setattr(lowest, "MAX_STEPS", steps)
        best_member((wanted,), 8, numa, sockets)


@pytest.mark.parametrize(("width", "mask"), [(1, 0b10), (2, 0b110), (3, 0b10110)])
def test_where_anything_goes_the_lowest_nodes_are_taken(width: int, mask: int) -> None:
    assert lowest.lowest([1, 2, 4], width, lowest.Anything()) == mask


def test_what_a_set_does_not_need_is_left_out_in_a_simple_way() -> None:
    either = MaskSet(0b11, ())

    assert leaves_out([either], 0b11, 0b01)
    assert not leaves_out([either._replace(required=0b11)], 0b11, 0b01)
