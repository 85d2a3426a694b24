"""What Kubernetes adds to the language: quantities, versions, addresses, URLs."""

from __future__ import annotations

from typing import Final

from numalign.dra.cel.errors import EvaluationError
from numalign.dra.cel.overload import Overload, Table, text_cost
from numalign.dra.cel.types import BOOL, CIDR, DOUBLE, INT, IP, QUANTITY, SEMVER, STRING, URL, Type
from numalign.dra.cel.values import Semver, Value, compare_semver, parse_semver
from numalign.model import quantity
from numalign.model.quantity import NANO, Quantity


def _quantity(text: str) -> Quantity:
    try:
        return quantity.parse(text)
    except quantity.QuantityError as error:
        raise EvaluationError(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except quantity.QuantityError:
        return False
    return True


def _as_integer(given: Quantity) -> int:
    if given.int64 is None:
        raise EvaluationError("cannot convert value to integer")
    return given.int64


def _negative(given: Quantity) -> Quantity:
    return Quantity(-given.nano, given.format, None if given.int64 is None else -given.int64)


def _compare(one: Quantity, other: Quantity) -> int:
    return (one.nano > other.nano) - (one.nano < other.nano)


def _semver(text: str, normalize: bool = False) -> Semver:
    version = parse_semver(text, normalize=normalize)
    if version is None:
        raise EvaluationError(f'"{text}" is no semantic version')
    return version


def _is_semver(text: str, normalize: bool = False) -> bool:
    return parse_semver(text, normalize=normalize) is not None


def _address(text: str) -> Value:
    import ipaddress

    try:
        if "%" in text:
            raise ValueError
        found = ipaddress.ip_address(text)
    except ValueError:
        raise EvaluationError(f'IP Address "{text}" parse error during conversion from string') from None
    if found.version == 6 and found.ipv4_mapped is not None:
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return found


def _network(text: str) -> Value:
    import ipaddress

    try:
        if not text.rpartition("/")[2].isdecimal():
            raise ValueError
        return ipaddress.ip_interface(text)
    except ValueError:
        raise EvaluationError(f'network address parse error during conversion from string: "{text}"') from None


def _readable(read: Value) -> Value:
    """Make a test out of a reader."""

    def test(text: str) -> bool:
        try:
            read(text)
        except EvaluationError:
            return False
        return True

    return test


def _contains_address(network: Value, address: Value) -> bool:
    found = _address(address) if isinstance(address, str) else address
    return found in network.network


def _contains_network(network: Value, other: Value) -> bool:
    found = _network(other) if isinstance(other, str) else other
    return found.version == network.version and bool(found.network.subnet_of(network.network))


def _url(text: str) -> Value:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        if not parts.scheme and not text.startswith("/"):
            raise ValueError
        _ = parts.port
    except ValueError:
        raise EvaluationError(f'URL parse error during conversion from string: "{text}"') from None
    return parts


def _query(parts: Value) -> dict[str, list[str]]:
    from urllib.parse import parse_qs

    return parse_qs(parts.query, keep_blank_values=True)


def _one(params: tuple[Type, ...], result: Type, run: Value) -> tuple[Overload, ...]:
    return (Overload(params, result, run),)


def _read(result: Type, run: Value) -> tuple[Overload, ...]:
    """Make a function that reads a text."""
    return (Overload((STRING,), result, run, text_cost),)


_FLAG: Final = (STRING, BOOL)
_TWO: Final = (QUANTITY, QUANTITY)
_VERSIONS: Final = (SEMVER, SEMVER)

FUNCTIONS: Final[Table] = {
    "quantity": _read(QUANTITY, _quantity),
    "isQuantity": _read(BOOL, _is_quantity),
    "sign": _one((QUANTITY,), INT, lambda given: (given.nano > 0) - (given.nano < 0)),
    "semver": (
        *_read(SEMVER, _semver),
        Overload(_FLAG, SEMVER, _semver, lambda text, _: text_cost(text)),
    ),
    "isSemver": (
        *_read(BOOL, _is_semver),
        Overload(_FLAG, BOOL, _is_semver, lambda text, _: text_cost(text)),
    ),
    "ip": _read(IP, _address),
    "isIP": _read(BOOL, _readable(_address)),
    "ip.isCanonical": _read(BOOL, lambda text: str(_address(text)) == text),
    "cidr": _read(CIDR, _network),
    "isCIDR": _read(BOOL, _readable(_network)),
    "url": _read(URL, _url),
    "isURL": _read(BOOL, _readable(_url)),
    "string": (Overload((IP,), STRING, str), Overload((CIDR,), STRING, str)),
}

METHODS: Final[Table] = {
    "add": (
        *_one(_TWO, QUANTITY, quantity.add),
        Overload((QUANTITY, INT), QUANTITY, lambda one, other: quantity.add(one, quantity.from_int(other))),
    ),
    "sub": (
        *_one(_TWO, QUANTITY, lambda one, other: quantity.add(one, _negative(other))),
        Overload((QUANTITY, INT), QUANTITY, lambda one, other: quantity.add(one, quantity.from_int(-other))),
    ),
    "asInteger": _one((QUANTITY,), INT, _as_integer),
    "isInteger": _one((QUANTITY,), BOOL, lambda given: given.int64 is not None),
    "asApproximateFloat": _one((QUANTITY,), DOUBLE, lambda given: given.nano / NANO),
    "compareTo": (Overload(_TWO, INT, _compare), Overload(_VERSIONS, INT, compare_semver)),
    "isGreaterThan": (
        Overload(_TWO, BOOL, lambda one, other: one.nano > other.nano),
        Overload(_VERSIONS, BOOL, lambda one, other: compare_semver(one, other) > 0),
    ),
    "isLessThan": (
        Overload(_TWO, BOOL, lambda one, other: one.nano < other.nano),
        Overload(_VERSIONS, BOOL, lambda one, other: compare_semver(one, other) < 0),
    ),
    "major": _one((SEMVER,), INT, lambda version: version.major),
    "minor": _one((SEMVER,), INT, lambda version: version.minor),
    "patch": _one((SEMVER,), INT, lambda version: version.patch),
    "family": _one((IP,), INT, lambda address: address.version),
    "isUnspecified": _one((IP,), BOOL, lambda address: address.is_unspecified),
    "isLoopback": _one((IP,), BOOL, lambda address: address.is_loopback),
    "isLinkLocalMulticast": _one((IP,), BOOL, lambda address: str(address).startswith(("224.0.0.", "ff02:"))),
    "isLinkLocalUnicast": _one((IP,), BOOL, lambda address: address.is_link_local),
    "isGlobalUnicast": _one(
        (IP,),
        BOOL,
        lambda address: (
            not (
                address.is_unspecified
                or address.is_loopback
                or address.is_multicast
                or address.is_link_local
                or str(address) == "255.255.255.255"
            )
        ),
    ),
    "containsIP": (Overload((CIDR, STRING), BOOL, _contains_address), Overload((CIDR, IP), BOOL, _contains_address)),
    "containsCIDR": (
        Overload((CIDR, STRING), BOOL, _contains_network),
        Overload((CIDR, CIDR), BOOL, _contains_network),
    ),
    "ip": _one((CIDR,), IP, lambda network: network.ip),
    "masked": _one((CIDR,), CIDR, lambda network: _network(str(network.network))),
    "prefixLength": _one((CIDR,), INT, lambda network: network.network.prefixlen),
    "getScheme": _one((URL,), STRING, lambda parts: parts.scheme),
    "getHost": _one((URL,), STRING, lambda parts: parts.netloc.rpartition("@")[2]),
    "getHostname": _one((URL,), STRING, lambda parts: parts.hostname or ""),
    "getPort": _one((URL,), STRING, lambda parts: "" if parts.port is None else str(parts.port)),
    "getEscapedPath": _one((URL,), STRING, lambda parts: parts.path),
    "getQuery": _one((URL,), Type("map", (STRING, Type("list", (STRING,)))), _query),
}
