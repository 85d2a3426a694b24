"""Durations, points in time, and `format` (docs/rules/dra.md D-52)."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.cel.errors import EvaluationError
from tests.dra.cel.selectors import matches

TRUE = [
    'duration("1h30m").getMinutes() == 90',
    'duration("-1.5s") < duration("0") && duration("2s") >= duration("2000ms")',
    'duration("90s") + duration("30s") == duration("2m")',
    'string(duration("-90.5s")) == "-90.5s"',
    'timestamp("2026-01-02T03:04:05Z").getFullYear() == 2026',
    'timestamp("2026-01-02T03:04:05.25Z") - timestamp("2026-01-02T03:04:04Z") == duration("1250ms")',
    'timestamp("2026-01-02T03:04:05+01:00") == timestamp("2026-01-02T02:04:05Z")',
    'timestamp("2026-01-01T23:00:00Z").getHours("-02:00") == 21',
    'timestamp("2026-11-28T00:00:00Z").getDayOfWeek() == 6',
    'timestamp("2026-11-28T00:00:00Z").getDayOfMonth() == 27 && timestamp("2026-11-28T00:00:00Z").getDate() == 28',
    'timestamp("2026-02-01T00:00:00Z").getMonth() == 1 && timestamp("2026-02-01T00:00:00Z").getDayOfYear() == 31',
    'string(timestamp("1968-12-31T00:00:00Z") + duration("24h")) == "1969-01-01T00:00:00Z"',
    'timestamp("0072-12-31T00:00:00Z").getFullYear() == 72 && timestamp("0003-01-01T00:00:00Z").getFullYear() == 3',
    'string(timestamp(0)) == "1970-01-01T00:00:00Z" && int(timestamp(7)) == 7',
    '"%s-%d %.2f %x %b %%".format(["a", 3, 1.5, 255, 5]) == "a-3 1.50 ff 101 %"',
    '"%s %s".format([[1, 2], true]) == "[1, 2] true"',
]


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true(text: str) -> None:
    assert matches(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('duration("1d") == duration("0")', "invalid duration"),
        ('timestamp("2026-13-01T00:00:00Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("9999-12-31T23:59:59Z") + duration("1s") == timestamp(0)', "timestamp overflow"),
        ('timestamp(0).getHours("Mars/Base") == 0', "unknown time zone"),
        ('"%d".format(["a"]) == "a"', "could not parse formatting clause"),
        ('"%s".format([]) == "a"', "out of range"),
        ('"a".format([1]) == "a"', "too many arguments"),
    ],
)
def test_what_fails_while_it_runs(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(text)


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59)))
def test_a_calendar_is_as_pythons(moment: datetime) -> None:
    text = moment.replace(microsecond=0).isoformat() + "Z"
    time = f'timestamp("{text}")'
    parts = {
        "getFullYear": moment.year,
        "getMonth": moment.month - 1,
        "getDate": moment.day,
        "getDayOfYear": moment.timetuple().tm_yday - 1,
        "getDayOfWeek": moment.isoweekday() % 7,
        "getHours": moment.hour,
        "getSeconds": moment.second,
    }
    assert matches(" && ".join(f"{time}.{name}() == {part}" for name, part in parts.items()))
    assert matches(f'string({time}) == "{text}"')
