"""Fingerprints: which set of pods an NRT object describes (docs/rules/scheduling.md 3.4, podresources.md 27)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from numalign.scheduler.nrt.value import (
    FINGERPRINT,
    FINGERPRINT_ANNOTATION,
    FINGERPRINT_METHOD,
    NodeResourceTopology,
    attribute,
)
from numalign.scheduler.xxh64 import xxh64
from numalign.values import NamedTuple

PREFIX: Final = "pfp0"
VERSION: Final = "v001"
MIN_LENGTH: Final = 16
"""A shorter text is no fingerprint."""
ALL: Final = "all"
ONLY_EXCLUSIVE: Final = "with-exclusive-resources"

Check = Literal["match", "mismatch", "malformed", "incompatible-version"]


class Published(NamedTuple):
    """The fingerprint that an object carries."""

    text: str
    """Empty: it carries none."""
    only_exclusive: bool
    """Whether it counts only pods with exclusive resources."""


def fingerprint(pods: Iterable[tuple[str, str]]) -> str:
    """Compute the fingerprint of a set of pods, each (namespace, name). Their order does not matter."""
    hashes = sorted(xxh64(_bytes(name), xxh64(_bytes(namespace))) for namespace, name in pods)
    digest = xxh64(b"".join([one.to_bytes(8, "little") for one in hashes]))
    return f"{PREFIX}{VERSION}{digest:016x}"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")  # JSON can carry what no real name holds


def check_fingerprint(text: str, pods: Iterable[tuple[str, str]]) -> Check:
    """Compare a published fingerprint with a set of pods."""
    if len(text) < MIN_LENGTH or not text.startswith(PREFIX):
        return "malformed"
    if text[4:8] != VERSION:
        return "incompatible-version"
    return "match" if text == fingerprint(pods) else "mismatch"


def published(nrt: NodeResourceTopology) -> Published:
    """Read the fingerprint of an object: the attribute wins, and only with it the method counts."""
    text = attribute(nrt.attributes, FINGERPRINT)
    if text is not None:
        return Published(text, attribute(nrt.attributes, FINGERPRINT_METHOD) == ONLY_EXCLUSIVE)
    return Published(nrt.annotations.get(FINGERPRINT_ANNOTATION, ""), only_exclusive=False)
