"""A record of each kind as Go reads, writes and prints it (docs/rules/kubelet-files.md 24 to 28c)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from numalign.kubelet.checkpoint_shape import (
    TEXT,
    UINT64,
    CheckpointError,
    Field,
    Shape,
    checksum,
    dump,
    fnv1a,
    read_shape,
    write,
)

NUMBER = Shape("int", "number")
INNER = Shape("pkg.Inner", "record", fields=(Field("A", "a", TEXT), Field("B", "b", NUMBER)))
ROW = Shape(
    "pkg.Row",
    "record",
    fields=(
        Field("Text", "text", TEXT),
        Field("Number", "number", NUMBER),
        Field("Big", "big", Shape("uint64", "number", bounds=UINT64)),
        Field("CPUs", "cpus", Shape("cpuset.CPUSet", "cpus")),
        Field("Bytes", "bytes", Shape("[]uint8", "bytes")),
        Field("List", "list", Shape("[]int", "list", NUMBER)),
        Field("Made", "made", Shape("map[string]string", "map", TEXT), made=True),
        Field("Map", "map", Shape("map[int]pkg.Inner", "map", INNER, numbered=True), omitted=True),
        Field("Inner", "inner", INNER),
        Field("Pointer", "pointer", INNER._replace(go="*pkg.Inner", pointer=True)),
    ),
)
NOTHING: dict[str, Any] = {
    "text": "", "number": 0, "big": 0, "cpus": 0, "bytes": None, "list": None, "made": {}, "map": None,
    "inner": {"a": "", "b": 0}, "pointer": None,
}  # fmt: skip
LARGEST, LEAST = 2**63 - 1, -(2**63)
READ: list[tuple[str, dict[str, Any]]] = [
    ("{}", {}),
    ("null", {}),
    ('{"TEXT": "a", "nUmber": -5, "other": [1]}', {"text": "a", "number": -5}),
    ('{"text": "a", "text": "b"}', {"text": "b"}),
    (f'{{"number": {LARGEST}}}', {"number": LARGEST}),
    (f'{{"number": {LEAST}}}', {"number": LEAST}),
    (f'{{"big": {2**64 - 1}}}', {"big": 2**64 - 1}),
    ('{"cpus": "0,2-3"}', {"cpus": 0b1101}),
    ('{"bytes": "A\\r\\nQI="}', {"bytes": [1, 2]}),
    ('{"list": [1, 2]}', {"list": [1, 2]}),
    ('{"made": {"b": "1"}}', {"made": {"b": "1"}}),
    ('{"made": null}', {"made": None}),
    ('{"map": {"1": {"a": "x"}, "+2": null}}', {"map": {1: {"a": "x", "b": 0}, 2: {"a": "", "b": 0}}}),
    (f'{{"map": {{"{LARGEST}": {{}}}}}}', {"map": {LARGEST: {"a": "", "b": 0}}}),
    (f'{{"map": {{"{LEAST}": {{}}}}}}', {"map": {LEAST: {"a": "", "b": 0}}}),
    ('{"inner": {"b": 1}, "pointer": {"a": "q"}}', {"inner": {"a": "", "b": 1}, "pointer": {"a": "q", "b": 0}}),
    ('{"text": null, "number": null, "cpus": null, "bytes": null, "list": null, "map": null, "inner": null}', {}),
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_a_record_is_read(text: str, value: dict[str, Any]) -> None:
    assert read_shape(text, ROW) == {**NOTHING, **value}


OF_ROW = "json: cannot unmarshal {} into Go struct field Row.{} of type {}"
REFUSED = [
    ("[]", "json: cannot unmarshal array into Go value of type pkg.Row"),
    ("3", "json: cannot unmarshal number into Go value of type pkg.Row"),
    ("true", "json: cannot unmarshal bool into Go value of type pkg.Row"),
    ('"x"', "json: cannot unmarshal string into Go value of type pkg.Row"),
    ("{", "unexpected end of JSON input"),
    ('{"text": 1}', OF_ROW.format("number", "text", "string")),
    ('{"text": {}}', OF_ROW.format("object", "text", "string")),
    ('{"text": true}', OF_ROW.format("bool", "text", "string")),
    ('{"number": "1"}', OF_ROW.format("string", "number", "int")),
    ('{"number": 1.5}', OF_ROW.format("number 1.5", "number", "int")),
    ('{"number": true}', OF_ROW.format("bool", "number", "int")),
    (f'{{"number": {LARGEST + 1}}}', OF_ROW.format(f"number {LARGEST + 1}", "number", "int")),
    (f'{{"number": {LEAST - 1}}}', OF_ROW.format(f"number {LEAST - 1}", "number", "int")),
    (f'{{"big": {2**64}}}', OF_ROW.format(f"number {2**64}", "big", "uint64")),
    ('{"big": -1}', OF_ROW.format("number -1", "big", "uint64")),
    ('{"cpus": "x"}', 'strconv.Atoi: parsing "x": invalid syntax'),
    ('{"cpus": 3}', OF_ROW.format("number", "cpus", "cpuset.CPUSet")),
    ('{"bytes": "AQ*I="}', "illegal base64 data at input byte 2"),
    ('{"bytes": "AQI"}', "illegal base64 data at input byte 0"),
    ('{"bytes": [1]}', OF_ROW.format("array", "bytes", "[]uint8")),
    ('{"list": [1, "x"]}', OF_ROW.format("string", "list", "int")),
    ('{"list": {}}', OF_ROW.format("object", "list", "[]int")),
    ('{"map": {"x": {}}}', OF_ROW.format("number x", "map", "int")),
    (f'{{"map": {{"{LARGEST + 1}": {{}}}}}}', OF_ROW.format(f"number {LARGEST + 1}", "map", "int")),
    ('{"inner": []}', OF_ROW.format("array", "inner", "pkg.Inner")),
    ('{"inner": {"a": 1}}', "json: cannot unmarshal number into Go struct field Inner.inner.a of type string"),
]


@pytest.mark.parametrize(("text", "complaint"), REFUSED)
def test_another_shape_is_refused_in_gos_words(text: str, complaint: str) -> None:
    with pytest.raises(CheckpointError) as refused:
        read_shape(text, ROW)
    assert str(refused.value) == complaint


def test_complaints_may_have_another_name_and_keys_of_maps() -> None:
    """The name is not that in the checksum's text; keys are in complaints since 1.36 (28b)."""
    for text, name, keys, field in (
        ('{"text": 1}', "pkg.Other", False, "Other.text"),
        ('{"made": {"k": 1}}', "", False, "Row.made"),
        ('{"made": {"k": 1}}', "", True, "Row.made.k"),
        ('{"map": {"1": {"a": 1}}}', "", False, "Inner.map.a"),
        ('{"map": {"1": {"a": 1}}}', "", True, "Inner.map.1.a"),
    ):
        with pytest.raises(CheckpointError, match=re.escape(f"Go struct field {field} of type string")):
            read_shape(text, ROW, name, keys=keys)
    with pytest.raises(CheckpointError, match=r"of type pkg\.Other"):
        read_shape("[]", ROW, "pkg.Other")


FULL = {
    "text": "a<b>&\u2028", "number": -5, "big": 7, "cpus": 0b1101, "bytes": [1, 2], "list": [1, 2],
    "made": {"b": "1", "a": "2", "\u00e9": "3"}, "map": {10: {"a": "x", "b": 0}, 9: {"a": "", "b": 4}},
    "inner": {"a": "y", "b": 0}, "pointer": {"a": "q", "b": 0},
}  # fmt: skip


def test_a_record_is_printed_for_its_checksum() -> None:
    """Numbers as keys are sorted as such, texts by their bytes (25)."""
    assert dump(FULL, ROW) == (
        "{Text:(string)a<b>&\u2028 Number:(int)-5 Big:(uint64)7 "
        "CPUs:(cpuset.CPUSet){elems:(map[int]struct {})map[0:{} 2:{} 3:{}]} Bytes:([]uint8)[1 2] List:([]int)[1 2] "
        "Made:(map[string]string)map[a:2 b:1 \u00e9:3] "
        "Map:(map[int]pkg.Inner)map[9:{A:(string) B:(int)4} 10:{A:(string)x B:(int)0}] "
        "Inner:(pkg.Inner){A:(string)y B:(int)0} Pointer:(*pkg.Inner)<*>{A:(string)q B:(int)0}}"
    )
    assert "Map:(map[int]pkg.Inner)<nil>" in dump(NOTHING, ROW)
    assert "Pointer:(*pkg.Inner)<nil>" in dump(NOTHING, ROW)


def test_a_record_is_written_as_go_does() -> None:
    """Keys of maps by their text; an empty field that may be left out is; HTML is escaped."""
    assert write(FULL, ROW) == (
        '{"text":"a\\u003cb\\u003e\\u0026\\u2028","number":-5,"big":7,"cpus":"0,2-3","bytes":"AQI=","list":[1,2],'
        '"made":{"a":"2","b":"1","\u00e9":"3"},"map":{"10":{"a":"x","b":0},"9":{"a":"","b":4}},'
        '"inner":{"a":"y","b":0},"pointer":{"a":"q","b":0}}'
    )
    assert write(NOTHING, ROW) == (
        '{"text":"","number":0,"big":0,"cpus":"","bytes":null,"list":null,"made":{},"inner":{"a":"","b":0},"pointer":null}'
    )
    assert read_shape(write(FULL, ROW), ROW) == FULL


def test_a_checksum_counts_itself_as_0() -> None:
    """FNV-1a of 32 bits (24)."""
    assert [fnv1a(text) for text in (b"", b"a", b"foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    summed = Shape("pkg.Summed", "record", fields=(Field("A", "a", TEXT), Field("Checksum", "checksum", NUMBER)))
    text = b"(*pkg.Summed){A:(string)x Checksum:(int)0}"
    assert checksum({"a": "x", "checksum": 7}, summed) == checksum({"a": "x", "checksum": 0}, summed) == fnv1a(text)
