"""The PodResources API over the kubelet's socket (docs/rules/podresources.md 1, 2, 16b), as extra `podresources`.

Two calls with empty requests need little of gRPC, so this speaks HTTP/2 with `h2`, pure Python of 200 kB together with
what it needs, and reads the few flat messages itself. `grpcio` would do the same as 15 MB of compiled code that exists
for some platforms only; who runs this beside a kubelet wants to carry less. The tests speak to a real gRPC server.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from numalign.errors import HostError, InputError
from numalign.sources.node import podresources
from numalign.sources.node.podresources import PodResources
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from h2.connection import H2Connection

TIMEOUT_SECONDS = 10.0
"""Seconds to wait for the kubelet."""
MAX_ANSWER = 16 << 20
"""Most bytes of an answer (3)."""
_SERVICE = "/v1.PodResourcesLister/"
_WINDOW_BYTES = 1 << 24
"""How much the kubelet may send before it is acknowledged: most answers as a whole."""

Fields: TypeAlias = Mapping[int, tuple[str, "Kind"]]
"""Field number -> (name, kind)."""
Kind: TypeAlias = "Literal['text', 'number'] | Fields | list[Kind]"
"""A message is its fields, what is repeated stands in a list."""

_TOPOLOGY: Fields = {1: ("nodes", [{1: ("ID", "number")}])}
_MEMORY: Fields = {1: ("memory_type", "text"), 2: ("size", "number"), 3: ("topology", _TOPOLOGY)}
_DEVICES: Fields = {1: ("resource_name", "text"), 2: ("device_ids", ["text"]), 3: ("topology", _TOPOLOGY)}
_CLAIM_RESOURCE: Fields = {
    number: (name, "text") for number, name in enumerate(("driver_name", "pool_name", "device_name", "share_id"), 2)
}
_DYNAMIC: Fields = {
    2: ("claim_name", "text"),
    3: ("claim_namespace", "text"),
    4: ("claim_resources", [_CLAIM_RESOURCE]),
}
_CONTAINER: Fields = {
    1: ("name", "text"),
    2: ("devices", [_DEVICES]),
    3: ("cpu_ids", ["number"]),
    4: ("memory", [_MEMORY]),
    5: ("dynamic_resources", [_DYNAMIC]),
}
_POD: Fields = {
    1: ("name", "text"),
    2: ("namespace", "text"),
    3: ("containers", [_CONTAINER]),
    4: ("cpu_ids", ["number"]),
    5: ("memory", [_MEMORY]),
}
_LIST: Fields = {1: ("pod_resources", [_POD])}
_ALLOCATABLE: Fields = {1: ("devices", [_DEVICES]), 2: ("cpu_ids", ["number"]), 3: ("memory", [_MEMORY])}


def ask(path: str) -> PodResources:
    """Ask a kubelet what its pods hold and what it could give out.

    Raises:
        InputError: the extra `podresources` is not installed.
        HostError: nobody answers, or what answers is no kubelet.
    """
    return podresources.answer_of(answer(path), path)


def answer(path: str) -> dict[str, object]:
    """Ask a kubelet; the answer is plain data as `podresources.answer_of` takes it.

    Raises:
        InputError: the extra `podresources` is not installed.
        HostError: nobody answers, or what answers is no kubelet.
    """
    listed = decode(_call(path, "List"), _LIST)
    return {
        "pod_resources": listed.get("pod_resources", []),
        "allocatable_resources": decode(_call(path, "GetAllocatableResources"), _ALLOCATABLE),
    }


def _call(path: str, method: str) -> bytes:
    """Make one call with an empty request; returns the message that comes back."""
    try:
        from h2.config import H2Configuration
        from h2.connection import H2Connection
    except ImportError:
        text = "reading a kubelet's socket requires a package; fix: pip install 'numalign[podresources]'"
        raise InputError(text, path) from None
    connection = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.settimeout(TIMEOUT_SECONDS)
            stream.connect(path)
            return _exchange(stream, connection, method, path)
    except TimeoutError:
        raise HostError(f"does not answer within {TIMEOUT_SECONDS:g} s", path) from None
    except OSError as error:
        raise HostError(f"cannot be reached: {error.strerror or error}", path) from None


class _Answer(NamedTuple):
    """What came back on the stream."""

    data: bytes
    status: str
    message: str


def _exchange(stream: socket.socket, connection: H2Connection, method: str, path: str) -> bytes:
    connection.initiate_connection()
    connection.increment_flow_control_window(_WINDOW_BYTES)
    headers = [
        (":method", "POST"),
        (":path", _SERVICE + method),
        (":scheme", "http"),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("user-agent", "numalign"),
    ]
    connection.send_headers(1, headers)
    connection.increment_flow_control_window(_WINDOW_BYTES, 1)
    connection.send_data(1, bytes(5), end_stream=True)
    stream.sendall(connection.data_to_send())
    found = _received(stream, connection, path)
    if found.status != "0":
        text = found.message or f"gRPC status {found.status}"
        raise HostError(f"{method} failed: {text}", path)
    length = int.from_bytes(found.data[1:5], "big")
    if len(found.data) < 5 or found.data[0] or len(found.data) != 5 + length:
        raise HostError("sends no plain gRPC message; fix: name a kubelet's PodResources socket", path)
    return found.data[5:]


def _received(stream: socket.socket, connection: H2Connection, path: str) -> _Answer:
    """Read until the stream ends."""
    from h2.events import (
        ConnectionTerminated,
        DataReceived,
        ResponseReceived,
        StreamEnded,
        StreamReset,
        TrailersReceived,
    )
    from h2.exceptions import ProtocolError

    data = bytearray()
    trailers: dict[str, str] = {}
    while True:
        chunk = stream.recv(65536)
        if not chunk:
            raise HostError("closes the connection during its answer", path)
        try:
            events = connection.receive_data(chunk)
        except ProtocolError as error:
            text = f"does not speak HTTP/2 ({error}); fix: name a kubelet's PodResources socket"
            raise HostError(text, path) from None
        for event in events:
            if isinstance(event, DataReceived):
                data += event.data
                if len(data) > MAX_ANSWER:
                    raise HostError(f"sends more than {MAX_ANSWER >> 20} MiB", path)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, ResponseReceived | TrailersReceived):
                trailers.update((str(name), str(value)) for name, value in event.headers or ())
            elif isinstance(event, StreamReset | ConnectionTerminated):
                raise HostError(f"breaks off (HTTP/2 error {event.error_code})", path)
            elif isinstance(event, StreamEnded):
                return _Answer(bytes(data), trailers.get("grpc-status", ""), trailers.get("grpc-message", ""))
        stream.sendall(connection.data_to_send())


def decode(data: bytes, fields: Fields) -> dict[str, object]:
    """Read a protobuf message; fields that are not known are passed over, as the format wants it.

    Raises:
        HostError: it is none.
    """
    result: dict[str, object] = {}
    for number, value in _parts(data):
        known = fields.get(number)
        if known is None:
            continue
        name, kind = known
        if isinstance(kind, list):
            row = result.setdefault(name, [])
            if isinstance(row, list):
                row += _values(value, kind[0])
        else:
            for one in _values(value, kind):
                result[name] = one
    return result


def _values(value: int | bytes, kind: Kind) -> Iterable[object]:
    """Yield what stands in a field: several values only where they are numbers packed together."""
    if isinstance(value, int):
        # A negative number comes as one of 64 bits.
        yield value - (1 << 64) if value >> 63 else value
    elif isinstance(kind, Mapping):
        yield decode(value, kind)
    elif kind == "text":
        yield value.decode("utf-8", "replace")
    else:
        place = 0
        while place < len(value):
            number, place = _varint(value, place)
            yield number


def _parts(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value) of a message: a number, or the bytes of a text or message."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        kind = tag & 7
        if kind == 0:
            number, place = _varint(data, place)
            yield tag >> 3, number
            continue
        length, place = (8, place) if kind == 1 else (4, place) if kind == 5 else _length(data, place, kind)
        if place + length > len(data):
            raise HostError("sends a message that is cut off")
        if kind == 2:
            yield tag >> 3, data[place : place + length]
        place += length


def _length(data: bytes, place: int, kind: int) -> tuple[int, int]:
    if kind != 2:
        raise HostError("sends an invalid protobuf message")
    return _varint(data, place)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Read a number of seven bits a byte; returns it and the place after it."""
    result = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        place += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, place
        shift += 7
    raise HostError("sends a message that is cut off")
