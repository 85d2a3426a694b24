"""numalign as a library: the tasks with plain arguments, one exception base, nothing printed (docs/library.md).

`import numalign` brings these names; each is imported when it is first used.
"""

from __future__ import annotations

from numalign.api.admission import AdmitResult, ExplainedPod, PodResult, admit, explain
from numalign.api.checks import CompareResult, ConfigCheckResult, LintResult, check_config, compare, lint
from numalign.api.inputs import load_config, load_machine, load_pods, load_running, this_host
from numalign.api.node import Node
from numalign.errors import HostError, InputError, Notice, NumalignError, StartError
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.start.resize import Resized
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.results.admit import ContainerResult
from numalign.results.compare import ComparedRow

__all__ = [
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
