"""The devices that a process was given, as its environment tells: what device plugins put there."""

from __future__ import annotations

import re
from contextlib import suppress

from numalign.sources.node.observe import addresses_of, device_nodes
from numalign.sources.tree.folder import Tree

_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_GPU = re.compile(r"GPU-[0-9a-f-]{36}")


def devices_of(tree: Tree, pid: int) -> dict[str, int]:
    """Return the devices named in a process's environment with their NUMA nodes; -1: none."""
    found: set[str] = set()
    with suppress(OSError):
        for word in tree.read(f"proc/{pid}/environ").split("\0"):
            name, _, value = word.partition("=")
            if name.startswith("PCIDEVICE_") and not name.endswith("_INFO"):
                found |= {one.lower() for one in _ADDRESS.findall(value)}
            elif name == "NVIDIA_VISIBLE_DEVICES":
                found |= set(_GPU.findall(value))
    return device_nodes(tree, addresses_of(tree, found))
