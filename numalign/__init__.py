"""numalign predicts how a Kubernetes node aligns a pod's CPUs, memory and devices on its NUMA nodes.

As a library (docs/library.md): `numalign.admit(machine, pods)` and the other names of `numalign.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numalign.api import *  # noqa: F403 (the names below)
    from numalign.version import __version__ as __version__

__all__ = [  # noqa: F405 (imported when first used)
    "IDEAL",
    "AdmitResult",
    "CompareResult",
    "ComparedRow",
    "ConfigCheckResult",
    "ContainerResult",
    "ExplainedPod",
    "HostError",
    "InputError",
    "KubeletConfig",
    "LintResult",
    "Machine",
    "MemoryReservation",
    "Node",
    "Notice",
    "NumalignError",
    "Pod",
    "PodResult",
    "Resized",
    "StartError",
    "admit",
    "check_config",
    "compare",
    "explain",
    "lint",
    "load_config",
    "load_machine",
    "load_pods",
    "load_running",
    "this_host",
]


def __getattr__(name: str) -> object:
    """Import the library when one of its names is first used: the command line never pays for it."""
    if name == "__version__":
        from numalign.version import __version__

        return __version__
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from numalign import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
