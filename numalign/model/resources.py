"""The names of resources: which kinds there are, how huge pages are named, in what order and unit they are counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from numalign.model.quantity import MILLI, NANO

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""What a container may ask for without a domain, beside huge pages; in the order in which the kubelet checks it."""
HUGEPAGES: Final = "hugepages-"
"""Begins the name of each huge page resource; the page size follows."""

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = rf"(?P<prefix>{_LABEL}(\.{_LABEL})*)/(?P<name>[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)"
_QUOTA_PREFIX = "requests."


def is_hugepages(resource: str) -> bool:
    """Tell whether a resource is huge pages of some size."""
    return resource.startswith(HUGEPAGES)


def hugepages(size: str) -> str:
    """Name the resource of a page size: `2Mi` is `hugepages-2Mi`."""
    return HUGEPAGES + size


def page_size(resource: str) -> str:
    """Return the page size that a huge page resource names, as written: `hugepages-2Mi` is `2Mi`."""
    return resource.removeprefix(HUGEPAGES)


def is_memory(resource: str) -> bool:
    """Tell whether the Memory Manager deals with a resource (docs/rules/memory-manager.md 1)."""
    return resource == MEMORY or is_hugepages(resource)


def is_bytes(resource: str) -> bool:
    """Tell whether amounts of a resource are bytes."""
    return is_memory(resource) or resource == EPHEMERAL_STORAGE


def is_extended(resource: str) -> bool:
    """Tell whether a name is an extended resource (docs/rules/admission-fit.md 1.4)."""
    if "/" not in resource or "kubernetes.io/" in resource or resource.startswith(_QUOTA_PREFIX):
        return False
    match = re.fullmatch(_QUALIFIED, _QUOTA_PREFIX + resource)
    return match is not None and len(match["prefix"]) <= 253 and len(match["name"]) <= 63


def is_countable(resource: str) -> bool:
    """Tell whether the fit check counts a resource beside the native ones (docs/rules/admission-fit.md 1.5)."""
    return (
        resource.startswith((HUGEPAGES, "attachable-volumes-")) or "kubernetes.io/" in resource or is_extended(resource)
    )


def in_order(resources: Iterable[str]) -> list[str]:
    """Sort resources as the kubelet checks and names them: cpu, memory, ephemeral-storage, the others by name.

    docs/rules/admission-fit.md 3.4; of the Memory Manager's resources `memory` comes first (memory-manager.md 5).
    """
    return sorted(set(resources), key=_place)


def _place(resource: str) -> tuple[int, str]:
    return (NATIVE.index(resource) if resource in NATIVE else len(NATIVE), resource)


def whole(resource: str, nano: int) -> int:
    """Round billionths up to what the fit check counts in (docs/rules/admission-fit.md 3.1.2): milli-CPUs, or units."""
    return -(-nano // unit_of(resource))


def unit_of(resource: str) -> int:
    """Return the billionths in what the fit check counts in: a milli-CPU, or one unit."""
    return MILLI if resource == CPU else NANO
