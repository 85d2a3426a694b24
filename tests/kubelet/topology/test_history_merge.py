"""The merge before v1.24, against literal readings of its rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.releases.early_merge import (
    AfterGathering,
    EarlyMerge,
    as_given,
    combinations,
    devices_first,
    merge_devices,
    narrowest,
)
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.topology.hints import CANNOT_FIT, NO_PREFERENCE, HintList, TopologyHint
from numalign.kubelet.topology.merge.lists import numa_info
from tests.kubelet.hint_text import hints, show

TWO = numa_info(range(2))

TABLE = (
    # list 0, list 1, restricted v1.18-v1.23, restricted v1.24+
    ("01:T", "10:T", "11:F refuse", "11:F refuse"),
    ("11:T", "01:T", "01:T admit", "01:F refuse"),
    ("11:T", "01:T 10:T 11:T", "01:T admit", "11:T admit"),
    ("11:T", "01:T 10:T 11:F", "01:T admit", "11:F refuse"),
    ("01:F", "01:T", "01:F refuse", "01:F refuse"),
    ("01:F", "10:T", "11:F refuse", "11:F refuse"),
    ("01:T", "01:T", "01:T admit", "01:T admit"),
)
"""docs/rules/topology-manager.md 14, its table of results."""


def merged(release: tuple[int, int], policy: str, *lists: HintList) -> tuple[TopologyHint, bool]:
    return kubelet(release).merging.merge(policy, [{str(place): one} for place, one in enumerate(lists)], TWO)


def verdict(release: tuple[int, int], *lists: HintList) -> str:
    hint, admit = merged(release, "restricted", *lists)
    return f"{show(hint, 2)} {'admit' if admit else 'refuse'}"


@pytest.mark.parametrize("row", TABLE, ids=[f"{row[0]} with {row[1]}" for row in TABLE])
def test_row_of_the_rules(row: tuple[str, ...]) -> None:
    lists = (hints(row[0]), hints(row[1]))

    assert row[2:] == (verdict((1, 23), *lists), verdict((1, 32), *lists))


def every_list() -> list[HintList]:
    """All 27 lists of hints on two nodes: each mask is absent, preferred or not preferred."""
    return [
        HintList(TopologyHint(mask, flag) for mask, flag in zip((1, 2, 3), flags, strict=True) if flag is not None)
        for flags in itertools.product((None, True, False), repeat=3)
    ]


def test_answers_may_be_gathered_before_a_merge_of_today() -> None:
    """What 1.24 would be if the Device Manager still merged its hints by itself."""
    today = kubelet((1, 24)).merging.merge
    answers = [{"v/a": hints("01:T"), "v/b": hints("11:T")}, {"cpu": hints("01:T")}]
    assert today("restricted", answers, TWO)[1] is False
    assert AfterGathering(devices_first, today)("restricted", iter(answers), TWO) == (TopologyHint(1, True), True)
    assert AfterGathering(as_given, today)("restricted", answers, TWO) == today("restricted", answers, TWO)


PAIRS = [pair for pair in itertools.product(every_list(), repeat=2) if all(pair)]


def walk(lists: Sequence[HintList], full: int) -> list[TopologyHint]:
    """The cross product, entry by entry, as the documents describe it."""
    merged = []
    for entry in itertools.product(*lists):
        mask, preferred = full, True
        for affinity, flag in entry:
            mask &= full if affinity is None else affinity
            preferred = preferred and flag
        merged.append(TopologyHint(mask, preferred))
    return merged


def literal_narrowest(lists: Sequence[HintList], full: int = 3) -> TopologyHint:
    """Step 3 of the old merge in rule 13: a running best that starts with (full, not preferred)."""
    best = TopologyHint(full, False)
    for hint in walk(lists, full):
        if not hint.numa_affinity:
            continue
        if hint.preferred != best.preferred:
            if hint.preferred:
                best = hint
        elif (hint.numa_affinity.bit_count(), hint.numa_affinity) < (
            (best.numa_affinity or 0).bit_count(),
            best.numa_affinity,
        ):
            best = hint
    return best


class TestEveryPairOfHintsOnTwoNodes:
    """All 676 pairs of lists of two providers, by the literal rule."""

    def test_there_are_all_of_them(self) -> None:
        assert len(PAIRS) == 26 * 26

    @pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " / ".join(show_list(one) for one in pair))
    def test_a_pair(self, pair: tuple[HintList, HintList]) -> None:
        old = literal_narrowest(pair)

        early = EarlyMerge(best=narrowest, gather=as_given)
        answers = [{"a": pair[0]}, {"b": pair[1]}]
        assert early("best-effort", answers, TWO) == (old, True)
        assert early("restricted", answers, TWO) == (old, old.preferred)


def show_list(listed: HintList) -> str:
    return " ".join(show(one, 2) for one in listed)


LISTS = st.lists(
    st.lists(
        st.builds(TopologyHint, st.one_of(st.none(), st.integers(1, 15)), st.booleans()), min_size=1, max_size=6
    ).map(tuple),
    max_size=3,
)


class TestBefore124:
    @given(LISTS)
    def test_the_fold_is_the_walk(self, lists: list[HintList]) -> None:
        assert literal_narrowest(lists, 15) == narrowest(combinations(lists, 15), 15)

    def test_example_2_mixes_masks(self) -> None:
        """Rule 17, example 2: one node comes out, although each resource needs two."""
        lists = [hints("0011:T 0110:T"), hints("0110:T 1100:T")]

        assert narrowest(combinations(lists, 15), 15) == hints("0010:T")[0]

    def test_example_7_takes_the_narrowest(self) -> None:
        lists = [hints("0011:T 0111:F"), hints("1110:T 0111:F")]

        assert narrowest(combinations(lists, 15), 15) == hints("0010:T")[0]

    @pytest.mark.parametrize("pair", PAIRS[::7], ids=lambda pair: " / ".join(show_list(one) for one in pair))
    def test_single_numa_node_is_the_same_in_every_release_since_118(self, pair: tuple[HintList, HintList]) -> None:
        """Rule 13, item 5."""
        assert len({merged(release, "single-numa-node", *pair) for release in ((1, 18), (1, 23), (1, 32))}) == 1

    def test_a_hint_of_several_nodes_spoiled_single_numa_node_up_to_117(self) -> None:
        assert merged((1, 17), "single-numa-node", hints("11:T"), hints("11:T"))[0] == TopologyHint(3, False)

    def test_the_first_alpha_admits_hints_without_a_common_node(self) -> None:
        assert verdict((1, 16), hints("01:T"), hints("10:T")) == "00:T admit"
        assert verdict((1, 17), hints("01:T"), hints("10:T")) == "11:F refuse"


class TestDevicesMergedInside:
    """The first alpha's Device Manager hands over one list."""

    CASES = (
        ("nothing asked is no opinion", {}, {}),
        ("no preference is no opinion", {"a": NO_PREFERENCE}, {}),
        ("one resource keeps its hints", {"a": hints("01:T 11:F")}, {"devices": hints("01:T 11:F")}),
        (
            "masks are shared, preferred where both prefer",
            {"a": hints("01:T 10:T 11:F"), "b": hints("10:T 11:F")},
            {"devices": hints("01:F 10:T 11:F")},
        ),
        ("without a common node nothing is left", {"a": hints("01:T"), "b": hints("10:T")}, {"devices": ()}),
        (
            "one impossible resource makes all impossible",
            {"a": hints("01:T"), "b": CANNOT_FIT},
            {"devices": CANNOT_FIT},
        ),
    )

    @pytest.mark.parametrize(("answer", "merged"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
    def test_row(self, answer: dict[str, HintList], merged: dict[str, HintList]) -> None:
        assert merge_devices(answer, 3) == merged


COMBINED = (
    # sentence, release, policy, combination, merged
    ("today masks must be equal", (1, 32), "restricted", "11:T 01:T", "01:F"),
    ("today one that is not preferred is enough", (1, 32), "restricted", "01:T 01:F", "01:F"),
    ("today an empty mask is not preferred", (1, 32), "restricted", "10:T 01:T", "00:F"),
    ("hints without a mask do not disturb", (1, 32), "best-effort", "nil:T 01:T", "01:T"),
    ("up to 1.23 masks were mixed", (1, 23), "restricted", "11:T 01:T", "01:T"),
    ("up to 1.23 an empty mask was not preferred", (1, 23), "restricted", "10:T 01:T", "00:F"),
    ("the first alpha preferred no node at all", (1, 16), "restricted", "10:T 01:T", "00:T"),
)


@pytest.mark.parametrize(
    ("release", "policy", "given_", "expected"), [case[1:] for case in COMBINED], ids=[case[0] for case in COMBINED]
)
def test_one_combination(release: tuple[int, int], policy: str, given_: str, expected: str) -> None:
    assert show(kubelet(release).merging.combine(policy, hints(given_), 3), 2) == expected
