"""A server over HTTP and HTTPS, on uvicorn (extra `numalign[serve]`).

Why uvicorn: it is small (h11 and click, which numalign has anyway), kept by many, speaks TLS with client certificates,
stops gracefully, and lets one class of its own add the one thing it lacks: a deadline for the header of a request, so
that slow clients hold nothing. aiohttp would bring six compiled packages, a threaded server a thread for each client.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import ssl
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from numalign.errors import InputError
from numalign.server.service import Service, say
from numalign.store.reading import reading
from numalign.values import NamedTuple

HEADER_SECONDS: Final = 5
"""In which the header of a request has to arrive."""
IDLE_SECONDS: Final = 65
"""A connection may be idle so long between two requests; kube-scheduler keeps its own for 60."""
LOOK_SECONDS: Final = 1.0
"""How often files and certificates are looked at."""
GRACE_SECONDS: Final = 10
"""What is under way when the server is told to stop has so long to end."""


class Listen(NamedTuple):
    """Where to listen, and how."""

    host: str
    port: int
    certificate: str | None = None
    key: str | None = None
    client_ca: str | None = None
    """Only clients with a certificate of this authority are answered; others may ask whether the server is up."""
    client_names: frozenset[str] = frozenset()
    """Names of which a client's certificate must have one; empty: any."""

    @property
    def files(self) -> list[str]:
        """The files of certificates and keys."""
        return [path for path in (self.certificate, self.key, self.client_ca) if path is not None]


class _Protocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a deadline for the header of every request, and a look at the client's certificate."""

    application: Service
    listen: Listen
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        if self.listen.client_ca is not None and not self._may_ask(transport):
            self.app = self.application.probes
        self._arm()

    def _may_ask(self, transport: asyncio.Transport) -> bool:
        """Tell by the certificate, which is of the authority or not there, whether the client may ask for more."""
        found = transport.get_extra_info("peercert") or {}
        subject = [pair for part in found.get("subject", ()) for pair in part]
        names = {value for kind, value in (*subject, *found.get("subjectAltName", ())) if kind in _NAMES}
        return bool(found) and (not self.listen.client_names or bool(names & self.listen.client_names))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._answers():
            self._disarm()
        else:
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def _answers(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _arm(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._expired)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expired(self) -> None:
        self._deadline = None
        if not self._answers() and not self.transport.is_closing():
            self.transport.abort()


_NAMES = ("commonName", "DNS", "URI", "email")
"""Parts of a certificate that name its owner."""


class _Log(logging.Handler):
    """Writes what uvicorn itself has to say as every other line of the log."""

    def emit(self, record: logging.LogRecord) -> None:
        error = {"error": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        say({"level": record.levelname.lower(), "event": record.getMessage(), **error})


def serve(app: Service, listen: Listen) -> None:
    """Answer until the process is told to stop.

    Raises:
        InputError: the address cannot be used, or a certificate is none.
    """
    config = uvicorn.Config(
        app,
        host=listen.host,
        port=listen.port,
        http=type("Protocol", (_Protocol,), {"application": app, "listen": listen}),
        proxy_headers=False,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=64 << 10,
        ssl_certfile=listen.certificate,
        ssl_keyfile=listen.key,
        ssl_ca_certs=listen.client_ca,
        ssl_cert_reqs=ssl.CERT_OPTIONAL if listen.client_ca else ssl.CERT_NONE,
    )
    _look_at(listen)
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"certificate and key do not match: {error}", str(listen.certificate)) from None
    logging.getLogger("uvicorn").addHandler(_Log(logging.WARNING))
    _settle()
    asyncio.run(_run(uvicorn.Server(config), app, listen))


def _settle() -> None:
    """Take what is known of the nodes out of the search for cycles, which would else stop every hundredth answer."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


async def _run(server: uvicorn.Server, app: Service, listen: Listen) -> None:
    watch = asyncio.create_task(_watch(server, app, listen))
    try:
        await server.serve()
    except SystemExit:
        raise InputError("the address cannot be used", f"{listen.host}:{listen.port}") from None
    finally:
        watch.cancel()


async def _watch(server: uvicorn.Server, app: Service, listen: Listen) -> None:
    """Notice changed files, renewed certificates, and that the server is told to stop."""
    while not server.started and not server.should_exit:
        await asyncio.sleep(0.01)
    address = next((socket.getsockname() for one in server.servers for socket in one.sockets), None)
    if address is not None:
        say({"level": "info", "event": "listening", "address": f"{address[0]}:{address[1]}", **app.about})
    certificates = _stamp(listen)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if server.should_exit:
            app.ready = False
            return
        if await app.look():
            _settle()
        now = _stamp(listen)
        if now != certificates:
            certificates = now
            _renew(server, listen)


def _look_at(listen: Listen) -> None:
    """Refuse what `ssl` would wait at, or read without end; it opens files itself."""
    for path in listen.files:
        with reading(path):
            pass


def _stamp(listen: Listen) -> list[tuple[int, int]]:
    """Tell certificates apart from what they were; links are followed."""
    found = []
    for path in listen.files:
        try:
            status = os.stat(path)
            found.append((status.st_ino, status.st_mtime_ns))
        except OSError:
            found.append((0, 0))
    return found


def _renew(server: uvicorn.Server, listen: Listen) -> None:
    """Use a renewed certificate for new connections; a bad one leaves the old in force."""
    context = server.config.ssl
    if context is None or listen.certificate is None:
        return
    try:
        _look_at(listen)
        fresh = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        fresh.load_cert_chain(listen.certificate, listen.key)
        context.load_cert_chain(listen.certificate, listen.key)
        if listen.client_ca is not None:
            context.load_verify_locations(listen.client_ca)
    except (OSError, ssl.SSLError, InputError) as error:
        say({"level": "error", "event": "the certificate was not renewed", "error": str(error)})
    else:
        say({"level": "info", "event": "certificate renewed"})
