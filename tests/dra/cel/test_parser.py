"""The tree of an expression: what binds tighter, what stands alone, what is refused and where."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import CompileError, UnsupportedError
from numalign.dra.cel.parser import MAX_TEXT, parse
from numalign.dra.cel.syntax import (
    MAX_NESTING,
    Bind,
    Call,
    Choice,
    Constant,
    Has,
    Index,
    ListNode,
    Logic,
    Loop,
    MapNode,
    Name,
    Node,
    OptionalMap,
    Select,
    qualified_name,
)


def told(node: Node) -> str:
    """A tree with all its brackets."""
    match node:
        case Constant():
            return repr(node.value)
        case Name():
            return node.name
        case Select():
            return f"{told(node.operand)}.{'?' if node.optional else ''}{node.field}"
        case Has():
            return f"has({told(node.operand)}.{node.field})"
        case Index():
            return f"{told(node.operand)}[{'?' if node.optional else ''}{told(node.key)}]"
        case Call():
            inside = ", ".join(map(told, node.arguments))
            return f"{told(node.target) + '.' if node.target is not None else ''}{node.function}({inside})"
        case Logic():
            return "(" + f" {node.operator} ".join(map(told, node.operands)) + ")"
        case Choice():
            return f"({told(node.condition)} ? {told(node.yes)} : {told(node.no)})"
        case ListNode():
            return (
                "["
                + ", ".join(("?" if i in node.optional else "") + told(one) for i, one in enumerate(node.items))
                + "]"
            )
        case MapNode():
            pairs = [
                f"{'?' if index in node.optional else ''}{told(key)}: {told(value)}"
                for index, (key, value) in enumerate(node.entries)
            ]
            return "{" + ", ".join(pairs) + "}"
        case Loop():
            parts = [told(one) if one is not None else "-" for one in (node.condition, node.result)]
            return f"{told(node.range)}.{node.kind}({', '.join(node.variables)}; {'; '.join(parts)})"
        case Bind():
            return f"bind({node.name}, {told(node.value)}, {told(node.body)})"
        case OptionalMap():
            return f"{told(node.operand)}.{'flat' if node.flat else 'map'}({node.name}, {told(node.body)})"


READ = [
    ("products before sums", "a + b * c - d", "-(+(a, *(b, c)), d)"),
    ("from left to right", "a - b - c", "-(-(a, b), c)"),
    ("rests and quotients like products", "a / b % c * d", "*(%(/(a, b), c), d)"),
    ("sums before comparisons", "a + b < c - d", "<(+(a, b), -(c, d))"),
    ("comparisons from left to right", "a < b == c", "==(<(a, b), c)"),
    ("in is a comparison", "a in b && c", "(in(a, b) && c)"),
    ("and before or", "a || b && c || d", "(a || (b && c) || d)"),
    ("or before a choice", "a || b ? c : d ? e : f", "((a || b) ? c : (d ? e : f))"),
    ("brackets", "(a || b) && c", "((a || b) && c)"),
    ("signs bind tighter", "-a * !b", "*(-_(a), !_(b))"),
    ("two signs are none", "!!a && - -b", "(a && b)"),
    ("three are one", "!!!a", "!_(a)"),
    ("a number takes its sign", "-1 - -2", "-(-1, -2)"),
    ("two signs before a number", "- -1", "-_(-1)"),
    ("the smallest number", "-9223372036854775808", "-9223372036854775808"),
    ("a double takes its sign, an unsigned number does not", "-1.5 + -1u", "+(-1.5, -_(1))"),
    ("fields bind tighter than signs", "-a.b", "-_(a.b)"),
    ("fields, indexes and methods", "a.b['c'].d(e, f)[0]", "a.b['c'].d(e, f)[0]"),
    ("what may be missing", "a.?b[?c].?d", "a.?b[?c].?d"),
    ("functions", "f() + g(a, b)", "+(f(), g(a, b))"),
    ("a name from the top", ".a.b", "a.b"),
    ("words that are values", "true && false || null", "((True && False) || None)"),
    ("lists", "[a, ?b, [c]]", "[a, ?b, [c]]"),
    ("a comma at the end of a list", "[a,]", "[a]"),
    ("empty ones", "[] == {}", "==([], {})"),
    ("maps", "{a: b, ?c: d,}", "{a: b, ?c: d}"),
    ("at both ends of a list", "[?a, b, ? c]", "[?a, b, ?c]"),
    ("with a blank", "a[ ?b]", "a[?b]"),
    ("has", "has(a.b.c)", "has(a.b.c)"),
    ("has of two is a function", "has(a, b)", "has(a, b)"),
    ("loops", "a.all(x, x > b)", "a.all(x; >(x, b); -)"),
    ("of two variables", "a.exists(i, x, x)", "a.exists(i, x; x; -)"),
    ("one", "a.exists_one(x, x) && a.existsOne(i, x, x)", "(a.exists_one(x; x; -) && a.exists_one(i, x; x; -))"),
    ("of one variable it has one name", "a.existsOne(x, x)", "a.existsOne(x, x)"),
    ("lists made of lists", "a.map(x, b).map(y, c, d)", "a.map(x; -; b).map(y; c; d)"),
    ("filters", "a.filter(x, b)", "a.filter(x; b; -)"),
    ("transformed", "a.transformList(i, x, b)", "a.transform_list(i, x; -; b)"),
    ("some of it", "a.transformMap(i, x, b, c)", "a.transform_map(i, x; b; c)"),
    ("with other keys", "a.transformMapEntry(i, x, c)", "a.transform_entry(i, x; -; c)"),
    ("names for values", "cel.bind(x, a, x + x)", "bind(x, a, +(x, x))"),
    ("bind of something else is a method", "dog.bind(x, a, b)", "dog.bind(x, a, b)"),
    ("another method of cel is a method", "cel.tie(x, a, b)", "cel.tie(x, a, b)"),
    ("optionals", "a.optMap(x, b).optFlatMap(y, c)", "a.map(x, b).flat(y, c)"),
    ("with other arguments it is a method", "a.map(x).filter(x, y, z)", "a.map(x).filter(x, y, z)"),
]


@pytest.mark.parametrize(("text", "tree"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_an_expression_is_read(text: str, tree: str) -> None:
    assert told(parse(text)) == tree


REFUSED = [
    ("nothing behind an operator", "a +", "expected a name, got '<EOF>'", 3),
    ("two values", "a b", "expected the end, got 'b'", 2),
    ("a bracket that is not closed", "(a", "expected ')', got '<EOF>'", 2),
    ("what looks like the end", "a end b", "expected the end, got 'end'", 2),
    ("another that is", "a)", "expected the end, got ')'", 1),
    ("a choice without its other way", "a ? b", "expected ':', got '<EOF>'", 5),
    ("a list that goes on", "[a b]", "expected ']', got 'b'", 3),
    ("a list of a comma", "[,]", "expected a name, got ','", 1),
    ("a map without a value", "{a}", "expected ':', got '}'", 2),
    ("a map that goes on", "{a: b c: d}", "expected '}', got 'c'", 6),
    ("an index that is not closed", "a[b", "expected ']'", 3),
    ("an optional one", "a[?b", "expected ']'", 4),
    ("arguments that are not closed", "f(a, b", "expected ')'", 6),
    ("a field that is a number", "a.1", "expected the end, got '.1'", 1),
    ("a field that is a value", "a.true", "expected a name, got 'true'", 2),
    ("a field that is in", "a.in", "expected a name, got 'in'", 2),
    ("a word of other languages", "a + while", "reserved identifier: while", 4),
    ("the smallest number without its sign", "9223372036854775808", "invalid int literal", 0),
    ("and behind another sign", "- -9223372036854775809", "invalid int literal", 3),
    ("has of no field", "true && has(a)", "invalid argument to has() macro", 12),
    ("a loop over no name", "a.all(1, b)", "argument must be a simple name", 6),
    ("a loop of two equal names", "a.all(x, x, b)", "need different names", 1),
    ("a value with no name", "cel.bind(1, a, b)", "argument must be a simple name", 9),
    ("a text is no operator", "a '+' b", "expected the end, got ''+''", 2),
]


@pytest.mark.parametrize(("text", "message", "place"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_an_expression_is_refused_with_its_place(text: str, message: str, place: int) -> None:
    with pytest.raises(CompileError) as caught:
        parse(text)
    assert message in caught.value.message
    assert str(caught.value) == caught.value.message
    assert caught.value.position == place


def test_nodes_have_their_places() -> None:
    tree = parse("aa && bb.cc(dd) == [ee]")
    assert isinstance(tree, Logic)
    assert [one.position for one in (tree, *tree.operands)] == [0, 0, 16]


@pytest.mark.parametrize(("text", "name"), [("f()", "f"), ("a.b.f()", "a.b.f"), ("a.?b.f()", ""), ("a().f()", "")])
def test_a_call_behind_plain_names_is_named_with_them(text: str, name: str) -> None:
    tree = parse(text)
    assert isinstance(tree, Call)
    assert qualified_name(tree) == name


def test_how_long_an_expression_may_be() -> None:
    """In bytes, as they are sent."""
    assert told(parse(f"'{'x' * (MAX_TEXT - 2)}'")) == repr("x" * (MAX_TEXT - 2))
    for text in (f"'{'x' * (MAX_TEXT - 1)}'", f"'{'é' * (MAX_TEXT // 2)}'"):
        with pytest.raises(CompileError, match="may have 10240 bytes"):
            parse(text)


def test_how_deep_it_may_be() -> None:
    assert told(parse("(" * (MAX_NESTING - 1) + "a" + ")" * (MAX_NESTING - 1))) == "a"
    with pytest.raises(UnsupportedError, match="nested deeper than 60 levels"):
        parse("(" * MAX_NESTING + "a" + ")" * MAX_NESTING)
    assert told(parse(" + ".join(["(a)"] * 99))).count("a") == 99
