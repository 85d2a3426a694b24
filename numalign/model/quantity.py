"""Kubernetes quantities ("500m", "2Gi") as exact numbers, with the kubelet's own reading rules.

Stands for docs/rules/kubelet-files.md section 9. `value` rounds up to whole bytes or CPUs, as the sums of scheduler and
kubelet do. `int64` does not round: the Memory Manager refuses what is no whole number of bytes (`3.73Gi`).
`parse` is called for every amount of every pod, so texts of the common shapes (`2`, `4Gi`, `500m`) take a short way
that gives what the general one gives.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from numalign.values import NamedTuple

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

Bytes: TypeAlias = int
"""An amount of memory or storage."""

MAX_DIGITS: Final = 4000
"""Longest number that is read, in digits before the point. The kubelet has no bound; a hostile `1e2147483647` would
keep it (and us) busy for ever."""

INT64_MAX: Final = 2**63 - 1
"""The kubelet reads amounts above it as this one."""
NANO: Final = 10**9
"""Billionths of one: amounts are whole numbers of them."""
MILLI: Final = 10**6
"""Billionths of a thousandth: of a millicore."""
MEBI: Final = 1 << 20
GIBI: Final = 1 << 30

_SHAPE_ERROR = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # the kubelet's text
)
_SUFFIX_ERROR = "unable to parse quantity's suffix"
_NUMBER_ERROR = "unable to parse numeric part of quantity"
_TOO_LONG = f"numbers of more than {MAX_DIGITS} digits are not read"

_SHAPE: Final = r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+)([+-]?[0-9]*+)"
_BINARY: Final = {"Ki": (10, 11), "Mi": (20, 8), "Gi": (30, 5), "Ti": (40, 2), "Pi": (50, 0), "Ei": (60, 0)}
"""Suffix -> power of two, and how many digits a short form may have (rule 50)."""
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_NAMES: Final = {power: name for name, power in _DECIMAL.items()}
_SAFE: Final = 10**15
"""Up to this size the canonical text of a whole number is short, so readable."""


class QuantityError(ValueError):
    """A text is no quantity; the message is the kubelet's (docs/rules/kubelet-files.md 47-50)."""


class Quantity(NamedTuple):
    """An exact amount."""

    nano: int
    """The value in billionths."""
    format: Format
    int64: int | None
    """The whole number the kubelet reads straight from the text this came from, else None (rule 51)."""
    long_form: bool = False
    """Whether the text was in the long form and not cut (rule 50); only `value` and `milli` ask."""


def parse(text: str) -> Quantity:
    """Read a quantity (docs/rules/kubelet-files.md 47-51).

    Raises:
        QuantityError: the text is no quantity, or has more than `MAX_DIGITS` digits.
    """
    if text.isascii():
        if text.isdecimal():
            if len(text) <= 18:
                number = int(text)
                return Quantity(number * NANO, "DecimalSI", number)
        elif text[-1:] == "i":
            head = text[:-2]
            bits, digits = _BINARY.get(text[-2:], (0, 0))
            if len(head) <= digits and head.isdecimal():
                number = int(head) << bits
                return Quantity(number * NANO, "BinarySI", number)
        elif text[-1:] == "m":
            head = text[:-1]
            if len(head) <= 18 and head.isdecimal():
                return Quantity(int(head) * 1_000_000, "DecimalSI", None)
    return _parse_any(text)


def mended(text: str) -> tuple[str, str] | None:
    """Return the quantity that a text such as `2GB` means, and why in half a sentence; None: it means none."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kKMGTP])(i?)B", text)
    if match is None:
        return None
    number, letter, binary = match.groups()
    if binary:
        return text[:-1], "a quantity has no B"
    power = "KMGTP".index(letter.upper()) + 1
    more = 100 * 1024**power / 1000**power - 100
    same = number + (letter.lower() if power == 1 else letter)
    return same, f"the same amount; {number}{letter.upper()}i is {more:.0f}% more"


def fix_of(value: object) -> str:
    """Say which quantity a text such as `2GB` means; empty: it means none."""
    meant = mended(value) if isinstance(value, str) else None
    return f"; fix: write {meant[0]} ({meant[1]})" if meant else ""


def _parse_any(text: str) -> Quantity:
    """Read a text of any shape, rule by rule."""
    match = re.fullmatch(_SHAPE, text) if text else None
    if match is None:
        raise QuantityError(_SHAPE_ERROR)
    sign, before, after, letters, tail = match.groups(default="")
    numberless = not before and not after
    before = before.lstrip("0") or "0"
    if len(before) > MAX_DIGITS or len(after) > MAX_DIGITS:
        raise QuantityError(_TOO_LONG)
    if letters in _BINARY and not tail:
        return _binary(before, after, letters, sign == "-", numberless)
    form: Format = "DecimalSI"
    if letters in _DECIMAL and not tail:
        power = _DECIMAL[letters]
    elif letters in ("e", "E"):
        power, form = _exponent(tail), "DecimalExponent"
    else:
        raise QuantityError(_SUFFIX_ERROR)
    short = len(before) + len(after) <= 18 and power - len(after) >= -9
    if numberless and not short:
        raise QuantityError(_NUMBER_ERROR)
    digits = before + after
    number = int(digits)
    if number and len(before) + power > MAX_DIGITS:
        raise QuantityError(_TOO_LONG)
    nano = _scaled(number, power - len(after) + 9, len(digits))
    if sign == "-":
        nano = -nano
    readable = short and power >= len(after) and abs(nano) <= INT64_MAX * NANO
    return Quantity(nano, form, nano // NANO if readable else None, not short)


def _binary(before: str, after: str, suffix: str, negative: bool, numberless: bool) -> Quantity:
    """Read a number with a binary suffix (rules 50, 51)."""
    bits, short = _BINARY[suffix]
    number = int(before + after) << bits
    if not after and len(before) <= short:
        whole = -number if negative else number
        return Quantity(whole * NANO, "BinarySI", whole)
    if numberless:
        raise QuantityError(_NUMBER_ERROR)
    nano = _scaled(number, 9 - len(after), len(before + after) + 19)
    form: Format = "DecimalSI" if 0 < nano < NANO else "BinarySI"
    cut = nano > INT64_MAX * NANO
    if cut:
        nano = INT64_MAX * NANO
    return Quantity(-nano if negative else nano, form, None, not cut)


def exponent(text: str) -> int | None:
    """Find the power of ten that the kubelet counts a readable text in; None: it keeps the long form (rules 38, 50)."""
    match = re.fullmatch(_SHAPE, text)
    if match is None:
        raise QuantityError(_SHAPE_ERROR)
    _, before, after, letters, tail = match.groups(default="")
    digits = max(1, len(before.lstrip("0")))
    if letters in _BINARY and not tail:
        return 0 if not after and digits <= _BINARY[letters][1] else None
    power = (_exponent(tail) if tail else _DECIMAL[letters]) - len(after)
    return power if digits + len(after) <= 18 and power >= -9 else None


def _exponent(tail: str) -> int:
    """Read a decimal exponent: a signed 64-bit number of which the low 32 bits count (rule 48)."""
    digits = tail.lstrip("+-")
    if not digits or len(digits.lstrip("0")) > 19:
        raise QuantityError(_SUFFIX_ERROR)
    power = int(tail)
    if not -(2**63) <= power < 2**63:
        raise QuantityError(_SUFFIX_ERROR)
    return (power + 2**31) % 2**32 - 2**31


def _scaled(number: int, power: int, digits: int) -> int:
    """Multiply by a power of ten, rounding away from zero; `digits` bounds the number's length."""
    if power >= 0:
        return number * int(10**power) if number else 0
    if -power > digits:
        return 1 if number else 0
    return -(-number // int(10**-power))


def canonical(quantity: Quantity) -> str:
    """Write the canonical text (rule 52). Above `E` the decimal suffix is lost, as it is in Kubernetes."""
    nano = quantity.nano
    if not nano:
        return "0"
    if quantity.format == "BinarySI" and nano % NANO == 0 and abs(nano) >= 1024 * NANO:
        return _canonical_binary(nano // NANO)
    power = -9
    while nano % 1000 == 0:
        nano //= 1000
        power += 3
    if quantity.format == "DecimalExponent":
        return f"{nano}e{power}" if power else str(nano)
    return f"{nano}{_DECIMAL_NAMES.get(power, '')}"


def _canonical_binary(whole: int) -> str:
    suffix = ""
    for name in _BINARY:  # Ki to Ei, in this order
        if whole % 1024:
            break
        whole //= 1024
        suffix = name
    return f"{whole}{suffix}"


def value(quantity: Quantity) -> int:
    """Return the whole units, rounded away from zero but for one odd case (rule 53). Exact, also beyond 64 bits."""
    return _units(quantity, NANO)


def milli(quantity: Quantity) -> int:
    """Return the thousandths, rounded like `value`."""
    return _units(quantity, NANO // 1000)


def _units(quantity: Quantity, size: int) -> int:
    nano = quantity.nano
    if nano >= 0:
        return -(-nano // size)
    if not quantity.long_form:
        return nano // size
    low = (nano + 2**63) % 2**64 - 2**63
    cut = abs(low) // size * (1 if low >= 0 else -1)
    return cut + 1 if low % size else cut


def from_int(number: int, form: Format = "DecimalSI") -> Quantity:
    """Make a quantity of whole units."""
    return Quantity(number * NANO, form, number)


def add(one: Quantity, other: Quantity) -> Quantity:
    """Add two quantities; the sum has the format of the first non-zero addend (rule 54)."""
    whole = None
    if one.int64 is not None and other.int64 is not None and abs(one.int64 + other.int64) <= INT64_MAX:
        whole = one.int64 + other.int64
    return Quantity(one.nano + other.nano, one.format if one.nano else other.format, whole)


def delivered(quantity: Quantity) -> Quantity:
    """Return the quantity as the API server hands it on: whole thousandths, in canonical form, read again (rule 55)."""
    nano, form, readable, _ = quantity
    if readable is not None and -_SAFE < readable < _SAFE:
        if form == "DecimalSI" or (form == "BinarySI" and readable):
            return quantity
    elif form == "DecimalSI" and -_SAFE * NANO < nano < _SAFE * NANO and nano % 1_000_000 == 0:
        return Quantity(nano, form, None if nano % NANO else nano // NANO)
    nano = -(-nano // 1_000_000) if nano >= 0 else nano // 1_000_000
    return parse(canonical(Quantity(nano * 1_000_000, form, None)))


def with_decimals(nano: int) -> str:
    """Write an amount of bytes, given in billionths, with a binary suffix and decimals if that is exact: `3.73Gi`."""
    for power, suffix in ((40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
        thousandths, rest = divmod(nano * 1000, NANO << power)
        if not rest and thousandths >= 1000:
            return f"{of_thousandths(thousandths)}{suffix}"
    return canonical(Quantity(nano, "BinarySI", None))


def of_thousandths(number: int) -> str:
    """Write a number of thousandths as a decimal number, exactly however large it is: `19.5`."""
    whole, rest = divmod(abs(number), 1000)
    return f"{'-' * (number < 0)}{whole}.{rest:03d}".rstrip("0").rstrip(".")


def readable_near(nano: int) -> tuple[str, ...]:
    """Write the nearest amounts of bytes, below and above one given in billionths, that are read as whole numbers.

    A share of a byte is not, nor is what the API server rewrites with more digits than are read (rule 50).
    """
    for power, suffix in ((20, "Mi"), (30, "Gi"), (40, "Ti")):
        step = NANO << power
        near = {-(-nano // step) - 1, nano // step, nano // step + 1} - {0}
        texts = [f"{count}{suffix}" for count in sorted(near) if count > 0 and count * step != nano]
        found = tuple(text for text in texts if parse(canonical(parse(text))).int64 is not None)
        if found:
            return found
    return ()
