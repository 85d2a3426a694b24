"""What an API server says: lists and watches over HTTP, each within a bound and a deadline.

A server may be slow, cut off, or lie: whatever it does ends in an `APIError`, and its caller begins again.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from threading import Timer
from time import monotonic
from typing import Final
from urllib.parse import urlencode, urlsplit

from numalign.errors import InputError
from numalign.sources.text.json import loads
from numalign.store.reading import reading
from numalign.values import NamedTuple

IN_CLUSTER: Final = "in-cluster"
ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where a pod finds the token and the authority of its service account."""
ANSWER_SECONDS: Final = 60.0
"""In which a whole answer, or the header of a watch, has to arrive; also one line of a watch."""
MAX_PAGE: Final = 256 << 20
"""Bytes of a page of a list."""
MAX_LINE: Final = 16 << 20
"""Bytes of an event; etcd holds objects of 1.5 MiB at most."""
_PIECE: Final = 1 << 16

Data = Mapping[str, object]


class APIError(Exception):
    """The server did not answer as it should; the text says what happened."""

    def __init__(self, text: str, *, status: int = 0, lost: bool = True) -> None:
        """Keep what a caller decides by.

        Args:
            text: what happened.
            status: the HTTP status; 0: there was none.
            lost: the server may have said something that did not arrive: a watch cannot go on where it was.
        """
        super().__init__(text)
        self.status = status
        self.lost = lost


class Server(NamedTuple):
    """Where an API server is, and who asks."""

    host: str
    port: int
    context: ssl.SSLContext | None = None
    """None: plain HTTP, as `kubectl proxy` speaks it."""
    token: str | None = None
    """The file with the token; it is read anew for each request, since tokens are renewed."""


def server_of(name: str, account: str = ACCOUNT, environment: Mapping[str, str] = os.environ) -> Server:
    """Find the API server: `in-cluster`, or the URL at which `kubectl proxy` listens.

    Raises:
        InputError: it is neither, or this is no pod with a service account.
    """
    if name != IN_CLUSTER:
        return _proxy(name)
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not port.isdecimal():
        raise InputError("this is not a pod of a cluster; fix: kubectl proxy, and --watch http://127.0.0.1:8001", name)
    authority, token = (os.path.join(account, file) for file in ("ca.crt", "token"))
    for file in (authority, token):
        with reading(file):
            pass
    try:
        context = ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"not a certificate: {error}", authority) from None
    return Server(host, int(port), context, token)


def _proxy(url: str) -> Server:
    try:
        parts = urlsplit(url)
        port = parts.port or 80
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/") or parts.query:
        text = f"expected {IN_CLUSTER}, or the URL of kubectl proxy, such as http://127.0.0.1:8001"
        raise InputError(text, "--watch")
    return Server(parts.hostname, port)


def get(server: Server, path: str, query: Mapping[str, str]) -> Data:
    """Ask for one page of a list.

    Raises:
        APIError: there is no right answer.
    """
    with _connection(server, ANSWER_SECONDS) as connection:
        body = bytearray()
        with _deadline(connection):
            response = _ask(connection, server, path, query)
            while piece := response.read1(_PIECE):
                body += piece
                if len(body) > MAX_PAGE:
                    raise APIError(f"a page is larger than {MAX_PAGE >> 20} MiB")
            if response.length:
                raise APIError("the connection ended within a page, or the page took too long")
        return _object(body)


def events(server: Server, path: str, query: Mapping[str, str], silence: float) -> Iterator[Data | None]:
    """Yield None once the server accepts a watch, then its events until it ends the watch.

    Args:
        server: the server.
        path: of the list.
        query: `resourceVersion` and the like.
        silence: seconds without a byte after which the server counts as gone.

    Raises:
        APIError: it broke off, or sent what is no event.
    """
    with _connection(server, silence) as connection:
        with _deadline(connection):
            response = _ask(connection, server, path, {**query, "watch": "true"})
        yield None
        yield from map(_object, _lines(response))


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the lines of an answer, each within its bound and its time."""
    line, began = b"", monotonic()
    while piece := response.read1(_PIECE):
        began = began if line else monotonic()
        *whole, line = (line + piece).split(b"\n")
        began = monotonic() if whole else began
        yield from filter(None, whole)
        if len(line) > MAX_LINE:
            raise APIError(f"an event is larger than {MAX_LINE >> 20} MiB")
        if line and monotonic() - began > ANSWER_SECONDS:
            raise APIError(f"an event did not arrive within {ANSWER_SECONDS:g} s")
    if line:
        raise APIError("the connection ended within an event", lost=False)


@contextmanager
def _connection(server: Server, silence: float) -> Iterator[http.client.HTTPConnection]:
    """Open a connection; whatever goes wrong on it is an `APIError`."""
    if server.context is None:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=silence)
    else:
        connection = http.client.HTTPSConnection(server.host, server.port, timeout=silence, context=server.context)
    try:
        with closing(connection):
            yield connection
    except TimeoutError:
        raise APIError(f"the server sent nothing for {silence:g} s") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise APIError(f"{type(error).__name__}: {error!s:.200}", lost=False) from None


@contextmanager
def _deadline(connection: http.client.HTTPConnection) -> Iterator[None]:
    """Cut a connection that is not done in time, however many bytes come."""

    def cut() -> None:
        with suppress(OSError, AttributeError):  # it may be closed, or not open yet
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = Timer(ANSWER_SECONDS, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _ask(
    connection: http.client.HTTPConnection, server: Server, path: str, query: Mapping[str, str]
) -> http.client.HTTPResponse:
    headers = {"Accept": "application/json"}
    if server.token is not None:
        with open(server.token, encoding="ascii") as file:
            headers["Authorization"] = f"Bearer {file.read().strip()}"
    connection.request("GET", f"{path}?{urlencode(query)}", headers=headers)
    response = connection.getresponse()
    if response.status != HTTPStatus.OK:
        status = response.status
        raise APIError(f"{path}: HTTP status {status}", status=status, lost=status == HTTPStatus.GONE)
    return response


def _object(text: bytes | bytearray) -> Data:
    try:
        data = loads(bytes(text))
    except (ValueError, RecursionError) as error:
        raise APIError(f"not JSON: {type(error).__name__}") from None
    if not isinstance(data, Mapping):
        raise APIError("expected a JSON object")
    return data
