"""What a plain scalar of YAML means: a number, a boolean, nothing, or a text."""

from __future__ import annotations

import re
from typing import Any, Final

TAGGED: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
CONSTANTS: Final[dict[str, object]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -float("inf")),
}
_INTEGER: Final = r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)"
_FLOAT: Final = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_ENDS_OF_NUMBERS: Final = frozenset("0123456789abcdefABCDEF._")


def resolve(text: str) -> Any:
    """Read a plain scalar as Kubernetes' tools do: null, boolean, number, else text (dates too)."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text[0] not in "0123456789+-." or text[-1] not in _ENDS_OF_NUMBERS:
        return text
    if text.isdecimal() and text.isascii() and len(text) < 19 and (text[0] != "0" or text == "0"):
        return int(text)
    bare = text.replace("_", "") if text[0] != "." else text
    match = re.fullmatch(_INTEGER, bare)
    if match and len(bare) < 100:
        digits = match[2]
        base = 10
        if digits[0] == "0" and len(digits) > 1:
            base = {"x": 16, "b": 2, "o": 8}.get(digits[1].lower(), 8)
            digits = digits[2:] if digits[1] in "xXbBoO" else digits
        number = int(digits, base)
        number = -number if match[1] == "-" else number
        if -(2**63) <= number < 2**64:
            return number
    if re.fullmatch(_FLOAT, bare):
        number_ = float(bare)
        if number_ not in (float("inf"), -float("inf")):
            return number_
    return text
