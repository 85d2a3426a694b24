"""One description of a document: it reads, writes and tells its schema, and says what is wrong and where."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from numalign.model.document import (
    Form,
    anything,
    as_dict,
    choice,
    field,
    fixed,
    inside,
    maybe,
    needed,
    nullable,
    raw,
    read,
    record,
    write,
)
from numalign.model.document.schema import schema
from numalign.model.document.values import (
    amount,
    boolean,
    cpu_list,
    either,
    integer,
    later,
    list_of,
    map_of,
    name,
    number,
    text,
    turned,
)
from numalign.model.path import FieldError, dotted
from numalign.values import NamedTuple


class Node(NamedTuple):
    """What the examples are of."""

    id: int
    cpus: int = 0
    hugepages: int | None = None
    is_far: bool = False
    label: str = ""


NODE = record(
    Node,
    fixed("kind", "Node"),
    field("id", integer(0, 9), missing="expected an id"),
    field("cpus", cpu_list, always=True),
    maybe("hugepages", amount, says="Bytes."),
    field("isFar", boolean),
    inside("metadata", maybe("label", text("a label"))),
    wanted="a node",
)
NODES = record(as_dict, field("nodes", list_of(NODE, "nodes")), maybe("by", map_of(NODE), {}))


def test_a_record_is_read_with_the_defaults_of_its_class() -> None:
    assert NODE.read({"id": 3}) == Node(3)
    assert NODE.read({"id": 3, "hugepages": None, "metadata": None}) == Node(3)
    given = {"kind": "Node", "id": 1, "cpus": "0-1", "hugepages": "1Ki", "isFar": True, "metadata": {"label": "x"}}
    assert NODE.read(given) == Node(1, 3, 1024, True, "x")


def test_a_record_is_written_without_what_is_a_default() -> None:
    assert write(NODE, Node(3)) == {"kind": "Node", "id": 3, "cpus": ""}
    full = {"kind": "Node", "id": 1, "cpus": "0-1", "hugepages": 5, "isFar": True, "metadata": {"label": "x"}}
    assert write(NODE, NODE.read(full)) == full
    whole = record(Node, field("id", integer(0, 9)), inside("of", maybe("label", text())), whole=True)
    assert write(whole, Node(3)) == {"id": 3, "of": {"label": ""}}


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        ([], "", "expected a mapping, got a list"),
        ({"nodes": 1}, "nodes", "expected nodes, got 1"),
        ({}, "nodes", "expected nodes, got null"),
        ({"nodes": [], "node": 1}, "node", "unknown key; hint: similar: nodes"),
        ({"nodes": [], 1: 1}, "", "expected printable keys, got 1"),
        ({"nodes": [{"id": 1}, 5]}, "nodes[1]", "expected a node, got 5"),
        ({"nodes": [{}]}, "nodes[0].id", "expected an id"),
        ({"nodes": [{"id": None}]}, "nodes[0].id", "expected a whole number, got null"),
        ({"nodes": [{"id": 10}]}, "nodes[0].id", "expected a whole number from 0 to 9, got 10"),
        ({"nodes": [{"id": 1, "cpus": [0, 0]}]}, "nodes[0].cpus[1]", "CPU 0 is in the list twice"),
        ({"nodes": [{"id": 1, "isFar": None}]}, "nodes[0].isFar", "expected true or false, got null"),
        ({"nodes": [{"id": 1, "kind": "Pod"}]}, "nodes[0].kind", 'expected Node, got "Pod"'),
        ({"nodes": [{"id": 1, "metadata": {"label": 1}}]}, "nodes[0].metadata.label", "expected a label, got 1"),
        ({"nodes": [{"id": 1, "metadata": {"lab": 1}}]}, "nodes[0].metadata.lab", "unknown key; hint: similar: label"),
        ({"nodes": [], "by": {"": {}}}, 'by[""].id', "expected an id"),
        ({"nodes": [], "by": {"\n": {}}}, "by", 'expected printable keys, got "\\n"'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_path(data: Any, place: str, message: str) -> None:
    with pytest.raises(FieldError) as raised:
        read(NODES, data, ("top",))
    assert (dotted(raised.value.path[1:]), raised.value.message) == (place, message)
    assert raised.value.path[0] == "top"


def test_an_error_has_what_would_be_right_for_those_who_say_it_otherwise() -> None:
    with pytest.raises(FieldError) as raised:
        NODE.read({"id": "1"})
    assert (raised.value.wanted, raised.value.got) == ("a whole number", "1")


def test_a_needed_key_may_not_be_null_and_further_keys_may_be_passed_over() -> None:
    form = record(as_dict, needed("a", integer(0, 9)), inside("b", needed("c", text(), "")), others=True)
    assert form.read({"a": 1, "b": {"c": "x", "d": 1}, "e": 1}) == {"a": 1, "c": "x"}
    for data, place in (({"a": None}, "a"), ({"a": 1}, "b.c"), ({"a": 1, "b": None}, "b.c")):
        with pytest.raises(FieldError) as raised:
            form.read(data)
        assert dotted(raised.value.path) == place


def test_forms_are_made_of_forms() -> None:
    assert either(NODE, turned(cpu_list, lambda cpus: Node(0, cpus), lambda node: node.cpus)).read("2") == Node(0, 4)
    assert later(lambda: NODE).read({"id": 1}) == Node(1)
    assert nullable(boolean).read(None) is None
    assert nullable(cpu_list).write(3) == "0-1"
    assert map_of(boolean).write({"b": True, "a": False}) == {"a": False, "b": True}
    assert list(map_of(boolean, kept=True).write({"b": True, "a": False})) == ["b", "a"]  # type: ignore[call-overload]  # a mapping
    assert choice("x", 2).read(2) == 2
    assert name("a name").read(0) == "0"
    for value in (0, 3, True, "1"):
        with pytest.raises(FieldError):
            number("a number", high=2, above=0).read(value)


SCHEMA: dict[str, Any] = schema(
    record(
        as_dict,
        field("nodes", list_of(NODE, also={"minItems": 1})),
        maybe("size", amount, says="In bytes."),
        field("more", later(lambda: raw), {}),
        field("any", anything, None),
        field("either", either(NODE, boolean), False),
    ),
    "example",
    "Example",
    "An example.",
)


@pytest.mark.parametrize(
    ("data", "fits"),
    [
        ({"nodes": [{"id": 1, "cpus": "0-3,8", "hugepages": None}], "size": "1Gi", "more": {}, "any": 1}, True),
        ({"nodes": [{"id": 1, "cpus": [1, 2]}], "size": None, "either": {"id": 1}}, True),
        ({"nodes": []}, False),
        ({"nodes": [{"id": 10}]}, False),
        ({"nodes": [{"cpus": "0"}]}, False),
        ({"nodes": [{"id": 1, "metadata": {"lable": "x"}}]}, False),
        ({"nodes": [{"id": 1}], "size": "much"}, False),
        ({"nodes": [{"id": 1}], "size": -1}, False),
        ({"nodes": [{"id": 1}], "more": 1}, False),
        ({"nodes": [{"id": 1}], "either": 1}, False),
    ],
)
def test_a_schema_says_what_the_reader_takes(data: Any, fits: bool) -> None:
    assert jsonschema_rs.Draft202012Validator(SCHEMA).is_valid(data) is fits


def test_named_parts_of_a_schema_stand_once() -> None:
    assert set(SCHEMA["$defs"]) == {"amount", "cpus"}
    assert SCHEMA["properties"]["size"] == {
        "anyOf": [{"$ref": "#/$defs/amount"}, {"type": "null"}],
        "description": "In bytes.",
    }
    assert SCHEMA["$id"] == "urn:numalign:v1:example"


def test_reading_what_was_written_gives_the_same() -> None:
    form: Form[Any] = list_of(NODE)
    nodes = (Node(1, 5, 7, True, "y"), Node(2))
    assert form.read(form.write(nodes)) == nodes
