"""Quantities: the shapes, forms and canonical texts of docs/rules/kubelet-files.md section 9."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.model import quantity
from numalign.model.quantity import Quantity, QuantityError
from tests.dice import draws

SHAPE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX = "unable to parse quantity's suffix"
NUMBER = "unable to parse numeric part of quantity"


@pytest.mark.parametrize(
    ("text", "canonical", "straight", "from_canonical"),
    [
        ("1.0", "1", None, 1),
        ("1.5G", "1500M", 1500000000, 1500000000),
        ("12E2", "1200", 1200, 1200),
        ("2E", "2E", 2 * 10**18, 2 * 10**18),
        ("1.5Gi", "1536Mi", None, 1610612736),
        ("1.5Ki", "1536", None, 1536),
        ("0.1Mi", "104857600m", None, None),
        ("100Ti", "100Ti", None, None),
        ("10000Gi", "10000Gi", 10737418240000, 10737418240000),
        ("102400Gi", "100Ti", None, None),
        ("1.5n", "2n", None, None),
    ],
)
def test_the_table_of_the_rules(text: str, canonical: str, straight: int | None, from_canonical: int | None) -> None:
    """The worked examples at the end of the section."""
    read = quantity.parse(text)

    assert read.int64 == straight
    assert quantity.canonical(read) == canonical
    assert quantity.parse(canonical).int64 == from_canonical


@pytest.mark.parametrize("text", ["m", "Gi", ".", "+", "-", "0", "-0", "+.", "E", "0Pi", "00Ei", "0e9", "0e2147483647"])
def test_zero_has_many_texts(text: str) -> None:
    """Digits may be missing altogether (rule 47)."""
    assert quantity.canonical(quantity.parse(text)) == "0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", SHAPE),
        (" 1", SHAPE),
        ("1 ", SHAPE),
        ("1\n", SHAPE),
        ("1,5", SHAPE),
        ("1.2.3", SHAPE),
        ("0x10", SHAPE),
        ("٣", SHAPE),
        ("²", SHAPE),
        ("NaN", SHAPE),
        ("1e3m", SHAPE),
        ("K", SUFFIX),
        ("1ki", SUFFIX),
        ("1e", SUFFIX),
        ("1Kim", SUFFIX),
        ("5-3", SUFFIX),
        ("1Ki3", SUFFIX),
        ("1i", SUFFIX),
        ("i", SUFFIX),
        ("1e9223372036854775808", SUFFIX),
        ("Pi", NUMBER),
        (".Ei", NUMBER),
        (".e-12", NUMBER),
        ("e-12", NUMBER),
        ("1e2147483647", "numbers of more than 4000 digits are not read"),
        ("9" * 5000, "numbers of more than 4000 digits are not read"),
    ],
)
def test_what_is_no_quantity_is_refused_in_the_kubelets_words(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as error:
        quantity.parse(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("1e4294967296", 10**9),  # the low 32 bits of the exponent count
        ("1e4294967294", 10**7),
        ("1e-2147483648", 1),  # rounded away from zero
        ("-1e-2147483648", -1),
        ("8Ei", (2**63 - 1) * 10**9),  # cut
        ("-9999Ei", -(2**63 - 1) * 10**9),
        ("9223372036854775808", 2**63 * 10**9),  # decimal ones are not
        (".5", 5 * 10**8),
        ("+1.", 10**9),
        ("0.0000000001Ki", 103),
    ],
)
def test_values_are_exact_to_a_billionth(text: str, nano: int) -> None:
    assert quantity.parse(text).nano == nano


@pytest.mark.parametrize(
    ("text", "whole", "milli"),
    [("500m", 1, 500), ("1.5", 2, 1500), ("-5m", -1, -5), ("-1.5n", 1, 1), ("9.3E", 93 * 10**17, 93 * 10**20)],
)
def test_whole_units_and_thousandths_round_away_from_zero(text: str, whole: int, milli: int) -> None:
    """Rule 53, with its odd case of a negative long form."""
    assert (quantity.value(quantity.parse(text)), quantity.milli(quantity.parse(text))) == (whole, milli)


@pytest.mark.parametrize(
    ("text", "canonical", "whole"),
    [
        ("0.0005", "1m", None),
        ("1.5Gi", "1536Mi", 1610612736),
        ("1.0", "1", 1),
        ("1000m", "1", 1),
        ("0.1Mi", "104857600m", None),
        ("1e0", "1", 1),
        ("0Ki", "0", 0),
        ("2.5e3", "2500", 2500),
        ("123456789012345678e1", "1234567890123456780", None),
        ("0.5Ki", "512", 512),
        ("1000E", "1", 1),
    ],
)
def test_the_api_server_rounds_to_thousandths_and_rewrites(text: str, canonical: str, whole: int | None) -> None:
    """Rule 55."""
    assert quantity.delivered(quantity.parse(text)) == quantity.parse(canonical)
    assert quantity.delivered(quantity.parse(text)).int64 == whole


def test_a_sum_has_the_format_of_its_first_addend_that_is_not_zero() -> None:
    """Rule 54."""
    total = quantity.add(quantity.add(quantity.parse("0"), quantity.parse("1Gi")), quantity.parse("1"))

    assert total == Quantity((2**30 + 1) * 10**9, "BinarySI", 2**30 + 1)


@draws(200)
@given(st.text(alphabet="0123456789.+-eEinumkKMGTP ", max_size=24))
def test_reading_never_fails_in_another_way_and_canonical_texts_stay(text: str) -> None:
    """A canonical text reads as the same amount (below the lost suffixes), and is its own canonical text."""
    try:
        read = quantity.parse(text)
    except QuantityError:
        return
    canonical = quantity.canonical(read)
    again = quantity.parse(canonical)

    assert quantity.canonical(again) == canonical
    if abs(read.nano) < 10**27:
        assert again.nano == read.nano


@draws(120)
@given(st.integers(0, 10**20), st.sampled_from(["", "m", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]))
def test_the_short_way_gives_what_the_general_one_gives(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"

    assert quantity.parse(text) == quantity._parse_any(text)


@draws(120)
@given(st.text(alphabet="0123456789.-eimkKMGTP", max_size=20))
def test_the_quick_delivery_gives_what_rewriting_gives(text: str) -> None:
    try:
        read = quantity.parse(text)
    except QuantityError:
        return
    if read.nano % 10**6 == 0:
        assert quantity.delivered(read)[:3] == quantity.parse(quantity.canonical(read))[:3]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "0"), (500, "0.5"), (19_500, "19.5"), (-1, "-0.001"), (10**400 + 1, f"1{'0' * 396}0.001")],
)
def test_thousandths_are_written_exactly_however_many(number: int, expected: str) -> None:
    assert quantity.of_thousandths(number) == expected
