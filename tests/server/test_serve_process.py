"""The server as a process: HTTP and HTTPS, clients good and bad, files that change, a graceful end."""

from __future__ import annotations

import datetime
import http.client
import ipaddress
import json
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.cli.running import ENVIRONMENT, ROOT, in_process
from tests.server.nodes import POD

CLUSTER = ROOT / "docs" / "examples" / "cluster.yaml"
CALL = json.dumps({"Pod": POD, "Nodes": None, "NodeNames": ["node-0", "node-1", "else"]}).encode()
WAIT = 20
"""Seconds in which anything has to have happened, however busy the machine is."""


AT_A_CLOCK_OF_ITS_OWN = """
import asyncio, signal, time
from numalign.__main__ import script
from numalign.server import http

ahead = 0.0


def later(*_):
    global ahead
    ahead += http.HEADER_SECONDS


asyncio.BaseEventLoop.time = lambda _: time.monotonic() + ahead
signal.signal(signal.SIGUSR1, later)
http.LOOK_SECONDS = 0.02
script()
"""
"""A server that looks at its files all the time, and whose clock a signal puts on to the deadline of a header."""


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def ask(self, path: str, body: bytes | None = None, context: ssl.SSLContext | None = None) -> tuple[int, bytes]:
        """Ask over a connection of its own."""
        if context is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        else:
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=WAIT, context=context)
        try:
            connection.request("GET" if body is None else "POST", path, body)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def event(self, name: str) -> dict[str, object]:
        """Wait for a line of the log."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            event: dict[str, object] = json.loads(line)
            if str(event.get("event", "")).startswith(name):
                return event
        raise AssertionError(f"the log ended without {name!r}")


@contextmanager
def serving(
    cluster: Path | None, *flags: str, log: Path | None = None, program: Sequence[str] = ("-m", "numalign")
) -> Iterator[Server]:
    """Start a server of a file, or of what the flags say. Its log is read with `event`; a long one goes to a file."""
    of = () if cluster is None else ("--cluster", str(cluster))
    words = ("serve", *of, "--listen", "127.0.0.1:0", *flags)
    process = subprocess.Popen(
        [sys.executable, *program, *words], cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    try:
        server = Server(process, 0)
        address = str(server.event("listening")["address"])
        if log is not None:
            Thread(target=_copy, args=(process, log), daemon=True).start()
        yield server._replace(port=int(address.rpartition(":")[2]))
    finally:
        process.kill()
        process.communicate()


def _copy(process: subprocess.Popen[str], log: Path) -> None:
    assert process.stderr is not None
    with log.open("w") as file:
        for line in process.stderr:
            file.write(line)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(CLUSTER, program=("-c", AT_A_CLOCK_OF_ITS_OWN)) as one:
        yield one


def test_filter_and_prioritize(server: Server) -> None:
    status, body = server.ask("/v1/filter", CALL)

    assert (status, json.loads(body)) == (
        200,
        {
            "Nodes": None,
            "NodeNames": ["node-0", "node-1", "else"],
            "FailedNodes": {},
            "FailedAndUnresolvableNodes": {},
            "Error": "",
        },
    )
    assert server.ask("/v1/prioritize", CALL)[0] == 200
    assert b"numalign_nodes 2\n" in server.ask("/metrics")[1]


def test_slow_and_broken_clients_harm_nobody(server: Server) -> None:
    """Half of the clients open a connection and dawdle, or send rubbish; every right request is answered rightly."""
    bad = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    for place, one in enumerate(bad):
        one.sendall((b"POST /v1/filter HT", b"\x16\x03\x01junk\r\n\r\n", b"")[place % 3])

    with ThreadPoolExecutor(40) as pool:
        answers = set(pool.map(lambda _: server.ask("/v1/filter", CALL), range(200)))

    assert {status for status, _ in answers} == {200}
    assert len(answers) == 1
    server.process.send_signal(signal.SIGUSR1)
    for one in bad:
        one.settimeout(WAIT)
        with suppress(ConnectionResetError):
            assert one.recv(1) in (b"", b"H")  # cut off, or told that it was no request
        one.close()


def test_the_kubelet_itself_may_judge() -> None:
    """Twelve CPUs fit no NUMA node of eight; the words are the kubelet's, with the numbers."""
    wide = json.loads(json.dumps(POD).replace('"6"', '"12"'))
    call = json.dumps({"Pod": wide, "NodeNames": ["node-0"]}).encode()
    with serving(CLUSTER, "--verdict", "kubelet") as exact:
        reply = json.loads(exact.ask("/v1/filter", call)[1])

    assert reply["FailedAndUnresolvableNodes"] == {
        "node-0": "TopologyAffinityError: Resources cannot be allocated with Topology locality"
        ": c: cpu 12, the largest zone has 8"
    }


def test_a_changed_file_is_read_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.yaml"
    shutil.copy(CLUSTER, cluster)
    with serving(cluster, program=("-c", AT_A_CLOCK_OF_ITS_OWN)) as one:
        cluster.write_text(cluster.read_text().replace("count: 2", "count: 3"))
        assert one.event("reloaded")["nodes"] == 3

        cluster.write_text("nodes: [")
        assert one.event("reload failed")
        text = one.ask("/metrics")[1].decode()

    assert "numalign_nodes 3\n" in text
    assert "numalign_reload_failures_total 1\n" in text


def test_a_swapped_link_is_noticed(tmp_path: Path) -> None:
    """A ConfigMap's files are links to a folder that is replaced in one step."""
    for version, count in (("1", "count: 2"), ("2", "count: 4")):
        (tmp_path / version).mkdir()
        (tmp_path / version / "cluster.yaml").write_text(CLUSTER.read_text().replace("count: 2", count))
    (tmp_path / "data").symlink_to("1")
    with serving(tmp_path / "data" / "cluster.yaml", program=("-c", AT_A_CLOCK_OF_ITS_OWN)) as one:
        (tmp_path / "next").symlink_to("2")
        (tmp_path / "next").replace(tmp_path / "data")

        assert one.event("reloaded")["nodes"] == 4


def test_a_stop_is_graceful() -> None:
    with serving(CLUSTER) as one, closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=WAIT)) as late:
        late.putrequest("POST", "/v1/filter")
        late.putheader("content-length", str(len(CALL)))
        late.endheaders()
        late.send(CALL[:10])
        assert one.ask("/healthz")[0] == 200  # by then it has seen the other one, too
        one.process.send_signal(signal.SIGTERM)
        with suppress(ConnectionRefusedError):  # so does a server that is about to stop
            while True:
                socket.create_connection(("127.0.0.1", one.port)).close()
                time.sleep(0.01)
        late.send(CALL[10:])

        with late.getresponse() as response:
            assert response.status == 200
        assert one.process.wait(WAIT) in (0, -signal.SIGTERM)


def certificate(folder: Path, name: str, authority: Sequence[Path] = ()) -> tuple[Path, Path]:
    """Make a certificate and its key, signed by an authority or by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer, signer = subject, key
    if authority:
        issuer = x509.load_pem_x509_certificate(authority[0].read_bytes()).subject
        loaded = serialization.load_pem_private_key(authority[1].read_bytes(), None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        signer = loaded
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=not authority, path_length=None), True)
        .add_extension(x509.KeyUsage(True, *[False] * 4, not authority, False, False, False), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
        .sign(signer, hashes.SHA256())
    )
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


def test_https_answers_only_clients_with_a_certificate_and_notices_a_renewed_one(tmp_path: Path) -> None:
    authority = certificate(tmp_path, "authority")
    own, client = certificate(tmp_path, "own", authority), certificate(tmp_path, "client", authority)
    known = ssl.create_default_context(cafile=str(authority[0]))
    known.load_cert_chain(*client)
    stranger = ssl.create_default_context(cafile=str(authority[0]))
    foreign = ssl.create_default_context(cafile=str(authority[0]))
    foreign.load_cert_chain(*certificate(tmp_path, "another-authority"))
    flags = ("--tls-cert", str(own[0]), "--tls-key", str(own[1]), "--client-ca", str(authority[0]))
    with serving(CLUSTER, *flags, program=("-c", AT_A_CLOCK_OF_ITS_OWN)) as one:
        assert one.ask("/healthz", context=known) == (200, b"ok\n")
        assert one.ask("/v1/filter", CALL, context=known)[0] == 200
        assert one.ask("/healthz", context=stranger) == (200, b"ok\n")
        assert one.ask("/readyz", context=stranger) == (200, b"ok\n")
        for path, body in (("/v1/filter", CALL), ("/v1/prioritize", CALL), ("/metrics", None), ("/", None)):
            assert one.ask(path, body, context=stranger) == (403, b"the client certificate is not allowed\n")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            one.ask("/healthz", context=foreign)

        before = ssl.get_server_certificate(("127.0.0.1", one.port))
        certificate(tmp_path, "own", authority)
        one.event("certificate renewed")
        after = ssl.get_server_certificate(("127.0.0.1", one.port))

        assert one.ask("/healthz", context=known) == (200, b"ok\n")
    assert before != after


def test_only_certificates_of_a_name_may_ask(tmp_path: Path) -> None:
    authority = certificate(tmp_path, "authority")
    own = certificate(tmp_path, "own", authority)
    contexts = {}
    for name in ("scheduler", "other"):
        contexts[name] = ssl.create_default_context(cafile=str(authority[0]))
        contexts[name].load_cert_chain(*certificate(tmp_path, name, authority))
    flags = ("--tls-cert", str(own[0]), "--tls-key", str(own[1]), "--client-ca", str(authority[0]))
    with serving(CLUSTER, *flags, "--client-name", "scheduler", "--client-name", "x") as one:
        assert one.ask("/v1/filter", CALL, context=contexts["scheduler"])[0] == 200
        assert one.ask("/v1/filter", CALL, context=contexts["other"])[0] == 403
        assert one.ask("/readyz", context=contexts["other"])[0] == 200


def raw(server: Server, *parts: bytes) -> bytes:
    """Send bytes, and read until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as connection:
        for part in parts:
            connection.sendall(part)
        found = b""
        with suppress(ConnectionError):
            while more := connection.recv(65536):
                found += more
    return found


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost."])
def test_on_loopback_another_host_is_refused(server: Server, host: str) -> None:
    for line in (b"GET /healthz", b"POST /v1/filter"):
        answer = raw(server, line + f" HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize("host", ["localhost", "localhost:8899", "127.0.0.1:1", "[::1]:8899", "[::1]"])
def test_on_loopback_its_own_names_are_answered(server: Server, host: str) -> None:
    head = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert raw(server, head.encode()).startswith(b"HTTP/1.1 200 ")


def test_silent_connections_that_promise_much_block_nobody(server: Server) -> None:
    head = b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 134217728\r\n\r\n"
    with ExitStack() as open_ones:
        for _ in range(8):
            one = open_ones.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=WAIT))
            one.sendall(head)
        assert server.ask("/v1/filter", CALL)[0] == 200


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(("--client-name", "x"), "client names require certificates\nfix: add", id="no authority"),
        pytest.param(("--listen", "0.0.0.0:1"), "no TLS off loopback\nfix: add --tls-cert", id="open to everybody"),
        pytest.param(("--listen", "8899"), "expected HOST:PORT, got '8899'", id="no host"),
        pytest.param(("--tls-cert", "x"), "require each other\nfix: add both", id="no key"),
        pytest.param(("--tls-cert", "README.md", "--tls-key", "README.md"), "certificate and key do not match",
                     id="no certificate"),
    ],
)  # fmt: skip
def test_what_must_not_be_is_refused(flags: tuple[str, ...], message: str) -> None:
    done = in_process("serve", "--cluster", str(CLUSTER), *flags)

    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_an_address_in_use_is_told(server: Server) -> None:
    done = in_process("serve", "--cluster", str(CLUSTER), "--listen", f"127.0.0.1:{server.port}")

    assert done.status == 2
    assert f"127.0.0.1:{server.port}: the address cannot be used" in done.err
