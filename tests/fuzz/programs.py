"""What a case runs besides `numalign`: `kubectl numalign` with recorded answers, the server with a client's bytes."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from unittest import mock

import uvicorn

from numalign import cli
from numalign.cli import kubectl
from numalign.errors import InputError
from numalign.server import app as application
from numalign.server import http, service
from tests.server.test_app import known

PATIENCE = 2.0
"""Seconds in which the server has to answer or to close."""


def run_kubectl(words: Sequence[str], folder: Path) -> int:
    """Run `kubectl numalign` where kubectl says what the case's file has."""
    answers = json.loads((folder / "answers.json").read_bytes().decode("utf-8", "surrogatepass"))

    def get(_: object, *call: str) -> str:
        if " ".join(call) not in answers:
            raise InputError("not found", "kubectl")
        return str(answers[" ".join(call)])

    with mock.patch.object(kubectl.Kubectl, "get", get):
        return cli._run(list(words), kubectl.group, "numalign")


def run_http(data: bytes) -> int:
    """Send bytes to a server: 0 is an answer, 2 a refusal or a closed connection, 70 anything of the server's fault."""
    found = b""
    with socket.create_connection(("127.0.0.1", _port()), timeout=PATIENCE) as connection:
        try:
            connection.sendall(data)
            while more := connection.recv(65536):
                found += more
        except ConnectionError:
            pass
        except TimeoutError:
            sys.stderr.write("error: bug: the server neither answers nor closes\n")
            return 70
    status = found[9:12]
    sys.stdout.write(f"{status.decode('latin-1') or 'closed'}\n")
    return 0 if status == b"200" else 70 if status[:1] == b"5" else 2


@cache
def _port() -> int:
    """Start a server in a thread, with deadlines that are soon over; it ends with the process."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    asked = application.App(known(), limits=application.Limits(body_seconds=0.1), hosts={"localhost"})
    protocol = type("Protocol", (http._Protocol,), {"application": asked, "listen": http.Listen("127.0.0.1", 0)})
    config = uvicorn.Config(
        asked, http=protocol, ws="none", lifespan="off", log_config=None, access_log=False, timeout_keep_alive=0,
        h11_max_incomplete_event_size=64 << 10,
    )  # fmt: skip
    for module in (application, http, service):
        setattr(module, "say", lambda _: None)  # noqa: B010 (its lines belong to no case)
    http.HEADER_SECONDS = 0.1  # type: ignore[misc, assignment]  # Final for everybody else
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    server = uvicorn.Server(config)
    threading.Thread(target=lambda: asyncio.run(server.serve([bound])), daemon=True).start()
    while not server.started:
        threading.Event().wait(0.01)
    port: int = bound.getsockname()[1]
    return port
