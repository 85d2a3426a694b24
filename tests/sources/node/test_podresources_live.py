"""The PodResources API over a socket, asked of a real gRPC server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from numalign.errors import HostError, InputError
from numalign.sources.node import podresources_live
from numalign.sources.node.podresources import Allocatable, PodResources
from numalign.sources.node.podresources_live import ask

SERVICE = "v1.PodResourcesLister"


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def field(number: int, value: int | str | bytes) -> bytes:
    """Write one field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def topology(*nodes: int) -> bytes:
    return b"".join(field(1, field(1, node) if node else b"") for node in nodes)


def device(resource: str, name: str, *nodes: int) -> bytes:
    return field(1, resource) + field(2, name) + (field(3, topology(*nodes)) if nodes else b"")


CONTAINER = b"".join(
    [
        field(1, "app"),
        field(2, device("v/x", "d0", 0)),
        field(2, device("v/x", "d0", 1)),
        field(2, device("v/x", "d1")),
        field(3, varint(1) + varint(200)),  # packed, as proto 3 writes numbers
        field(4, field(1, "memory") + field(2, 1 << 33) + field(3, topology(0, 1))),
        field(5, field(2, "claim") + field(3, "ns") + field(4, field(2, "drv") + field(3, "pool") + field(4, "dev"))),
        field(99, "of a later release"),
        varint(98 << 3 | 5) + bytes(4),
        varint(97 << 3 | 1) + bytes(8),
    ]
)
POD = field(1, "web") + field(2, "default") + field(3, CONTAINER) + field(3, field(1, "sidecar") + field(3, 7))
LIST = field(1, POD)
ALLOCATABLE = field(1, device("v/x", "d0", 0)) + field(2, varint(1) + varint(2)) + field(3, field(1, "memory"))

Handler = Callable[[bytes, grpc.ServicerContext], bytes]


def serve(path: Path, handlers: dict[str, Handler]) -> grpc.Server:
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    methods = {name: grpc.unary_unary_rpc_method_handler(one) for name, one in handlers.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    server.add_insecure_port(f"unix://{path}")
    server.start()
    return server


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Start kubelets that answer what a test wants."""
    running = []

    def start(listed: bytes = LIST, allocatable: bytes = ALLOCATABLE, error: grpc.StatusCode | None = None) -> str:
        def answer(_: bytes, context: grpc.ServicerContext) -> bytes:
            if error:
                context.abort(error, "rejected by rate limit")
            return listed

        path = tmp_path / "kubelet.sock"
        running.append(serve(path, {"List": answer, "GetAllocatableResources": lambda *_: allocatable}))
        return str(path)

    yield start
    for server in running:
        server.stop(None).wait()


def test_a_kubelet_is_asked_over_its_socket(kubelet: Callable[..., str]) -> None:
    found = ask(kubelet())

    assert found.pods is not None
    app, sidecar = found.pods[0].containers
    assert app.cpus == {1, 200}
    assert app.devices == {"v/x": {"d0": (0, 1), "d1": ()}}
    assert app.memory == (("memory", 1 << 33, (0, 1)),)
    assert (app.claimed[0].claim, app.claimed[0].device) == ("claim", "dev")
    assert sidecar.cpus == {7}
    assert found.allocatable == Allocatable(frozenset({1, 2}), (("memory", 0, ()),), {"v/x": {"d0": (0,)}})


def test_an_empty_node_is_one_without_pods(kubelet: Callable[..., str]) -> None:
    assert ask(kubelet(b"", b"")) == PodResources((), Allocatable(frozenset(), (), {}))


def test_a_large_answer_comes_in_many_frames(kubelet: Callable[..., str]) -> None:
    many = b"".join(field(1, field(1, f"pod-{number}") + field(2, "x" * 4000)) for number in range(600))

    found = ask(kubelet(many))

    assert found.pods is not None
    assert len(found.pods) == 600


def test_an_answer_beyond_all_measure_is_cut_off(kubelet: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(podresources_live, "MAX_ANSWER", 1000)

    with pytest.raises(HostError, match="sends more than"):
        ask(kubelet(field(1, field(1, "x" * 5000))))


def test_a_refusal_is_told_in_the_kubelets_words(kubelet: Callable[..., str]) -> None:
    with pytest.raises(HostError, match="List failed: rejected by rate limit"):
        ask(kubelet(error=grpc.StatusCode.RESOURCE_EXHAUSTED))


@pytest.mark.parametrize("data", [b"\x0a\x05a", b"\x0f", b"\x80" * 11, b"\x0a"], ids=repr)
def test_what_is_no_message_is_told(kubelet: Callable[..., str], data: bytes) -> None:
    with pytest.raises(HostError, match="sends"):
        ask(kubelet(data))


def test_a_socket_where_nobody_listens_is_told(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.sock"
    with socket.socket(socket.AF_UNIX) as stream:
        stream.bind(str(path))

    with pytest.raises(HostError, match="cannot be reached: Connection refused"):
        ask(str(path))


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4, b""], ids=["another protocol", "silence"])
def test_somebody_else_on_the_socket_is_told(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "kubelet.sock"
    with socket.socket(socket.AF_UNIX) as stream:
        stream.bind(str(path))
        stream.listen(1)

        def other() -> None:
            connection, _ = stream.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(said)

        thread = threading.Thread(target=other)
        thread.start()
        with pytest.raises(HostError, match=r"does not speak HTTP/2|closes the connection|cannot be reached"):
            ask(str(path))
        thread.join()


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h2.connection", None)

    with pytest.raises(InputError, match=r"pip install 'numalign\[podresources\]'"):
        ask("/nowhere")
