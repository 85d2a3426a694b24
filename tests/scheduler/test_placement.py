"""Hashes, LEB89 and the placement encoding: check values and round trips (docs/rules/scheduling.md 9)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.scheduler import placement
from numalign.scheduler.fingerprint import check_fingerprint, fingerprint
from numalign.scheduler.nrt.value import PLACEMENT_METADATA, PLACEMENT_VECTOR, NodeResourceTopology, Zone
from numalign.scheduler.xxh64 import xxh64


@pytest.mark.parametrize(
    ("data", "seed", "expected"),
    [
        pytest.param(b"", 0, 0xEF46DB3751D8E999, id="nothing"),
        pytest.param(b"a", 0, 0xD24EC4F1A98C6E5B, id="one byte"),
        pytest.param(b"abc", 0, 0x44BC2CF5AD770999, id="three bytes"),
        pytest.param(b"ns\0pod\0cnt", 0, 9468815510407277218, id="a container"),
        pytest.param(b"\0\0", 0, 11145182160106660097, id="a container of empty texts"),
        pytest.param(b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1, id="more than 32 bytes"),
        pytest.param(b"abcdefghijklmnopqrstuvwxyz012345", 0, 0xBF2CD639B4143B80, id="32 bytes"),
        pytest.param(b"abcdefghijklmnopqrstuvwxyz0123456789", 0, 0x64F23ECF1609B766, id="four bytes more"),
    ],
)
def test_xxh64(data: bytes, seed: int, expected: int) -> None:
    assert xxh64(data, seed) == expected


def test_xxh64_of_every_length() -> None:
    """What the hashes of 0 to 99 bytes, each with another seed, come to; by the reference implementation."""
    together = 0
    for length in range(100):
        together ^= xxh64(bytes(range(length)), length << 56)
    assert together == 0xDA64C7EAAF65F7B3


def test_fingerprints() -> None:
    assert fingerprint([]) == "pfp0v001ef46db3751d8e999"
    assert fingerprint([("default", "a"), ("net", "dpdk")]) == "pfp0v00132fed319f0872ae3"
    assert (
        check_fingerprint(fingerprint([("net", "dpdk"), ("default", "a")]), [("default", "a"), ("net", "dpdk")])
        == "match"
    )


@pytest.mark.parametrize(
    ("value", "text"), [(0, "!"), (63, "e"), (64, "f!"), (1663, "~e"), (1664, "gf!"), (40063, "~~e")]
)
def test_leb89(value: int, text: str) -> None:
    assert placement.write_leb89([value]) == text


@given(st.lists(st.integers(0, 2**70)))
def test_leb89_comes_back(values: list[int]) -> None:
    text = placement.write_leb89(values)
    assert list(placement.read_leb89(text)) == values
    assert not set(text) & set('"&<>\\ ')


def test_the_example_of_the_rules() -> None:
    containers = [
        (("default", "a", "main"), 0),
        (("default", "b", "main"), 1),
        (("net", "dpdk", "fwd"), 1),
        (("net", "dpdk", "sidecar"), 1),
    ]
    payload = placement.encode(containers, 2)
    assert placement.write_metadata(payload.metadata) == "npv0v001::ve=leb89::cc=4::nn=2::bn=1"
    assert payload.vectors == {0: "!"}


@pytest.mark.parametrize("text", ["", "npv0v001", "npv0v001:", "npv0v001:ve=leb89"])
def test_a_prefix_without_its_separator_is_none(text: str) -> None:
    with pytest.raises(placement.PlacementError) as caught:
        placement.read_metadata(text)
    assert caught.value.code == "prefix"


names = st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=4)
containers = st.dictionaries(st.tuples(names, names, names), st.integers(0, 7), max_size=30)


@given(containers)
def test_a_placement_comes_back(known: dict[tuple[str, str, str], int]) -> None:
    payload = placement.encode(known.items(), 8)
    assert placement.read_metadata(placement.write_metadata(payload.metadata)) == payload.metadata
    assert placement.decode(payload, reversed(known)) == known


WHOLE = {"ve": "leb89", "cc": "1", "nn": "2", "bn": "0"}


@pytest.mark.parametrize(
    ("missing", "code"), [("ve", "encoding"), ("cc", "containers"), ("nn", "vectors"), ("bn", "busiest")]
)
def test_what_the_metadata_do_not_say_is_missed(missing: str, code: str) -> None:
    text = "::".join(["npv0v001", *(f"{key}={value}" for key, value in WHOLE.items() if key != missing)])
    with pytest.raises(placement.PlacementError) as caught:
        placement.decode(placement.Payload(placement.read_metadata(text), {}), [("ns", "pod", "c")])
    assert caught.value.code == code


ODD = [
    ("no containers are fewer than none", placement.Metadata("leb89", -1, 2, 0), {}, "containers"),
    ("as many vectors as nodes", placement.Metadata("leb89", 2, 2, 0), {0: "!", 1: "!"}, "vectors"),
    ("vectors without a container", placement.Metadata("leb89", 0, 2, 0), {1: "!"}, "vectors"),
    ("a busiest node that is not there", placement.Metadata("leb89", 1, 2, 2), {}, "busiest"),
    ("a vector of the busiest node", placement.Metadata("leb89", 1, 2, 0), {0: "!"}, "corrupt-vector"),
    ("a vector of a node below 0", placement.Metadata("leb89", 1, 2, 0), {-1: "!"}, "corrupt-vector"),
    ("a vector of a node that is not there", placement.Metadata("leb89", 1, 2, 0), {2: "!"}, "corrupt-vector"),
]


@pytest.mark.parametrize(("metadata", "vectors", "code"), [row[1:] for row in ODD], ids=[row[0] for row in ODD])
def test_a_payload_that_can_be_no_placement(metadata: placement.Metadata, vectors: dict[int, str], code: str) -> None:
    """N-6, before any vector is read."""
    with pytest.raises(placement.PlacementError) as caught:
        placement.check_payload(placement.Payload(metadata, vectors))
    assert caught.value.code == code


@pytest.mark.parametrize("vectors", [{1: [2]}, {1: [1], 2: [1]}], ids=["behind the last", "twice the same"])
def test_a_vector_of_containers_that_are_not_there(vectors: dict[int, list[int]]) -> None:
    metadata = placement.Metadata("leb89", 2, 3, 0)
    written = {node: placement.write_vector(offsets) for node, offsets in vectors.items()}
    with pytest.raises(placement.PlacementError) as caught:
        placement.decode(placement.Payload(metadata, written), [("ns", "pod", "c"), ("ns", "pod", "d")])
    assert caught.value.code == "corrupt-vector"


def test_only_zones_of_numa_nodes_have_vectors() -> None:
    """By their type, and by a name that ends in a number (podresources.md 19, 20)."""
    vector = ((PLACEMENT_VECTOR, "!"),)
    zones = [
        Zone("node-1", attributes=vector),
        Zone("node-2", "Core", attributes=vector),
        Zone("odd", attributes=vector),
    ]
    attributes = ((PLACEMENT_METADATA, placement.write_metadata(placement.Metadata("leb89", 1, 3, 0))),)
    found = placement.payload_of(NodeResourceTopology("n", (*zones, Zone("node-0")), attributes))
    assert found is not None
    assert found.vectors == {1: "!"}


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for tail in (text, f"npv0v001::{text}", f"npv0v001::ve=leb89::cc={text}::nn=2::bn=0"):
        with suppress(placement.PlacementError):
            placement.read_metadata(tail)
    with suppress(placement.PlacementError):
        placement.read_vector(text)


@pytest.mark.parametrize(
    ("pair", "code"),
    [("cc", "not-a-pair"), ("=4", "no-key"), ("cc=", "no-value"), ("cc=x", "not-a-number"), ("zz=4", "unknown-key")],
)
def test_a_pair_that_is_none_is_an_error_of_its_own_kind(pair: str, code: str) -> None:
    with pytest.raises(placement.PlacementError) as caught:
        placement.read_metadata(f"npv0v001::{pair}")
    assert caught.value.code == code
