"""Say what numalign is, and what on this host it can read."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from numalign.kubelet.releases import NEWEST, OLDEST
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import exact_kubelets, is_published, known_kubelets
from numalign.results.about import About, HostCheck
from numalign.version import __version__

EXTRAS = (
    ("podresources", "h2", "a live PodResources socket"),
    ("serve", "uvicorn", "serve"),
    ("dask", "distributed", "simulate --engine dask"),
)
"""(extra, module that it brings, what uses it) rows."""


def about() -> About:
    """Describe the program."""
    return About(
        version=__version__,
        python=platform.python_version(),
        oldest_kubelet=version_text(OLDEST),
        newest_kubelet=version_text(NEWEST),
        published_kubelets=tuple([version_text(one.version) for one in known_kubelets() if is_published(one.version)]),
        exact_kubelets=tuple([version_text(one.version) for one in exact_kubelets()]),
        extras=tuple([(extra, find_spec(module) is not None) for extra, module, _ in EXTRAS]),
    )


def doctor(root: str = "/") -> tuple[HostCheck, ...]:
    """Look at this host: what can be read, and what is there to help.

    Args:
        root: of the host's file system.
    """
    return tuple(_checks(root))


def _checks(root: str) -> Iterator[HostCheck]:
    for name, path, used_by in (
        ("NUMA nodes", "sys/devices/system/node", "discover, every command without --machine"),
        ("CPUs", "sys/devices/system/cpu", "discover, every command without --machine"),
        ("PCI devices", "sys/bus/pci/devices", "devices in discover"),
        ("kubelet's checkpoints", "var/lib/kubelet", "status, --node /var/lib/kubelet"),
        ("PodResources socket", "var/lib/kubelet/pod-resources/kubelet.sock", "--node SOCKET"),
        ("cgroups", "sys/fs/cgroup", "verify"),
    ):
        yield _readable(name, os.path.join(root, path), used_by)
    kubectl = shutil.which("kubectl")
    yield HostCheck("kubectl", kubectl is not None, kubectl or "not on PATH", "kubectl numalign")
    for extra, module, used_by in EXTRAS:
        found = find_spec(module) is not None
        text = "installed" if found else f"pip install 'numalign[{extra}]'"
        yield HostCheck(f"extra {extra}", found, text, used_by)


def _readable(name: str, path: str, used_by: str) -> HostCheck:
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            os.stat(path)
    except OSError as error:
        return HostCheck(name, False, f"{path}: {error.strerror}", used_by)
    return HostCheck(name, True, path, used_by)
