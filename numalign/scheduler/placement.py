"""The placement encoding: which container is on which NUMA node, in few bytes (docs/rules/scheduling.md 9).

Its numbers are LEB89: printable text that needs no quoting in JSON, YAML or XML (N-5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import accumulate, pairwise
from typing import Final

from numalign.scheduler.nrt.value import (
    NUMA_ZONE,
    PLACEMENT_METADATA,
    PLACEMENT_VECTOR,
    NodeResourceTopology,
    attribute,
    zone_id,
)
from numalign.scheduler.xxh64 import xxh64
from numalign.values import NamedTuple

ALPHABET: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"&<>\\')
"""Characters 0 to 63 end a number, 64 to 88 continue it."""
_ENDS: Final = 64
_BASE: Final = len(ALPHABET) - _ENDS
_VALUE: Final = {character: value for value, character in enumerate(ALPHABET)}


class Leb89Error(ValueError):
    """A text is no LEB89."""


def write_leb89(values: Iterable[int]) -> str:
    """Write whole numbers from 0 on, one after the other, without a separator."""
    return "".join([_one(value) for value in values])


def _one(value: int) -> str:
    if value < _ENDS:
        return ALPHABET[value]
    rest, last = divmod(value - _ENDS, _ENDS)
    digits = [last]
    while True:
        rest, digit = divmod(rest, _BASE)
        digits.append(_ENDS + digit)
        if not rest:
            return "".join(ALPHABET[digit] for digit in reversed(digits))


def read_leb89(text: str) -> tuple[int, ...]:
    """Read all numbers of a text.

    Raises:
        Leb89Error: a character is outside the alphabet, or the text ends inside a number.
    """
    values = []
    head, within = 0, False
    for character in text:
        digit = _VALUE.get(character)
        if digit is None:
            raise Leb89Error(f"{character!r} is no character of LEB89")
        if digit >= _ENDS:
            head, within = head * _BASE + digit - _ENDS, True
        else:
            values.append(head * _ENDS + _ENDS + digit if within else digit)
            head, within = 0, False
    if within:
        raise Leb89Error("the text ends inside a number")
    return tuple(values)


PREFIX: Final = "npv0v001"
SEPARATOR: Final = "::"
ENCODING: Final = "leb89"

ContainerId = tuple[str, str, str]
"""Namespace, pod, container."""
Placement = Mapping[ContainerId, int]
"""Container -> NUMA id."""


class PlacementError(ValueError):
    """A placement cannot be written or read.

    Attributes:
        code: the class of the error, kebab-case.
    """

    def __init__(self, code: str) -> None:
        self.code = code


class Metadata(NamedTuple):
    """The metadata of a placement (N-1). -1, or an empty encoding: the text did not say."""

    encoding: str = ""
    containers: int = -1
    numa_nodes: int = -1
    busiest: int = -1


class Payload(NamedTuple):
    """A whole placement as it is published."""

    metadata: Metadata
    vectors: Mapping[int, str]
    """NUMA id -> vector; the busiest node has none."""


def container_number(container: ContainerId) -> int:
    """Number a container (N-2)."""
    return xxh64("\0".join(container).encode(errors="surrogatepass"))


def write_metadata(metadata: Metadata) -> str:
    """Write the text of the metadata (N-1)."""
    fields = zip(_KEYS, metadata, strict=True)
    return SEPARATOR.join([PREFIX, *(f"{key}={value}" for key, value in fields)])


_KEYS: Final = ("ve", "cc", "nn", "bn")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


def read_metadata(text: str) -> Metadata:
    """Read the text of the metadata; only its form is checked.

    Raises:
        PlacementError: another prefix, an unknown key, a missing value, no number.
    """
    prefix, separator, rest = text.partition(SEPARATOR)
    if prefix != PREFIX or not separator:
        raise PlacementError("prefix")
    fields: dict[str, str | int] = {}
    for pair in rest.split(SEPARATOR):
        key, equals, value = pair.partition("=")
        if not equals:
            raise PlacementError("not-a-pair")
        if not key or not value:
            raise PlacementError("no-value" if key else "no-key")
        if key == _KEYS[0]:
            fields["encoding"] = value
            continue
        if not _NUMBER.fullmatch(value):
            raise PlacementError("not-a-number")
        if key not in _KEYS:
            raise PlacementError("unknown-key")
        fields[Metadata._fields[_KEYS.index(key)]] = int(value)
    return Metadata(**fields)  # type: ignore[arg-type]  # the keys above are the fields, each with its type


def encode(containers: Iterable[tuple[ContainerId, int]], numa_nodes: int) -> Payload:
    """Encode a placement; of a container that comes twice the last place counts (N-2 to N-4).

    Raises:
        PlacementError: no NUMA node, or a container on one that does not exist.
    """
    if numa_nodes < 1:
        raise PlacementError("numa-nodes")
    nodes: dict[int, int] = {}
    for container, node in containers:
        if not 0 <= node < numa_nodes:
            raise PlacementError("wrong-affinity")
        nodes[container_number(container)] = node
    offsets: dict[int, list[int]] = {}
    for offset, (_, node) in enumerate(sorted(nodes.items())):
        offsets.setdefault(node, []).append(offset)
    # Most containers, then the lowest id; none at all: node 0 (N-3).
    busiest = min(offsets, key=lambda node: (-len(offsets[node]), node), default=0)
    vectors = {node: write_vector(members) for node, members in sorted(offsets.items()) if node != busiest}
    return Payload(Metadata(ENCODING, len(nodes), numa_nodes, busiest), vectors)


def write_vector(offsets: Iterable[int]) -> str:
    """Write ascending offsets: the first as it is, then the differences (N-4)."""
    ordered = sorted(offsets)
    return write_leb89([*ordered[:1], *(later - earlier for earlier, later in pairwise(ordered))])


def read_vector(text: str) -> tuple[int, ...]:
    """Read offsets.

    Raises:
        PlacementError: the text is no LEB89.
    """
    try:
        return tuple(accumulate(read_leb89(text)))
    except Leb89Error as error:
        raise PlacementError("corrupt-vector") from error


def check_payload(payload: Payload) -> None:
    """Check a payload without looking into its vectors (N-6).

    Raises:
        PlacementError: it cannot be a placement.
    """
    metadata, vectors = payload
    if metadata.encoding != ENCODING:
        raise PlacementError("encoding")
    if metadata.containers < 0:
        raise PlacementError("containers")
    if len(vectors) >= metadata.numa_nodes:
        raise PlacementError("vectors")
    if not 0 <= metadata.busiest < metadata.numa_nodes:
        raise PlacementError("busiest")
    if vectors and not metadata.containers:
        raise PlacementError("vectors")
    for node in vectors:
        if not 0 <= node < metadata.numa_nodes or node == metadata.busiest:
            raise PlacementError("corrupt-vector")


def decode(payload: Payload, known: Iterable[ContainerId]) -> dict[ContainerId, int]:
    """Decode a placement with the containers that the reader knows (N-6).

    Raises:
        PlacementError: it is no placement, or one of other containers.
    """
    check_payload(payload)
    metadata, vectors = payload
    containers = sorted({container_number(one): one for one in known}.items())
    if len(containers) != metadata.containers:
        raise PlacementError("container-count")
    nodes = [metadata.busiest] * metadata.containers
    seen = 0
    for node, vector in vectors.items():
        for offset in read_vector(vector):
            if offset >= metadata.containers or seen >> offset & 1:
                raise PlacementError("corrupt-vector")
            seen |= 1 << offset
            nodes[offset] = node
    return {container: node for (_, container), node in zip(containers, nodes, strict=True)}


def payload_of(nrt: NodeResourceTopology) -> Payload | None:
    """Read the placement of an object (podresources.md 19); None: it has none.

    Raises:
        PlacementError: the metadata cannot be read.
    """
    text = attribute(nrt.attributes, PLACEMENT_METADATA)
    if text is None:
        return None
    vectors = {}
    for zone in nrt.zones:
        vector, node = attribute(zone.attributes, PLACEMENT_VECTOR), zone_id(zone.name)
        if vector is not None and node is not None and zone.type == NUMA_ZONE:
            vectors[node] = vector
    return Payload(read_metadata(text), vectors)
