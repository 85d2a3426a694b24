"""Drawn expressions and patterns, told as they were: types, costs, values and what is wrong with which place.

Recorded cases and the tables beside this say what is right; it holds that no answer changes unseen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numalign.dra.cel.device import compile_selector, device_value, most_cost
from numalign.dra.cel.errors import CompileError, EvaluationError
from numalign.dra.cel.regex import find_all
from numalign.dra.cel.values import Frame, type_name
from tests import recorded
from tests.dra.cel import drawn
from tests.dra.cel.selectors import GPU, device

HERE = Path(__file__).parent
EXPRESSIONS, PATTERNS = 3600, 1200
DRIVER = "gpu.example.com"
LISTS = {**GPU, "attributes": {**GPU["attributes"], "sizes": {"ints": [1, 2]}, "d/model": {"strings": ["a", "H100"]}}}
TEXTS = ("", "aB1_-", "xaab\nAbC. a", "a.E,Ab", "NVIDIA H100-b:a{2}")


def test_expressions_are_told_as_they_were() -> None:
    recorded.compare(HERE / "recorded_selectors.jsonl.gz", map(told, range(EXPRESSIONS)))


def test_patterns_find_what_they_found() -> None:
    recorded.compare(HERE / "recorded_patterns.jsonl.gz", map(found, range(PATTERNS)))


def told(number: int) -> list[Any]:
    """Compile an expression, estimate it, and ask it about a device without lists, or one with them."""
    text, lists = drawn.expression(number), number % 3 == 2
    try:
        selector = compile_selector(text, lists=lists, includes=number % 5 > 0)
    except CompileError as error:
        return [text, error.position, error.message]
    frame = Frame({"device": device_value(device(LISTS if lists else GPU), DRIVER, lists=lists)})
    try:
        answer = said(selector.evaluate(frame))
    except EvaluationError as error:
        answer = str(error)
    return [text, str(most_cost(text, lists=lists)), frame.cost, answer]


def said(value: object) -> Any:
    """Write a value; of what has no form of its own the type."""
    if isinstance(value, list):
        return [said(one) for one in value]
    if isinstance(value, dict):
        return [[said(key), said(one)] for key, one in value.items()]
    return [type_name(value), str(value) if isinstance(value, str | bytes | int | float) else ""]


def found(number: int) -> list[Any]:
    """Look for a pattern in some texts."""
    pattern = drawn.pattern(number)
    try:
        return [pattern, *(find_all(pattern, text) for text in TEXTS)]
    except EvaluationError as error:
        return [pattern, str(error)]
