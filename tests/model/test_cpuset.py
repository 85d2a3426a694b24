"""CPU lists: docs/rules/cpu-manager.md 4.10."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.model import cpuset
from numalign.model.cpuset import CPUSetError
from tests.dice import draws


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("0", "0"),
        ("3,1,2", "1-3"),
        ("0-3,8", "0-3,8"),
        ("+1-+3", "1-3"),
        ("007", "7"),
        ("0-3,2-5,5", "0-5"),
        ("0,2", "0,2"),
        ("0000000000000000000000000000007", "7"),
    ],
)
def test_lists_are_read_in_any_order_and_printed_ascending(text: str, printed: str) -> None:
    assert cpuset.format_set(cpuset.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3-1", 'invalid range "3-1" (3 > 1)'),
        ("1--3", 'invalid range "1--3" (1 > -3)'),
        ("-1", 'strconv.Atoi: parsing "": invalid syntax'),
        ("0, 1", 'strconv.Atoi: parsing " 1": invalid syntax'),
        ("0,", 'strconv.Atoi: parsing "": invalid syntax'),
        ("1\n", r'strconv.Atoi: parsing "1\n": invalid syntax'),
        ('"', r'strconv.Atoi: parsing "\"": invalid syntax'),
        ("\x00", r'strconv.Atoi: parsing "\x00": invalid syntax'),
        ("٣", 'strconv.Atoi: parsing "٣": invalid syntax'),
        ("1_0", 'strconv.Atoi: parsing "1_0": invalid syntax'),
        ("9223372036854775808", 'strconv.Atoi: parsing "9223372036854775808": value out of range'),
        ("1-99999999999999999999", 'strconv.Atoi: parsing "99999999999999999999": value out of range'),
        ("0-4294967295", "CPU id 4294967295 is too large: numalign reads ids up to 1048576"),
        ("9223372036854775807", "CPU id 9223372036854775807 is too large: numalign reads ids up to 1048576"),
    ],
)
def test_what_is_no_list_is_refused_in_the_kubelets_words(text: str, message: str) -> None:
    with pytest.raises(CPUSetError) as error:
        cpuset.parse(text)
    assert str(error.value) == message


def test_ranges_have_no_bound() -> None:
    """A list can be understood without building the set."""
    assert cpuset.ranges("9-9223372036854775807,1,2,8") == [(1, 2), (8, 2**63 - 1)]


@given(st.sets(st.integers(0, 300)))
def test_print_and_read_come_back_to_the_same_set(members: set[int]) -> None:
    text = cpuset.format_set(cpuset.from_ids(members))

    assert set(cpuset.ids(cpuset.parse(text))) == members
    assert [member for low, high in cpuset.ranges(text) for member in range(low, high + 1)] == sorted(members)


@draws(120)
@given(st.text(alphabet="0123456789,-+ a\n", max_size=30))
def test_no_text_fails_in_another_way(text: str) -> None:
    try:
        members = cpuset.parse(text)
    except CPUSetError:
        return
    assert cpuset.parse(cpuset.format_set(members)) == members
