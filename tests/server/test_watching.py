"""`verify --listen`: one reading at a time, whoever asks; as a process, also over HTTPS, until it is told to end."""

from __future__ import annotations

import asyncio
import json
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from numalign.server import watching
from numalign.server.watching import NodeService
from tests.cli.running import ENVIRONMENT, ROOT, in_process
from tests.server.test_serve_process import Server, certificate

DRIFTED = ROOT / "tests/live/vm-2n-drift/drifted.snapshot.tar.xz"


async def ask(service: NodeService, path: str = "/metrics") -> tuple[int, str]:
    sent: list[Mapping[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    async def collect(message: Mapping[str, object]) -> None:
        sent.append(message)

    await service({"type": "http", "method": "GET", "path": path, "headers": []}, receive, collect)
    status, body = sent[0]["status"], sent[1]["body"]
    assert isinstance(status, int)
    assert isinstance(body, bytes)
    return status, body.decode()


class Node:
    """Counts its readings, each of which waits until it may end."""

    def __init__(self) -> None:
        self.count = 0
        self.may_end = Event()

    def read(self) -> str:
        self.count += 1
        self.may_end.wait(20)
        return f"reading {self.count}\n"


def test_many_who_ask_at_once_get_one_reading() -> None:
    node = Node()

    async def run() -> list[tuple[int, str]]:
        service = NodeService(node.read)
        asked = [asyncio.create_task(ask(service)) for _ in range(50)]
        assert await ask(service, "/healthz") == (200, "ok\n")
        node.may_end.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(run()) == [(200, "reading 1\n")] * 50
    assert node.count == 1


def test_a_fresh_reading_is_not_made_anew_and_an_old_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node()
    node.may_end.set()

    async def run() -> list[tuple[int, str]]:
        service = NodeService(node.read)
        first = [await ask(service), await ask(service)]
        monkeypatch.setattr(watching, "FRESH_SECONDS", 0.0)
        return [*first, await ask(service)]

    assert [text for _, text in asyncio.run(run())] == ["reading 1\n", "reading 1\n", "reading 2\n"]


def test_a_reading_that_hangs_is_told_and_no_other_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node()
    monkeypatch.setattr(watching, "READING_SECONDS", 0.01)

    async def run() -> list[tuple[int, str]]:
        service = NodeService(node.read)
        late = [await ask(service), await ask(service)]
        node.may_end.set()
        monkeypatch.setattr(watching, "READING_SECONDS", 20.0)
        return [*late, await ask(service)]

    *late, last = asyncio.run(run())
    assert late == [(503, "the reading takes more than 0.01 s\n")] * 2
    assert last == (200, "reading 1\n")


@contextmanager
def listening(node: Path, *flags: str) -> Iterator[Server]:
    words = (sys.executable, "-m", "numalign", "verify", "--node", str(node), "--listen", "127.0.0.1:0", *flags)
    with subprocess.Popen(words, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        try:
            server = Server(process, 0)
            address = str(server.event("listening")["address"])
            yield server._replace(port=int(address.rpartition(":")[2]))
        finally:
            process.kill()


@pytest.mark.parametrize(("by", "statuses"), [(signal.SIGTERM, (0, -15)), (signal.SIGINT, (130, -2))])
def test_it_answers_until_it_is_told_to_end(by: signal.Signals, statuses: tuple[int, ...]) -> None:
    with listening(DRIFTED) as server:
        status, body = server.ask("/metrics")
        assert server.ask("/healthz") == (200, b"ok\n")
        assert server.ask("/v1/filter")[0] == 404
        server.process.send_signal(by)
        ended = server.process.wait(30)

    assert status == 200
    assert b'numalign_containers{verdict="drifted"} 2\n' in body
    assert ended in statuses


def test_a_node_that_goes_is_a_figure_and_a_line_of_the_log(tmp_path: Path) -> None:
    node = tmp_path / "node.tar.xz"
    node.write_bytes(DRIFTED.read_bytes())
    with listening(node) as server:
        node.unlink()
        status, body = server.ask("/metrics")
        event = server.event("the node could not be read")

    assert status == 200
    assert b"numalign_verify_success 0\n" in body
    assert b"numalign_containers" not in body
    assert str(node) in json.dumps(event)


def test_over_https_only_clients_with_a_certificate_get_metrics(tmp_path: Path) -> None:
    authority = certificate(tmp_path, "authority")
    own, client = certificate(tmp_path, "own", authority), certificate(tmp_path, "client", authority)
    known = ssl.create_default_context(cafile=str(authority[0]))
    known.load_cert_chain(*client)
    stranger = ssl.create_default_context(cafile=str(authority[0]))
    flags = ("--tls-cert", str(own[0]), "--tls-key", str(own[1]), "--client-ca", str(authority[0]))
    with listening(DRIFTED, *flags) as server:
        assert server.ask("/metrics", context=known)[0] == 200
        assert server.ask("/metrics", context=stranger)[0] == 403
        assert server.ask("/healthz", context=stranger)[0] == 200


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        (("--node", str(DRIFTED), "--listen", "0.0.0.0:1"), 2, "no TLS off loopback"),
        (("--node", str(DRIFTED), "--listen", "1"), 2, "expected HOST:PORT"),
        (("--node", str(DRIFTED), "--listen", "127.0.0.1:0", "--textfile", "x"), 2, "cannot be used together"),
        (("--node", str(DRIFTED), "--listen", "127.0.0.1:0", "--interval", "6"), 2, "--listen requires --interval 5"),
        (("--listen", "127.0.0.1:0", "--self"), 2, "--pid and --self cannot be used with"),
        (("--host-root", "tests", "--listen", "127.0.0.1:0"), 3, "no kubelet on this host"),
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_answered(flags: tuple[str, ...], status: int, words: str) -> None:
    done = in_process("verify", *flags)

    assert (done.status, done.out) == (status, "")
    assert words in done.err
