"""Family `quantity`: reading quantities."""

from __future__ import annotations

import re
from typing import Any

from numalign.model import quantity
from numalign.model.quantity import Quantity

POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def decide(case: dict[str, Any]) -> dict[str, Any]:
    text = case["s"]
    try:
        read = quantity.parse(text)
    except quantity.QuantityError as error:
        return {"error": str(error)}
    canonical = quantity.canonical(read)
    return {
        "canonical": canonical,
        "canonicalInt64": quantity.parse(canonical).int64,
        "format": read.format,
        "int64": read.int64,
        "milli": _register(quantity.milli(read), read, text, -3),
        "sign": (read.nano > 0) - (read.nano < 0),
        "value": _register(quantity.value(read), read, text, 0),
    }


def _register(number: int, read: Quantity, text: str, scale: int) -> int:
    """Put a number into 64 bits as the recorder did: numalign's are exact, the recorded ones overflow.

    Long forms wrap around. Short forms wrap when the number is multiplied by 10^3, 10^6 or 10^9; else they give 0.
    """
    if -(2**63) <= number < 2**63:
        return number
    wrapped = (number + 2**63) % 2**64 - 2**63
    if read.long_form or read.format == "BinarySI":
        return wrapped
    match = re.fullmatch(r"[+-]?[0-9]*\.?([0-9]*)(?:[eE]([+-]?[0-9]+)|([a-zA-Z]?))", text)
    assert match is not None
    power = int(match[2]) if match[2] else POWERS[match[3]]
    fraction = len(match[1]) if "." in text else 0
    return wrapped if power - fraction - scale in (3, 6, 9) else 0
