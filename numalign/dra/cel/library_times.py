"""Durations and points in time, and `format`, which writes any value (docs/rules/dra.md D-52)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from numalign.dra.cel.errors import NO_OVERLOAD, EvaluationError
from numalign.dra.cel.overload import Overload, Table, text_cost
from numalign.dra.cel.types import BOOL, DURATION, DYN, INT, STRING, TIMESTAMP, Type, list_of
from numalign.dra.cel.values import INT_MAX, Duration, Timestamp, TypeName, Uint, Value, plain_key, type_name
from numalign.values import NamedTuple

SECOND: Final = 10**9
_UNITS: Final = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART: Final = r"(?:(\d+)(?:\.(\d*))?|\.(\d+))(ns|us|µs|μs|ms|s|m|h)"
_FIRST, _LAST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
_MOMENT: Final = r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)"


class Moment(NamedTuple):
    """A point in time as a calendar and a clock show it."""

    year: int
    month: int
    day: int
    seconds: int
    """Of the day."""
    days: int
    """Since 1970."""


def _days(year: int, month: int, day: int) -> int:
    """Count the days since 1970; years begin in March, so that a leap day ends one."""
    years = year - (month <= 2)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return years * 365 + years // 4 - years // 100 + years // 400 + of_year - 719_468


def _date(days: int) -> tuple[int, int, int]:
    """Find year, month and day (the reverse of `_days`)."""
    year = 1970 + days * 400 // 146_097
    year += (_days(year + 1, 1, 1) <= days) - (_days(year, 1, 1) > days)
    month = next(month for month in range(12, 0, -1) if _days(year, month, 1) <= days)
    return year, month, days - _days(year, month, 1) + 1


def _duration(text: str) -> Duration:
    """Read a duration as Go writes it: `1h30m`, `-1.5s`, `0`."""
    sign, body = (-1 if text[:1] == "-" else 1), text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return Duration(0)
    if len(text) > 100 or not re.fullmatch(f"(?:{_PART})+", body, re.ASCII):
        raise EvaluationError(f'time: invalid duration "{text}"')
    total = 0
    for whole, fraction, bare, unit in re.findall(_PART, body, re.ASCII):
        digits = fraction or bare
        total += int(whole or 0) * _UNITS[unit] + (int(digits) * _UNITS[unit] // 10 ** len(digits) if digits else 0)
    return _lasting(sign * total)


def _lasting(nanos: int) -> Duration:
    if abs(nanos) > INT_MAX:
        raise EvaluationError("duration overflow")
    return Duration(nanos)


def _at(nanos: int) -> Timestamp:
    if not _FIRST <= nanos <= _LAST:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos)


def _timestamp(text: str) -> Timestamp:
    """Read a point in time as RFC 3339 has it."""
    found = re.fullmatch(_MOMENT, text, re.ASCII)
    if found is not None:
        year, month, day, hour, minute, second = map(int, found.groups()[:6])
        whole = _days(year, month, day) if 1 <= month <= 12 else 0
        if year and _date(whole) == (year, month, day) and hour < 24 and minute < 60 and second < 60:
            seconds = whole * 86_400 + hour * 3600 + minute * 60 + second - _offset(found[8])
            return _at(seconds * SECOND + int((found[7] or "").ljust(9, "0")))
    raise EvaluationError(f'parsing time "{text:.60}": not RFC 3339')


def _offset(zone: str) -> int:
    """Read a fixed offset, in seconds; the names of a database of time zones are not known here."""
    if zone in ("", "Z", "UTC", "GMT"):
        return 0
    found = re.fullmatch(r"([+-]?)(\d\d):([0-5]\d)", zone, re.ASCII)
    if found is None or int(found[2]) > 23:
        raise EvaluationError(f"unknown time zone {zone:.60}")
    return (int(found[2]) * 3600 + int(found[3]) * 60) * (-1 if found[1] == "-" else 1)


def _moment(time: Timestamp, zone: str = "") -> Moment:
    days, seconds = divmod(time.nanos // SECOND + _offset(zone), 86_400)
    return Moment(*_date(days), seconds=seconds, days=days)


def _of_time(take: Callable[[Moment], int]) -> tuple[Overload, ...]:
    def run(time: Timestamp, zone: str = "") -> int:
        return take(_moment(time, zone))

    return Overload((TIMESTAMP,), INT, run), Overload((TIMESTAMP, STRING), INT, run)


def _of_both(take: Callable[[Moment], int], unit: int) -> tuple[Overload, ...]:
    return *_of_time(take), Overload((DURATION,), INT, lambda lasting: int(abs(lasting.nanos) // unit * _sign(lasting)))


def _sign(lasting: Duration) -> int:
    return -1 if lasting.nanos < 0 else 1


def _fraction(nanos: int) -> str:
    return f".{nanos:09}".rstrip("0").rstrip(".")


def text_of_duration(lasting: Duration) -> str:
    """Write a duration in seconds, as `string()` does: `90s`, `1.5s`."""
    whole, rest = divmod(abs(lasting.nanos), SECOND)
    return f"{'-' * (lasting.nanos < 0)}{whole}{_fraction(rest)}s"


def text_of_time(time: Timestamp) -> str:
    """Write a point in time, as `string()` does: RFC 3339 in UTC."""
    year, month, day, seconds, _ = _moment(time)
    hours, rest = divmod(seconds, 3600)
    clock = f"{hours:02}:{rest // 60:02}:{rest % 60:02}{_fraction(time.nanos % SECOND)}"
    return f"{year:04}-{month:02}-{day:02}T{clock}Z"


# format


_CLAUSE: Final = re.compile(r"%(?:\.(\d{1,3}))?(.?)", re.DOTALL)


def _format(text: str, values: list[Value]) -> str:
    """Put values in the place of clauses, as CEL's string extension does."""
    rest = iter(values)

    def write(found: re.Match[str]) -> str:
        if found[2] == "%":
            return "%"
        try:
            value = next(rest)
        except StopIteration:
            raise EvaluationError(f"index {len(values)} out of range") from None
        return _clause(found[2], value, int(found[1] or 6))

    result = _CLAUSE.sub(write, text)
    if next(rest, rest) is not rest:
        raise EvaluationError("too many arguments supplied to string.format")
    return result


def _clause(kind: str, value: Value, places: int) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == "s":
        return written(value)
    if kind == "d" and (whole or isinstance(value, float)):
        return str(int(value)) if whole else written(value)
    if kind in ("f", "e") and (whole or isinstance(value, float)):
        return format(value, f".{places}{kind}")
    if kind == "b" and (whole or isinstance(value, bool)):
        return format(int(value), "b")
    if kind in ("x", "X", "o") and whole:
        return format(int(value), kind)
    if kind in ("x", "X") and isinstance(value, str | bytes):
        digits = (value.encode() if isinstance(value, str) else value).hex()
        return digits.upper() if kind == "X" else digits
    raise EvaluationError(f"could not parse formatting clause: %{kind} of {type_name(value)}")


def written(value: Value) -> str:
    """Write any value as `%s` does."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{written(plain_key(key))}: {written(one)}' for key, one in value.items()))}}}"
    plain: dict[type, Callable[[Any], str]] = {
        str: str,
        int: str,
        Uint: lambda number: str(int(number)),
        float: lambda number: f"{number:g}",
        bool: lambda flag: "true" if flag else "false",
        bytes: lambda data: data.decode("utf-8", "replace"),
        type(None): lambda _: "null",
        TypeName: lambda kind: kind.name,
        Duration: text_of_duration,
        Timestamp: text_of_time,
    }
    write = plain.get(type(value))
    if write is None:
        raise EvaluationError(NO_OVERLOAD)
    return write(value)


def _compared(compare: Callable[[int, int], bool]) -> tuple[Overload, ...]:
    return tuple(
        Overload((kind, kind), BOOL, lambda one, other: compare(one.nanos, other.nanos))
        for kind in (DURATION, TIMESTAMP)
    )


def _sum(one: Type, other: Type, result: Type, sign: int = 1) -> Overload:
    make = _at if result == TIMESTAMP else _lasting
    return Overload((one, other), result, lambda left, right: make(left.nanos + sign * right.nanos))


FUNCTIONS: Final[Table] = {
    "duration": (Overload((STRING,), DURATION, _duration, text_cost), Overload((DURATION,), DURATION, lambda one: one)),
    "timestamp": (
        Overload((STRING,), TIMESTAMP, _timestamp, text_cost),
        Overload((INT,), TIMESTAMP, lambda seconds: _at(seconds * SECOND)),
        Overload((TIMESTAMP,), TIMESTAMP, lambda one: one),
    ),
    "string": (
        Overload((DURATION,), STRING, text_of_duration),
        Overload((TIMESTAMP,), STRING, text_of_time),
    ),
    "int": (
        Overload((TIMESTAMP,), INT, lambda time: time.nanos // SECOND),
        Overload((DURATION,), INT, lambda lasting: lasting.nanos),
    ),
    "+": (
        _sum(DURATION, DURATION, DURATION),
        _sum(TIMESTAMP, DURATION, TIMESTAMP),
        _sum(DURATION, TIMESTAMP, TIMESTAMP),
    ),
    "-": (
        _sum(DURATION, DURATION, DURATION, -1),
        _sum(TIMESTAMP, DURATION, TIMESTAMP, -1),
        _sum(TIMESTAMP, TIMESTAMP, DURATION, -1),
    ),
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
}

METHODS: Final[Table] = {
    "getDate": _of_time(lambda time: time.day),
    "getDayOfMonth": _of_time(lambda time: time.day - 1),
    "getDayOfWeek": _of_time(lambda time: (time.days + 4) % 7),
    "getDayOfYear": _of_time(lambda time: time.days - _days(time.year, 1, 1)),
    "getFullYear": _of_time(lambda time: time.year),
    "getMonth": _of_time(lambda time: time.month - 1),
    "getHours": _of_both(lambda time: time.seconds // 3600, 3600 * SECOND),
    "getMinutes": _of_both(lambda time: time.seconds // 60 % 60, 60 * SECOND),
    "getSeconds": _of_both(lambda time: time.seconds % 60, SECOND),
    "getMilliseconds": (
        Overload((TIMESTAMP,), INT, lambda time: time.nanos % SECOND // 10**6),
        Overload((TIMESTAMP, STRING), INT, lambda time, _: time.nanos % SECOND // 10**6),
        Overload((DURATION,), INT, lambda lasting: abs(lasting.nanos) // 10**6 * _sign(lasting)),
    ),
    "format": (Overload((STRING, list_of(DYN)), STRING, _format, lambda text, _: text_cost(text)),),
}
