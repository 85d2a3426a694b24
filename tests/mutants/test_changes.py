"""What mutants change, what they leave alone, and that what is called equal is still there."""

from __future__ import annotations

import ast

import pytest

from tests import source_code as code
from tests.mutants.__main__ import draw, equal, mutants
from tests.mutants.changes import changes

CHANGED = [
    ("a comparison is off by one", "x = a < b", ["x = a <= b"]),
    ("a comparison is turned round", "x = a in b", ["x = a not in b"]),
    ("each of a chain of comparisons", "x = 'a' <= b < c", ["x = 'a' < b < c", "x = 'a' <= b <= c"]),
    ("and is or, and each condition is left out", "x = a and b", ["x = a or b", "x = b", "x = a"]),
    ("a condition is inverted", "if a: f", ["if not a:", "pass"]),
    ("a condition of a comprehension is inverted, and left out", "x = [a for a in b if c]",
     ["x = [a for a in b if not c]", "x = [a for a in b if True]"]),
    ("a constant is one more and one less", "x = 3", ["x = 4", "x = 2"]),
    ("a truth is turned", "x = True", ["x = False"]),
    ("reckoning goes the other way", "x = a + b", ["x = a - b"]),
    ("a sign goes", "x = -a", ["x = a"]),
    ("the least is the most", "x = min(a)", ["x = max(a)"]),
    ("arguments are swapped", "x = f(a, b)", ["x = f(b, a)"]),
    ("what has a default is not said", "x = f(a, b=c)", ["x = f(a)"]),
    ("a statement is dropped", "f(a)", ["pass"]),
    ("what is added to is dropped, and taken from", "a += b", ["pass", "a -= b"]),
    ("an early return is dropped", "def f(a):\n if a:\n  return\n g", ["if not a:", "pass", "pass"]),
    ("nothing is returned", "def f(a):\n return a", ["return None"]),
    ("the opposite is returned", "def f(a) -> bool:\n return a", ["return not a"]),
    ("a number that is returned is one more", "def f(a) -> int:\n return a", ["return None", "return a + 1"]),
    ("a default is changed", "def f(a, b=0): return", ["def f(a, b=1):", "def f(a, b=-1):"]),
]  # fmt: skip
LEFT_ALONE = [
    ("two equal arguments", "x = f('', '')"),
    ("the order of what is asked in any order", "x = gcd(a, b)"),
    ("a text", "x = 'a' + f'{b}'"),
    ("what a module or function says of itself", "'said'\ndef f(): 'said'"),
    ("annotations", "def f(a: x[1]) -> y[1]: 'said'\nb: z[1]"),
    ("what is asserted", "assert a < b"),
    ("the check that two lists have one length", "x = zip(a, strict=True)"),
    ("what only a type checker reads", "if TYPE_CHECKING:\n a = 1"),
    ("an alias of types", "x = a | b"),
    ("the bound of a variable of types", "x = TypeVar('x', bound=a)"),
]


@pytest.mark.parametrize(("text", "found"), [row[1:] for row in CHANGED], ids=[row[0] for row in CHANGED])
def test_changes(text: str, found: list[str]) -> None:
    assert [change.told().partition(" → ")[2] for change in changes(ast.parse(text))] == found


@pytest.mark.parametrize("text", [row[1] for row in LEFT_ALONE], ids=[row[0] for row in LEFT_ALONE])
def test_nothing_is_changed(text: str) -> None:
    assert list(changes(ast.parse(text))) == []


def test_a_long_statement_is_told_around_the_change() -> None:
    names = ", ".join(f"name_{number}" for number in range(60))
    [change] = changes(ast.parse(f"x = [{names}, not y, {names}]"))
    before, _, after = change.told().partition(" → ")
    assert before.replace("not y", "y") == after
    assert len(before) < 140
    assert before.startswith("…")


def test_a_change_is_taken_back() -> None:
    tree = ast.parse("def f(a):\n if a < 1: g(a, b=2)\n return a + 1")
    before = ast.dump(tree)
    for change in changes(tree):
        with change.made():
            assert ast.dump(tree) != before
        assert ast.dump(tree) == before


def test_a_seed_draws_the_same_mutants() -> None:
    one, same, other = ([mutant.told() for mutant in draw("kubelet.fit", 5, seed)] for seed in (1, 1, 2))
    assert one == same != other


def test_mutants_that_are_called_equal_exist() -> None:
    """Where the code has changed the row goes, or is written anew."""
    named = equal().keys()
    modules, places = {module for module, _, _ in named}, {key[:2] for key in named}
    assert modules <= {module.removeprefix("numalign.") for module in code.MODULES}
    there = (mutant for module in modules for mutant in mutants(module) if (module, mutant.change.function) in places)
    assert named <= {mutant.key for mutant in there}
