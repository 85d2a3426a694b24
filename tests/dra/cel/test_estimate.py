"""The static cost of selectors, by which the API server rejects some (docs/rules/dra.md D-51)."""

from __future__ import annotations

import math

import pytest

from numalign.dra.cel.device import most_cost
from numalign.dra.cel.values import COST_LIMIT

ATTRIBUTE = "device.attributes['d'].model"
TAKEN = [
    "device.driver == 'gpu.example.com'",
    f"{ATTRIBUTE}.matches('^H[12]00')",
    f"{ATTRIBUTE}.lowerAscii().contains('h100')",
    "device.attributes['d'][?'model'].orValue('') == 'x'",
    "device.capacity['d'].memory.compareTo(quantity('40Gi')) >= 0",
    f"['a', 'b'].exists(x, {ATTRIBUTE}.startsWith(x))",
    "device.attributes['d'].exists(a, device.attributes['d'].exists(b, a == b))",
    f"has({ATTRIBUTE}) ? {ATTRIBUTE} in ['a', 'b'] : false",
    f"cel.bind(m, {ATTRIBUTE}, m.matches('a+'))",
    "{'a': 1}['a'] == 1 && semver('1.0.0').isLessThan(semver('2.0.0'))",
]


@pytest.mark.parametrize("text", TAKEN)
def test_usual_selectors_cost_little(text: str) -> None:
    assert 0 < most_cost(text) < COST_LIMIT


UNBOUND = [
    "device.attributes['d'][?'model'].orValue('').matches('^H100')",
    "device.attributes['d'].?model.orValue('').contains('H100')",
    f"{ATTRIBUTE}.split('-').exists(x, x.matches('a'))",
    "device.attributes['d'].?model.value().find('a') == 'a'",
]


@pytest.mark.parametrize("text", UNBOUND)
def test_a_pattern_on_a_text_of_unknown_length_is_too_complex(text: str) -> None:
    assert most_cost(text) == math.inf


def test_loops_multiply() -> None:
    one = "device.attributes['d'].all(a, {})"
    single = most_cost(one.format("true"))
    assert most_cost(one.format(one.replace("(a,", "(b,").format("true"))) > 32 * single
    deep = "true"
    for name in "abcd":
        deep = f"device.attributes['d'].all({name}, {deep})"
    assert most_cost(deep) > COST_LIMIT
