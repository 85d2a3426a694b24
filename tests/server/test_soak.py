"""Many clients at once, half of them slow, cut off or talking rubbish: right requests are answered rightly.

No wrong answer, no growth of memory, no 5xx that a right request got (docs/serve.md). `make soak` runs 200 clients for
a minute, `make test` a few for a moment.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import pytest

from numalign.scheduler.nrt.value import manifest
from numalign.server.app import Limits
from numalign.server.http import HEADER_SECONDS
from numalign.tasks.pools import INSTANCE_TYPE
from tests.server.nodes import node
from tests.server.test_serve_process import Server, serving
from tests.server.test_templates import node as template

COUNT = 300
MAX_GROWTH_KIB = 16 << 10
"""What the allocator may keep; a leak of a kilobyte a request would be many times as much in a minute."""
BODY_SECONDS = Limits().body_seconds
WARM = 0.3
"""After this share of the time the server has seen every kind of client; from then on its memory must not grow."""


class Exchange(NamedTuple):
    """A right request, and what it has to be answered."""

    path: str
    body: bytes
    answer: object


class Tally(NamedTuple):
    """What the clients saw."""

    right: int
    wrong: tuple[str, ...]


def free_cpus(place: int) -> tuple[int, int]:
    return place % 9, place * 7 % 9


def cluster(file: Path) -> None:
    """Write nodes with 8 CPUs on each of two NUMA nodes, of which more or less are free."""
    nodes = [node(f"n{place}", free_cpus(place), 8) for place in range(COUNT)]
    file.write_text(json.dumps({"kind": "List", "items": [manifest(one.nrt) for one in nodes if one.nrt]}))


def exchange(cpus: int, names: list[int]) -> Exchange:
    """Ask for a pod of so many CPUs. What is right is plain to see: one NUMA node has to have as many free."""
    limits = {"cpu": str(cpus), "memory": "1Gi"}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]}}
    failed = {}
    for place in names:
        best = max(free_cpus(place))
        if best < cpus:
            zone = free_cpus(place).index(best)
            failed[f"n{place}"] = f"cannot align container: c: cpu {cpus}, best zone {zone} has {best}"
    called = [f"n{place}" for place in names]
    body = {"Pod": pod, "Nodes": None, "NodeNames": called}
    answer = {
        "Nodes": None,
        "NodeNames": [name for name in called if name not in failed],
        "FailedNodes": failed,
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }
    return Exchange("/v1/filter", json.dumps(body).encode(), answer)


CONFIG = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cpuManagerPolicy: static
topologyManagerPolicy: single-numa-node
kubeReserved: {cpu: "1"}
"""


def pools(folder: Path) -> tuple[str, ...]:
    """Say by flags how the kubelets of instances with eight GPUs are set; their machine is a bundled one."""
    (folder / "kubelet.yaml").write_text(CONFIG)
    return ("--kubelet-config-of", f"{INSTANCE_TYPE}=p5.48xlarge:{folder / 'kubelet.yaml'}")


def whole(gpus: int, places: list[int]) -> Exchange:
    """Ask for a pod with GPUs on nodes of three kinds: known ones have none, a template's NUMA node has four."""
    known = [{"metadata": {"name": f"n{place}"}} for place in places if max(free_cpus(place))]
    templates = [template(f"template-{place}") for place in places]
    unknown = [{"metadata": {"name": f"unknown-{place}", "labels": {INSTANCE_TYPE: "m5.large"}}} for place in places]
    limits = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": str(gpus)}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]}}
    failed = {
        one["metadata"]["name"]: f"cannot align container: c: nvidia.com/gpu {gpus}, 0 in every zone" for one in known
    }
    said = "TopologyAffinityError: Resources cannot be allocated with Topology locality"
    passed = [*([] if gpus > 4 else templates), *unknown]
    if gpus > 4:
        failed |= {f"template-{place}": f"{said}: c: nvidia.com/gpu {gpus}, the largest zone has 4" for place in places}
    answer = {
        "Nodes": {"metadata": {}, "items": passed},
        "NodeNames": None,
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": failed,
        "Error": "",
    }
    body = {"Pod": pod, "Nodes": {"items": [*known, *templates, *unknown]}, "NodeNames": None}
    return Exchange("/v1/filter", json.dumps(body).encode(), answer)


def request(path: str, body: bytes) -> bytes:
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n\r\n"
    return head.encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
    return int(lines[0].split()[1]), await reader.readexactly(length)


async def good(port: int, exchanges: list[Exchange], until: float, chance: random.Random) -> Tally:
    """Ask right requests over one connection, one after the other, at least one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    right, wrong = 0, []
    while time.monotonic() < until or not right + len(wrong):
        one = chance.choice(exchanges)
        writer.write(request(one.path, one.body))
        status, body = await answer(reader)
        if status == 200 and json.loads(body) == one.answer:
            right += 1
        else:
            wrong.append(f"{status}: {body[:200]!r}")
    writer.close()
    return Tally(right, tuple(wrong))


Bad = Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]]


async def _drips(_: asyncio.StreamReader, writer: asyncio.StreamWriter, call: bytes) -> None:
    for place in range(0, 60, 3):
        writer.write(call[place : place + 3])
        await writer.drain()
        await asyncio.sleep(0.05)


async def _cut(_: asyncio.StreamReader, writer: asyncio.StreamWriter, call: bytes) -> None:
    writer.write(call[: len(call) // 2])
    await writer.drain()


async def _cut_reply(_: asyncio.StreamReader, writer: asyncio.StreamWriter, call: bytes) -> None:
    writer.write(call)
    await writer.drain()
    writer.transport.abort()


async def _silent(_: asyncio.StreamReader, __: asyncio.StreamWriter, ___: bytes) -> None:
    await asyncio.sleep(0.5)


def _says(text: bytes) -> Bad:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(text)
        await writer.drain()
        await reader.read(100)

    return say


BAD: tuple[Bad, ...] = (
    _drips,
    _cut,
    _cut_reply,
    _silent,
    _says(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),  # a TLS hello
    _says(b"GET / HTTP/9.9\r\n\r\n"),
    _says(request("/v1/filter", b'{"Pod":{"spec"')),
    _says(request("/v1/filter", b"[" * 50_000)),
    _says(request("/v1/filter", b'{"Pod":{},"NodeNames":[1]}')),
    _says(request("/v1/bind", b"{}")),
    _says(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n"),
    _says(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
    _says(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    _says(b"X" * 100_000),
)


async def bad(port: int, call: bytes, until: float, kinds: list[Bad]) -> None:
    """Be one bad client after another."""
    for kind in cycle(kinds):
        if time.monotonic() >= until:
            return
        writer: asyncio.StreamWriter | None = None
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.timeout(6):
                await kind(reader, writer, call)
        if writer is not None:
            writer.close()


def figure_kib(server: Server, name: str) -> int:
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith(name)).split()[1])


def memory_kib(server: Server) -> int:
    return figure_kib(server, "VmRSS")


async def watch(server: Server, seconds: float) -> tuple[int, int]:
    await asyncio.sleep(seconds * WARM)
    warm = memory_kib(server)
    await asyncio.sleep(seconds * (1 - WARM) - 0.1)
    return warm, memory_kib(server)


async def storm(server: Server, clients: int, seconds: float) -> tuple[Tally, int]:
    """Let half of the clients ask, and the other half be bad; also gives by how much the memory grew, in KiB."""
    chance = random.Random(clients)
    exchanges = [exchange(cpus, chance.sample(range(COUNT), 40)) for cpus in range(1, 9) for _ in range(4)]
    exchanges += [whole(gpus, chance.sample(range(COUNT), 13)) for gpus in range(1, 9) for _ in range(2)]
    until = time.monotonic() + seconds
    call = request(exchanges[0].path, exchanges[0].body)
    kinds = [chance.sample(BAD, len(BAD)) for _ in range(clients // 2)]
    tallies, _, (warm, end) = await asyncio.gather(
        asyncio.gather(*(good(server.port, exchanges, until, random.Random(n)) for n in range(clients - clients // 2))),
        asyncio.gather(*(bad(server.port, call, until, order) for order in kinds)),
        watch(server, seconds),
    )
    wrong = tuple(text for one in tallies for text in one.wrong)
    return Tally(sum(one.right for one in tallies), wrong), end - warm


@pytest.mark.parametrize(
    ("clients", "seconds"), [(40, 0.6), pytest.param(200, 60.0, marks=pytest.mark.soak)], ids=["a moment", "a minute"]
)
def test_bad_clients_harm_nobody(
    clients: int, seconds: float, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    cluster(tmp_path / "nrts.json")
    log = tmp_path / "log"
    with serving(tmp_path / "nrts.json", *pools(tmp_path), log=log) as server:
        tally, grown = asyncio.run(storm(server, clients, seconds))
        metrics = server.ask("/metrics")[1].decode()

    record_property("right", tally.right)
    record_property("grown KiB", grown)
    assert not tally.wrong[:3]
    assert tally.right >= clients // 2
    assert 'code="5' not in metrics
    assert grown < MAX_GROWTH_KIB
    for line in log.read_text().splitlines():
        assert json.loads(line)["level"] in ("info", "warning"), line


WHOLE_NODES = 5000
LARGE_BODY = 120 << 20
MAX_PEAK_KIB = 1200 << 10
"""What the server may take at its peak while it answers a body of 120 MiB: bytes, objects and answer, and no more."""


def whole_node(place: int) -> dict[str, object]:
    """Make a Node as kube-scheduler sends it: some 25 KiB, most of it images and who set which field."""
    images = [
        {"names": [f"registry.example/team-{one}/image@sha256:{one:064x}", f"registry.example/team-{one}/image:v1"]}
        for one in range(90)
    ]
    fields = {f"f:label.example/{one}": {"f:value": {}, "f:set-by": f"{one:032x}"} for one in range(90)}
    metadata = {"name": f"n{place}", "managedFields": [{"manager": "kubelet", "fieldsV1": fields}]}
    return {"metadata": metadata, "status": {"images": images, "nodeInfo": {"machineID": f"{place:032x}"}}}


@pytest.mark.soak
def test_a_body_of_120_mib_is_answered_and_harms_nobody(tmp_path: Path) -> None:
    """Without `nodeCacheCapable` kube-scheduler sends whole Nodes, and gets them back."""
    cluster(tmp_path / "nrts.json")
    small = exchange(5, list(range(40)))
    limits = {"cpu": "5", "memory": "1Gi"}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]}}
    items = [whole_node(place) for place in range(WHOLE_NODES)]
    body = json.dumps({"Pod": pod, "Nodes": {"items": items}, "NodeNames": None}).encode()
    body += b" " * (LARGE_BODY - len(body))
    assert LARGE_BODY <= len(body) <= 128 << 20
    passed = [place for place in range(WHOLE_NODES) if place >= COUNT or max(free_cpus(place)) >= 5]

    async def large(port: int) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=256 << 20)
        writer.write(request("/v1/filter", body))
        reply = await answer(reader)
        writer.close()
        return reply

    async def both(port: int) -> tuple[list[tuple[int, bytes]], Tally]:
        others = asyncio.create_task(good(port, [small], time.monotonic() + 5, random.Random(1)))
        replies = [await large(port), await large(port)]
        return replies, await others

    with serving(tmp_path / "nrts.json", log=tmp_path / "log") as server:
        replies, tally = asyncio.run(both(server.port))
        peak = figure_kib(server, "VmHWM")

    for status, reply in replies:
        assert status == 200
        assert [node["metadata"]["name"] for node in json.loads(reply)["Nodes"]["items"]] == [f"n{n}" for n in passed]
    assert not tally.wrong
    assert tally.right
    assert peak < MAX_PEAK_KIB


@pytest.mark.soak
def test_slow_headers_and_bodies_are_cut_at_their_deadlines(tmp_path: Path) -> None:
    """Whoever sends a byte every half second keeps neither alive; others are answered meanwhile."""
    cluster(tmp_path / "nrts.json")
    small = exchange(5, list(range(40)))

    async def drip(port: int, at_once: bytes) -> tuple[float, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(at_once)
        start = time.monotonic()
        said = asyncio.create_task(reader.read(1000))
        while not said.done() and time.monotonic() < start + 30:
            writer.write(b"x")
            await asyncio.wait([said], timeout=0.5)
        seconds = time.monotonic() - start
        writer.transport.abort()
        with suppress(ConnectionError):
            return seconds, await said
        return seconds, b""

    async def all_of_them(port: int) -> tuple[list[tuple[float, bytes]], list[tuple[float, bytes]], Tally]:
        headers = [drip(port, b"POST /v1/filter HTTP/1.1\r\nX: ") for _ in range(20)]
        bodies = [drip(port, request("/v1/filter", b"x" * 1000)[:-1000]) for _ in range(20)]
        others = good(port, [small], time.monotonic() + 9, random.Random(1))
        return await asyncio.gather(asyncio.gather(*headers), asyncio.gather(*bodies), others)

    with serving(tmp_path / "nrts.json", log=tmp_path / "log") as server:
        headers, bodies, tally = asyncio.run(all_of_them(server.port))

    assert {said for _, said in headers} == {b""}
    assert all(HEADER_SECONDS - 0.1 < seconds < HEADER_SECONDS + 5 for seconds, _ in headers)
    assert {said.split()[1] for _, said in bodies} == {b"408"}
    assert all(BODY_SECONDS - 0.1 < seconds < BODY_SECONDS + 5 for seconds, _ in bodies)
    assert not tally.wrong
    assert tally.right > 100
