"""Merging explicit hints: the worked examples, tables and traps of docs/rules/topology-manager.md."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.errors import KubeletPanicError
from numalign.kubelet.topology.hints import CANNOT_FIT, NO_PREFERENCE, HintList, Hints, ProviderAnswer, TopologyHint
from numalign.kubelet.topology.merge import walk
from numalign.kubelet.topology.merge.lists import NUMAInfo, ands_by_counting, merge_lists, numa_info, target_width
from numalign.kubelet.topology.merge.walk import merge_by_walking
from numalign.kubelet.topology.policy import DO_NOT_CARE, IMPOSSIBLE, explicit, filter_answers, merge
from tests.dice import Dice, draws, rolled
from tests.kubelet.hint_text import hint, hints, show

POLICIES = ("best-effort", "restricted", "single-numa-node")
CPU = "01:T 10:T 11:F"


def decide(policy: str, nodes: int, *lists: str, distances: dict[int, tuple[int, ...]] | None = None) -> str:
    """Merge one list a provider; the answer is `HINT admit` or `HINT refuse`."""
    best, admit = merge(policy, [{"r": hints(text)} for text in lists], numa_info(range(nodes), distances))
    return f"{show(best, nodes)} {'admit' if admit else 'refuse'}"


def every_mask(nodes: int, holds: str, preferred: int) -> str:
    """All masks that have every bit of `holds`; those of `preferred` nodes are preferred."""
    must = int(holds, 2)
    masks = [mask for mask in range(1, 1 << nodes) if mask & must == must]
    return " ".join(f"{mask:0{nodes}b}:{'T' if mask.bit_count() == preferred else 'F'}" for mask in masks)


def at_least(nodes: int, count: int) -> str:
    """All masks of at least `count` nodes; the narrowest are preferred."""
    masks = [mask for mask in range(1, 1 << nodes) if mask.bit_count() >= count]
    return " ".join(f"{mask:0{nodes}b}:{'T' if mask.bit_count() == count else 'F'}" for mask in masks)


class TestFiltering:
    """Rule 5: what a provider's answer adds to the lists."""

    CASES = (
        ("an empty map is one list that does not care", {}, [DO_NOT_CARE]),
        ("a resource without preference does not care", {"a": NO_PREFERENCE}, [DO_NOT_CARE]),
        ("a resource that cannot fit is impossible", {"a": CANNOT_FIT}, [IMPOSSIBLE]),
        ("an empty list is impossible", {"a": ()}, [IMPOSSIBLE]),
        ("hints are taken as they are", {"a": hints(CPU)}, [hints(CPU)]),
        (
            "a map adds one list a resource, in order of their names",
            {"b": hints("01:T"), "a": NO_PREFERENCE, "c": CANNOT_FIT},
            [DO_NOT_CARE, hints("01:T"), IMPOSSIBLE],
        ),
    )

    @pytest.mark.parametrize(("answer", "lists"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
    def test_row(self, answer: ProviderAnswer, lists: list[Hints]) -> None:
        assert lists == explicit(filter_answers([answer]))

    def test_the_providers_keep_their_order(self) -> None:
        lists = filter_answers([{"z": hints("01:T")}, {}, {"a": hints("10:T")}])

        assert [hints("01:T"), NO_PREFERENCE, hints("10:T")] == lists


MERGED = (
    # sentence, nodes, lists, best-effort, restricted, single-numa-node
    ("no list at all admits on the full mask", 2, [], "11:T admit", "11:T admit", "nil:T admit"),
    (
        "only lists that do not care give the full mask",
        2,
        ["nil:T", "nil:T"],
        "11:T admit",
        "11:T admit",
        "nil:T admit",
    ),
    (
        "an impossible list alone gives full, not preferred",
        2,
        ["nil:F"],
        "11:F admit",
        "11:F refuse",
        "nil:F refuse",
    ),
    ("do not care never hurts", 2, ["nil:T", CPU], "01:T admit", "01:T admit", "01:T admit"),
    (
        "an impossible list takes the preference and leaves the mask",
        2,
        ["nil:F", CPU],
        "01:F admit",
        "01:F refuse",
        "nil:F refuse",
    ),
    ("two equal preferred masks win", 2, ["01:T", "01:T"], "01:T admit", "01:T admit", "01:T admit"),
    (
        "preferred masks that differ do not mix: an empty AND is no candidate",
        2,
        ["01:T", "10:T"],
        "11:F admit",
        "11:F refuse",
        "nil:F refuse",
    ),
    (
        "a preferred mask inside another does not make a preferred hint",
        2,
        ["11:T", "01:T"],
        "01:F admit",
        "01:F refuse",
        "nil:F refuse",
    ),
    (
        "a common wide mask beats an AND of different preferred ones",
        2,
        ["11:T", "01:T 10:T 11:T"],
        "11:T admit",
        "11:T admit",
        "nil:F refuse",
    ),
    (
        "no common preferred mask: the widest need decides the width",
        2,
        ["11:T", "01:T 10:T 11:F"],
        "11:F admit",
        "11:F refuse",
        "nil:F refuse",
    ),
    ("one flag that is off is enough", 2, ["01:F", "01:T"], "01:F admit", "01:F refuse", "nil:F refuse"),
    ("nothing in common and a flag off", 2, ["01:F", "10:T"], "11:F admit", "11:F refuse", "nil:F refuse"),
    (
        "an empty mask is no candidate, even when preferred",
        2,
        ["00:T 10:F"],
        "10:F admit",
        "10:F refuse",
        "nil:F refuse",
    ),
    ("a list of only empty masks leaves no candidate", 2, ["00:T"], "11:F admit", "11:F refuse", "nil:F refuse"),
    ("fewer nodes win among preferred masks", 3, ["011:T 100:T"], "100:T admit", "100:T admit", "100:T admit"),
    (
        "the smaller integer wins, not the mask with the lowest bit",
        4,
        ["1001:T 0110:T"],
        "0110:T admit",
        "0110:T admit",
        "nil:F refuse",
    ),
    (
        "any preferred mask beats a narrower one that is not",
        3,
        ["001:F 110:T"],
        "110:T admit",
        "110:T admit",
        "nil:F refuse",
    ),
    (
        "masks beyond the machine are cut off",
        2,
        ["101:T"],
        "01:T admit",
        "01:T admit",
        "nil:F refuse",
    ),
    (
        "single-numa-node takes the lowest node that every list prefers",
        4,
        ["0010:T 0100:T 1000:T", "1000:T 0100:T"],
        "0100:T admit",
        "0100:T admit",
        "0100:T admit",
    ),
    (
        "single-numa-node drops one-node hints that are not preferred",
        2,
        ["01:F 10:F 11:T"],
        "11:T admit",
        "11:T admit",
        "nil:F refuse",
    ),
    (
        "a list that offers a mask or no mask at all takes part with either",
        2,
        ["nil:T 01:T", "10:T"],
        "10:T admit",
        "10:T admit",
        "10:T admit",
    ),
    ("one node: the winner equals full, so its mask goes", 1, ["1:T", "1:T"], "1:T admit", "1:T admit", "nil:T admit"),
)


@pytest.mark.parametrize(
    ("policy", "nodes", "lists", "expected"),
    [
        pytest.param(policy, nodes, lists, answers[index], id=f"{policy}: {sentence}")
        for sentence, nodes, lists, *answers in MERGED
        for index, policy in enumerate(POLICIES)
    ],
)
def test_policies(policy: str, nodes: int, lists: list[str], expected: str) -> None:
    assert expected == decide(policy, nodes, *lists)


NON_PREFERRED = (
    # sentence, B comes from this list, candidates of the other (all of them not preferred), winner
    ("exactly B nodes is best", "0011:F 0111:F", "0001:F 0011:F 0111:F", "0011"),
    ("then B - 1", "0111:F", "0001:F 0011:F", "0011"),
    ("fewer than B in falling order, the smaller integer among equals", "1111:F", "0100:F 0010:F", "0010"),
    ("a mask wider than B loses to any that is not", "0001:F 0110:F", "0110:F 0001:F", "0001"),
    ("a mask wider than B wins where nothing else is left", "0001:F 0110:F", "1000:F 0110:F", "0110"),
    ("the smaller integer among masks of B nodes", "1111:F 0111:F", "0110:F 0101:F", "0101"),
)


class TestNonPreferred:
    """Rules 6.3 and 6.4: which combination wins where none is preferred."""

    @pytest.mark.parametrize(
        ("first", "second", "winner"), [case[1:] for case in NON_PREFERRED], ids=[case[0] for case in NON_PREFERRED]
    )
    def test_order(self, first: str, second: str, winner: str) -> None:
        assert f"{winner}:F admit" == decide("best-effort", 4, first, second)

    @pytest.mark.parametrize(
        ("lists", "width"),
        [
            pytest.param([], 0, id="no list"),
            pytest.param(["nil:T", "nil:F"], 0, id="no mask in any list"),
            pytest.param([CPU, "11:F"], 2, id="the largest of the narrowest"),
            pytest.param(["11:T 01:F", "nil:T"], 1, id="what is feasible now counts, preferred or not"),
        ],
    )
    def test_target_width(self, lists: list[str], width: int) -> None:
        assert width == target_width(hints(text) for text in lists)

    def test_without_nodes_there_is_no_candidate(self) -> None:
        assert TopologyHint(0, False) == merge_lists([DO_NOT_CARE], numa_info(()))


FOUR_NODES = {0: (10, 11, 20, 21), 1: (11, 10, 21, 20), 2: (20, 21, 10, 11), 3: (21, 20, 11, 10)}


class TestWorkedExamples:
    """Section 17."""

    @pytest.mark.parametrize("policy", POLICIES)
    def test_1_the_announcement(self, policy: str) -> None:
        assert decide(policy, 2, CPU, "01:T 10:T", "01:T 10:T") == "01:T admit"
        assert decide(policy, 2, CPU, "10:T", "10:T") == "10:T admit"

    def test_2_masks_must_be_equal(self) -> None:
        assert decide("restricted", 4, "0011:T 0110:T", "0110:T 1100:T") == "0110:T admit"

    @pytest.mark.parametrize(("policy", "expected"), [("best-effort", "0011:F admit"), ("restricted", "0011:F refuse")])
    def test_3_best_effort_forgets_the_gpu(self, policy: str, expected: str) -> None:
        assert expected == decide(policy, 4, at_least(4, 2), every_mask(4, "1000", 1))

    def test_4_restricted_can_never_admit(self) -> None:
        assert decide("restricted", 4, at_least(4, 2), at_least(4, 1)) == "0011:F refuse"

    LIST = "0101:T 0110:T 1100:T 0111:F 1011:F 1101:F 1110:F 1111:F"

    @pytest.mark.parametrize(
        ("policy", "distances", "expected"),
        [
            pytest.param("restricted", None, "0101:T admit", id="off: the smallest integer"),
            pytest.param("restricted", FOUR_NODES, "1100:T admit", id="on: the closest"),
            pytest.param("best-effort", FOUR_NODES, "1100:T admit", id="on: the closest, best-effort"),
        ],
    )
    def test_5_distances(self, policy: str, distances: dict[int, tuple[int, ...]] | None, expected: str) -> None:
        assert expected == decide(policy, 4, self.LIST, distances=distances)

    SECOND = (
        ("a device without topology", {"r": NO_PREFERENCE}, ["01:T", "01:T", "01:T"]),
        ("an exhausted device", {"r": CANNOT_FIT}, ["01:F", "", ""]),
        ("impossible memory", {}, ["01:T", "01:T", "01:T"]),
    )

    @pytest.mark.parametrize(
        ("policy", "second", "expected"),
        [
            pytest.param(policy, second, row[index], id=f"{policy}: {name}")
            for name, second, row in SECOND
            for index, policy in enumerate(POLICIES)
        ],
    )
    def test_6_nil_and_empty(self, policy: str, second: ProviderAnswer, expected: str) -> None:
        best, admit = merge(policy, [{"cpu": hints(CPU)}, second], numa_info(range(2)))

        assert admit == bool(expected)
        if expected:
            assert hint(expected) == best

    def test_7_the_target_width_with_explicit_lists(self) -> None:
        assert decide("best-effort", 4, "0011:T 0111:F", "1110:T 0111:F") == "0111:F admit"

    @pytest.mark.parametrize(
        ("policy", "stored"), [("best-effort", "1:T"), ("restricted", "1:T"), ("single-numa-node", "nil:T")]
    )
    def test_8_one_node(self, policy: str, stored: str) -> None:
        assert f"{stored} admit" == decide(policy, 1, "1:T", "1:T")


FEEDBACK = (
    ("01:T", "10:T", "11:F refuse"),
    ("11:T", "01:T", "01:F refuse"),
    ("11:T", "01:T 10:T 11:T", "11:T admit"),
    ("11:T", "01:T 10:T 11:F", "11:F refuse"),
    ("01:F", "01:T", "01:F refuse"),
    ("01:F", "10:T", "11:F refuse"),
    ("01:T", "01:T", "01:T admit"),
)


@pytest.mark.parametrize(("first", "second", "expected"), FEEDBACK)
def test_the_cases_of_the_feedback_document(first: str, second: str, expected: str) -> None:
    """The last column of the table of section 14."""
    assert expected == decide("restricted", 2, first, second)


THREE_NODES = {0: (10, 20, 30), 1: (20, 10, 11), 2: (30, 11, 10)}


class TestDistances:
    """Section 8."""

    def test_the_sum_runs_over_all_ordered_pairs(self) -> None:
        assert numa_info(range(3), THREE_NODES).distance(0b011) == 10 + 20 + 20 + 10

    def test_an_asymmetric_table_is_fine(self) -> None:
        assert numa_info(range(2), {0: (10, 15), 1: (25, 10)}).distance(0b11) == 10 + 15 + 25 + 10

    def test_an_empty_mask_has_distance_0(self) -> None:
        assert numa_info(range(3), THREE_NODES).distance(0) == 0

    def test_a_longer_distance_never_makes_a_wider_mask_win(self) -> None:
        rows = {0: (99, 10, 10), 1: (10, 10, 10), 2: (10, 10, 10)}

        assert decide("best-effort", 3, "001:T 110:T", distances=rows) == "001:T admit"

    def test_non_preferred_masks_of_equal_width_go_by_distance(self) -> None:
        assert decide("best-effort", 3, "011:F 110:F", distances=THREE_NODES) == "110:F admit"

    def test_single_numa_node_ignores_distances(self) -> None:
        rows = {0: (30, 20), 1: (20, 10)}

        assert decide("single-numa-node", 2, "01:T 10:T", distances=rows) == "01:T admit"
        assert decide("restricted", 2, "01:T 10:T", distances=rows) == "10:T admit"


class TestRowsTooShort:
    """Rule 8.4: rows are read by node id, so gaps in the ids can crash the kubelet."""

    NUMA = numa_info((1, 2), {1: (10, 20), 2: (20, 10)})

    def test_the_example_crashes_at_the_first_comparison_of_equal_counts(self) -> None:
        with pytest.raises(KubeletPanicError, match=r"^runtime error: index out of range \[2\] with length 2$"):
            merge("best-effort", [{"cpu": hints("010:T 100:T 110:F")}], self.NUMA)

    def test_no_comparison_by_distance_no_crash(self) -> None:
        best, admit = merge("restricted", [{"cpu": hints("010:T 110:F")}], self.NUMA)

        assert (hint("010:T"), True) == (best, admit)

    def test_equal_masks_are_not_compared_by_distance(self) -> None:
        best, _ = merge("best-effort", [{"cpu": hints("100:T 110:F")}, {"gpu": hints("100:T 100:T")}], self.NUMA)

        assert hint("100:T") == best

    def test_the_running_best_is_read_first(self) -> None:
        """{2} comes first here: its own row lacks index 2 already."""
        rows = {1: (10, 20, 30), 2: (20, 10)}
        numa = numa_info((1, 2), rows)

        with pytest.raises(KubeletPanicError, match=r"\[2\] with length 2"):
            merge("best-effort", [{"cpu": hints("100:T 010:T")}], numa)

    def test_rows_are_read_by_ascending_id_whatever_the_order_of_discovery(self) -> None:
        numa = numa_info((2, 1, 3), {1: (10, 20), 2: (20,), 3: (20, 20, 20, 20)})

        with pytest.raises(KubeletPanicError, match=r"\[2\] with length 2"):
            merge("best-effort", [{"cpu": hints("0110:T 1010:T")}], numa)

    def test_masks_beyond_the_machine_are_cut_off(self) -> None:
        """Two nodes wide as it is written, the first has one that is there."""
        lists = [hints("101:T 011:T")]
        flat = numa_info(range(2), dict.fromkeys(range(2), (10, 10)))

        assert merge_by_walking(lists, flat) == merge_lists(lists, flat) == hint("01:T")

    def test_wrong_entries_are_used_as_they_are(self) -> None:
        """Ids 0 and 2, rows of three: position 1 is never read, position 2 is."""
        numa = numa_info((0, 2), {0: (10, 0, 21), 2: (21, 0, 9)})

        best, _ = merge("best-effort", [{"cpu": hints("001:T 100:T")}], numa)

        assert hint("100:T") == best

    def test_single_numa_node_never_crashes_here(self) -> None:
        best, admit = merge("single-numa-node", [{"cpu": hints("010:T 100:T 110:F")}], self.NUMA)

        assert (hint("010:T"), True) == (best, admit)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_order_of_providers_and_hints_never_matters(policy: str) -> None:
    lists = [hints(at_least(3, 1)), hints(every_mask(3, "010", 1)), hints("011:T 110:T 111:F"), DO_NOT_CARE]
    results = {
        merge(policy, [{"r": HintList(reversed(one)) if turned else one} for one in order], numa_info(range(3)))
        for order in itertools.permutations(lists)
        for turned in (False, True)
    }

    assert len(results) == 1


def some_masks(dice: Dice, least: int, most: int, fewest: int, many: int) -> list[int]:
    return dice.several(lambda one: one.between(least, most), fewest, many)


LISTS_OF_FEW = rolled(lambda dice: some_masks(dice, 1, 63, 0, 5), 12)


@draws(80)
@given(
    rolled(lambda dice: dice.several(lambda one: set(some_masks(one, 0, 127, 0, 60)), 1, 4), 500), st.integers(0, 127)
)
def test_ands_by_counting_are_the_ands_of_all_combinations(offers: list[set[int]], full: int) -> None:
    offers = [{mask & full for mask in offer} for offer in offers]
    masks = {full}
    for offer in offers:
        masks = {mask & other for mask in masks for other in offer}

    assert ands_by_counting(offers, full) == masks


@given(*[rolled(lambda dice: some_masks(dice, 1, 63, 20, 60), 122)] * 2, LISTS_OF_FEW, st.booleans())
def test_long_lists_merge_as_walked(one: list[int], other: list[int], short: list[int], ahead: bool) -> None:
    """Two lists so long that pairs are not tried one by one; a short one before or after them."""
    more = [short] if short else []
    lists = [*more, one, other] if ahead else [one, other, *more]
    listed = [HintList(TopologyHint(mask, False) for mask in masks) for masks in lists]

    flat = numa_info(range(6), dict.fromkeys(range(6), (10,) * 6))

    assert merge_lists(listed, numa_info(range(6))) == merge_by_walking(listed, flat)


def few_hints(dice: Dice) -> tuple[list[HintList], NUMAInfo]:
    """Up to three lists of up to six hints on four nodes, preferred or not, near and far."""
    rows = {node: tuple(dice.pick((10, 11, 20)) for _ in range(4)) for node in range(4)}
    lists = dice.several(lambda one: HintList(one.several(some_hint, 1, 6)), 0, 3)
    return lists, numa_info(range(4), rows)


def some_hint(dice: Dice) -> TopologyHint:
    return TopologyHint(dice.below(16) if dice.below(8) else None, dice.flag())


@draws(400)
@given(rolled(few_hints))
def test_hints_merge_as_walked_by_every_case_of_the_comparison(case: tuple[list[HintList], NUMAInfo]) -> None:
    """Rule 6.4."""
    assert merge_lists(*case) == merge_by_walking(*case)


def test_a_walk_that_is_too_long_ends_as_a_merge_without_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [hints("01:T 10:T 11:F")] * 3
    near_second = numa_info(range(2), {0: (20, 20), 1: (20, 10)})
    assert merge_by_walking(listed, near_second) == hint("10:T")

    monkeypatch.setattr(walk, "MAX_COMBINATIONS", 3**3 - 1)
    assert merge_by_walking(listed, near_second) == hint("01:T")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_machine_without_numa_nodes_prefers_nothing(policy: str) -> None:
    assert merge(policy, [], numa_info(()))[0].preferred is merge(policy, [{}], numa_info(()))[0].preferred is False
