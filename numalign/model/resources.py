"""The names of resources: which kinds there are, how huge pages are named, in what order and unit they are counted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from numalign.model.quantity import MILLI, NANO

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""What a container may ask for without a domain, beside huge pages; in the order in which the kubelet checks it."""
HUGEPAGES: Final = "hugepages-"
"""Begins the name of each huge page resource; the page size follows."""

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


def is_device(resource: str) -> bool:
    """Tell whether a resource is a device, or another thing that is counted: neither CPUs nor memory."""
    return resource != CPU and not is_memory(resource)


def is_bytes(resource: str) -> bool:
    """Tell whether amounts of a resource are bytes."""
    return is_memory(resource) or resource == EPHEMERAL_STORAGE


@lru_cache  # each check of a node asks for the same few
def is_extended(resource: str) -> bool:
    """Tell whether a name is an extended resource (docs/rules/admission-fit.md 1.4)."""
    if "/" not in resource or "kubernetes.io/" in resource or resource.startswith(_QUOTA_PREFIX):
        return False
    domain, _, name = resource.partition("/")
    return is_subdomain(_QUOTA_PREFIX + domain) and is_qualified(name)


def is_countable(resource: str) -> bool:
    """Tell whether the fit check counts a resource beside the native ones (docs/rules/admission-fit.md 1.5)."""
    return (
        resource.startswith((HUGEPAGES, "attachable-volumes-")) or "kubernetes.io/" in resource or is_extended(resource)
    )


def in_order(resources: Iterable[str]) -> list[str]:
    """Sort resources as the kubelet checks and names them: cpu, memory, ephemeral-storage, the others by name.

    docs/rules/admission-fit.md 3.4; of the Memory Manager's resources `memory` comes first (memory-manager.md 5).
    """
    return sorted(set(resources), key=lambda name: (NATIVE.index(name) if name in NATIVE else len(NATIVE), name))


def whole(resource: str, nano: int) -> int:
    """Round billionths up to what the fit check counts in (docs/rules/admission-fit.md 3.1.2): milli-CPUs, or units."""
    return -(-nano // unit_of(resource))


def unit_of(resource: str) -> int:
    """Return the billionths in what the fit check counts in: a milli-CPU, or one unit."""
    return MILLI if resource == CPU else NANO


# What an API server takes as a name. Patterns would say it shorter, and cost each start their compilation.


def is_label(name: str) -> bool:
    """Tell whether a name is one word: lower-case letters, digits and '-', at most 63, begins and ends alphanumeric."""
    return len(name) <= 63 and _is_word(name)


def is_subdomain(name: str) -> bool:
    """Tell whether an API server takes a name of a pod, a Node or another object of its own: words and dots."""
    return len(name) <= 253 and all(map(_is_word, name.split(".")))


def is_qualified(name: str) -> bool:
    """Tell whether a name can stand behind a domain: letters, digits, '-', '_', '.', at most 63, ends alphanumeric."""
    bare = name.replace("-", "").replace("_", "").replace(".", "")
    return len(name) <= 63 and name.isascii() and bare.isalnum() and name[0].isalnum() and name[-1].isalnum()


def is_port(name: str) -> bool:
    """Tell whether a port can have a name: at most 15 lower-case letters, digits and single '-', with a letter."""
    return len(name) <= 15 and _is_word(name) and "--" not in name and not name.replace("-", "").isdigit()


def _is_word(text: str) -> bool:
    return text.isascii() and text.replace("-", "").isalnum() and text == text.lower() == text.strip("-")


LIMIT: Final = "limits."
"""What stands before a resource where its limit is meant."""


def of_limit(resource: str) -> str:
    """Name the resource whose limit is meant; empty: a request is."""
    return resource.removeprefix(LIMIT) if resource.startswith(LIMIT) else ""
