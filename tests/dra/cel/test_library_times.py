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
    # durations: units, fractions, and their parts, which are whole and nearer to 0
    'duration("1.5h") == duration("90m") && duration(".5s") == duration("500ms") && duration("1.s") == duration("1s")',
    'duration("1us") == duration("1000ns") && duration("1µs") == duration("1us")',
    'duration("1μs") == duration("1us") && int(duration("1us")) == 1000 && duration("1ms") == duration("1000µs")',
    'duration("1h").getHours() == 1 && duration("59m59.999999999s").getHours() == 0',
    'duration("1m").getMinutes() == 1 && duration("59.999999999s").getMinutes() == 0',
    'duration("1s").getSeconds() == 1 && duration("0.999999999s").getSeconds() == 0',
    'duration("1ms").getMilliseconds() == 1 && duration("999999ns").getMilliseconds() == 0',
    'duration("-3h59m59.9995s").getHours() == -3 && duration("-3h59m59.9995s").getMinutes() == -239',
    'duration("-3h59m59.9995s").getSeconds() == -14399 && duration("-3h59m59.9995s").getMilliseconds() == -14399999',
    'duration("9223372036854775807ns") > duration("-9223372036854775807ns")',
    'duration("3s") - duration("1s") == duration("2s") && duration(duration("1s")) == duration("1s")',
    'string(duration("0s")) == "0s" && string(duration("1ns")) == "0.000000001s" && string(duration("1m")) == "60s"',
    # points in time: their parts in a zone, their ends
    'timestamp("2026-01-02T03:04:05.678Z").getMilliseconds() == 678',
    'timestamp("2026-01-02T03:04:05.678Z").getMilliseconds("+05:30") == 678',
    'timestamp("2026-01-02T03:04:05Z").getHours("+05:30") == 8 && timestamp(7200).getHours("05:00") == 7',
    'timestamp("2026-01-02T03:04:05Z").getMinutes("+05:30") == 34 && timestamp(59).getSeconds("-23:59") == 59',
    'timestamp("2026-01-02T03:04:05Z").getDate("-04:00") == 1 && timestamp("2026-01-02T03:59:05Z").getMinutes() == 59',
    '["", "Z", "UTC", "GMT"].all(zone, timestamp(0).getHours(zone) == 0)',
    'timestamp("0001-01-01T00:00:00Z").getFullYear() == 1',
    'timestamp("9999-12-31T23:59:59.999999999Z").getMonth() == 11',
    'timestamp("2024-02-29T00:00:00Z").getDayOfYear() == 59 && timestamp("2000-02-29T00:00:00Z").getDate() == 29',
    'string(timestamp("2026-01-02T03:04:05.120Z")) == "2026-01-02T03:04:05.12Z"',
    'duration("1s") + timestamp(1) == timestamp(2) && timestamp(2) - duration("1s") == timestamp(1)',
    'timestamp(timestamp(1)) == timestamp(1) && int(timestamp("1969-12-31T23:59:58.5Z")) == -2',
    "timestamp(1) <= timestamp(1) && timestamp(1) >= timestamp(1)",
    "timestamp(1) < timestamp(2) && timestamp(2) > timestamp(1)",
    '!(timestamp(1) < timestamp(1)) && !(timestamp(1) > timestamp(1)) && !(duration("1s") < duration("1s"))',
    # clauses of `format`
    '"%f %e %.0f".format([1.5, 1500.0, 2]) == "1.500000 1.500000e+03 2" && "%d".format([1.5]) == "1.5"',
    '"%b %b %x %X %o".format([true, 5, 255, 255, 8]) == "1 101 ff FF 10"',
    '"%x %X".format(["hi", b"é"]) == "6869 C3A9"',
    '"%s %s %s".format([null, b"ab", type(1)]) == "null ab int" && "%s %s".format([1.0, 2u]) == "1 2"',
    '"%s".format([{"b": 1, "a": [true]}]) == "{a: [true], b: 1}"',
    '"%s %s".format([duration("90s"), timestamp(0)]) == "90s 1970-01-01T00:00:00Z" && "%%%s".format([1]) == "%1"',
]


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true(text: str) -> None:
    assert matches(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('duration("1d") == duration("0")', "invalid duration"),
        ('timestamp("2026-13-01T00:00:00Z") == timestamp(0)', "RFC 3339"),
        ('duration("1") == duration("0")', "invalid duration"),
        ('duration("-") == duration("0")', "invalid duration"),
        ('duration("1s ") == duration("0")', "invalid duration"),
        (f'duration("{"1s" * 51}") == duration("0")', "invalid duration"),
        ('duration("9223372036854775808ns") == duration("0")', "duration overflow"),
        ('timestamp("9999-01-01T00:00:00Z") - timestamp(0) == duration("0")', "duration overflow"),
        ('timestamp("0000-01-01T00:00:00Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("2026-00-01T00:00:00Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("2025-02-29T00:00:00Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("2026-01-01T24:00:00Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("2026-01-01T00:60:00Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("2026-01-01T00:00:60Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("2026-01-01T00:00:00") == timestamp(0)', "RFC 3339"),
        ('timestamp("2026-01-01T00:00:00.1234567890Z") == timestamp(0)', "RFC 3339"),
        ('timestamp("0001-01-01T00:00:00Z") - duration("1ns") == timestamp(0)', "timestamp overflow"),
        ('timestamp(0).getHours("+24:00") == 0', "unknown time zone"),
        ('timestamp(0).getHours("+05:60") == 0', "unknown time zone"),
        ('"%f".format([true]) == "a"', "could not parse formatting clause: %f of bool"),
        ('"%d".format([true]) == "a"', "could not parse formatting clause"),
        ('"%e".format(["a"]) == "a"', "could not parse formatting clause"),
        ('"%b".format(["a"]) == "a"', "could not parse formatting clause"),
        ('"%o".format(["a"]) == "a"', "could not parse formatting clause"),
        ('"%x".format([1.5]) == "a"', "could not parse formatting clause"),
        ('"%q".format([1]) == "a"', "could not parse formatting clause"),
        ('"%s".format([quantity("1Gi")]) == "a"', "no such overload"),
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
