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


COSTS = [
    ("true", 0),
    ("'ab' == 'abcdefghijk'", 1),
    (f"{ATTRIBUTE} == 'a'", 5),
    (f"{ATTRIBUTE} < 'abcdefghijklmnopqrstu'", 7),
    (f"{ATTRIBUTE}.matches('abcd')", 11),
    (f"{ATTRIBUTE}.matches({ATTRIBUTE})", 120),
    (f"{ATTRIBUTE}.contains('a')", 11),
    (f"{ATTRIBUTE}.contains({ATTRIBUTE})", 57),
    ("'aaaaaaaaaaa'.contains('bbbbbbbbbbbbbbbbbbbbb')", 6),
    (f"{ATTRIBUTE}.startsWith('bbbbbbbbbbbbbbbbbbbbb')", 7),
    (f"'a'.endsWith({ATTRIBUTE})", 11),
    (f"{ATTRIBUTE} in ['a', 'bb', 'ccc']", 17),
    ("'x' in device.attributes", 34),
    ("'driver' in {'a': 1, 'b': 2}", 32),
    (f"{ATTRIBUTE}.lowerAscii() == 'a'", 12),
    (f"{ATTRIBUTE}.upperAscii().trim().matches('a')", 25),
    (f"({ATTRIBUTE} + 'abcdefghijk').contains('abcdefghijk')", 28),
    (f"{ATTRIBUTE}.replace('a', 'b') == 'c'", 12),
    (f"{ATTRIBUTE}.indexOf('abcdefghijklmnopqrst') == 1", 14),
    (f"{ATTRIBUTE}.substring(1).contains('abcdefghijk')", 25),
    (f"{ATTRIBUTE}.split('a').size() == 1", 13),
    ("['a', 'b'].join('-') == 'a'", 12),
    ("quantity('1Gi').isGreaterThan(quantity('1Mi'))", 3),
    ("semver('1.0.0').major() == 1", 3),
    (f"has({ATTRIBUTE})", 3),
    (f"has({ATTRIBUTE}) ? true : {ATTRIBUTE} == 'b'", 8),
    (f"{ATTRIBUTE} == 'b' ? 'a' == 'b' : false", 6),
    (f"cel.bind(m, {ATTRIBUTE} + 'b', m == m)", 20),
    ("device.attributes['d'][?'model'].hasValue()", 5),
    ("device.attributes['d'].?model.orValue('a') == 'b'", 6),
    ("device.attributes['d'].all(a, a == 'b')", 164),
    ("device.attributes.all(d, device.attributes[d].exists(a, a == 'b'))", 5379),
    ("[1, 2, 3].map(x, x * 2).size() == 3", 58),
    ("['aa', 'b'].exists(x, x.matches('a'))", 21),
    ("{'a': 'b', 'c': 'd'}.size() == 2", 32),
    ("sets.contains([1, 2, 3], [1, 2])", 26),
    ("device.attributes['d'].?model.optMap(m, m == 'a').orValue(false)", 9),
    ("device.driver.matches('a')", 9),
    ("(device.driver + 'abcdefg').contains('a')", 2 + 7 + 7),
    ("(device.driver + 'abcdefgh').contains('a')", 2 + 8 + 8),
    ("device.capacity['d'].memory.compareTo(quantity('1')) > 0", 7),
    ("b'abc' == b'abcdefghijkl'", 1),
    ("string(1) == 'a'", 2),
    ("duration('1s') < duration('2s')", 3),
    ("isURL('https://a.example') && url('https://a.example').getHost() == 'a'", 6),
    ("['b', 'aaa'][0].contains('c')", 12),
    ("device.allowMultipleAllocations == true", 3),
    (f"{ATTRIBUTE}.find('a+') == 'a'", 12),
    ("'%s'.format(['a']) == 'a'", 12),
    ("[[1, 2], [3]].all(l, l.all(x, x > 0))", 61),
    (f"bytes({ATTRIBUTE}) == b'a'", 12),
    (f"{ATTRIBUTE}.charAt(0) == 'a'", 6),
]


@pytest.mark.parametrize(("text", "cost"), COSTS)
def test_the_most_that_a_selector_costs(text: str, cost: int) -> None:
    """By the largest sizes: 63 characters of a driver, 64 of a value, 32 names; a tenth of each text that is read."""
    assert most_cost(text) == cost


UNBOUND = [
    "dyn('a').matches('b')",
    "device.attributes['d'][?'model'].orValue('').matches('^H100')",
    "device.attributes['d'].?model.orValue('').contains('H100')",
    f"{ATTRIBUTE}.split('-').exists(x, x.matches('a'))",
    "device.attributes['d'].?model.optMap(m, m.matches('a')).orValue(false)",
    "device.attributes.?d.model.value().matches('a')",
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
