"""Where a server listens: the flags of `serve` and of `verify --listen`, and what must not be."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING

from numalign.cli.flags import Given, flag, gathered
from numalign.errors import InputError
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.server.service import Service


class Security(NamedTuple):
    """Who may ask a server."""

    certificate: str | None
    key: str | None
    authority: str | None
    names: tuple[str, ...]
    insecure: bool


@gathered(
    flag("--tls-cert", metavar="FILE", help="certificate of the server; read again if renewed"),
    flag("--tls-key", metavar="FILE", help="key of the certificate"),
    flag("--client-ca", metavar="FILE", help="authority that client certificates require"),
    flag("--client-name", "client_names", multiple=True, metavar="NAME", help="name that client certificates require"),
    flag("--insecure-listen", is_flag=True, help="listen off loopback without TLS"),
)
def security_options(given: Given) -> None:
    """Add the flags; the command gets them as one argument, `security`."""
    names = ("tls_cert", "tls_key", "client_ca", "client_names", "insecure_listen")
    given["security"] = Security(*(given.pop(name) for name in names))


def listening(listen: str, security: Security) -> Callable[[Callable[[Set[str]], Service]], None]:
    """Check where to listen, and return what starts a server there, given what makes it for the names it may have.

    Raises:
        InputError: it is no address, lies open to everybody, or flags are missing.
    """
    host, port = _address(listen)
    own = _is_loopback(host)
    _check(security, alone=own or security.insecure)

    def start(make: Callable[[Set[str]], Service]) -> None:
        app = make({"localhost", "127.0.0.1", "[::1]", host, f"[{host}]"} if own else frozenset())
        try:
            from numalign.server.http import Listen, serve
        except ImportError:
            raise InputError("the HTTP server is not installed; fix: pip install 'numalign[serve]'", "serve") from None
        certificate, key, authority, names, _ = security
        serve(app, Listen(host, port, certificate, key, authority, client_names=frozenset(names)))

    return start


def _check(security: Security, *, alone: bool) -> None:
    if (security.certificate is None) != (security.key is None):
        raise InputError("a certificate and its key require each other; fix: add both", "--tls-cert, --tls-key")
    if security.names and security.authority is None:
        raise InputError("client names require certificates; fix: add --client-ca", "--client-name")
    if not (alone or (security.certificate and security.authority)):
        raise InputError(
            "no TLS off loopback; fix: add --tls-cert, --tls-key and --client-ca, or --insecure-listen", "--listen"
        )


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InputError(f"expected HOST:PORT, got {listen!r}", "--listen")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    import ipaddress  # slow to import, and few runs of `verify` listen

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
