"""The program, this host and the bundled machines, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.json import Data, head, plain

if TYPE_CHECKING:
    from numalign.results.about import About, BundledMachine, HostCheck
    from numalign.results.replay import SuiteResult


def about_json(about: About) -> Data:
    """Write the program as data."""
    return {
        **head("Version"),
        "version": about.version,
        "python": about.python,
        "kubelets": {
            "oldest": about.oldest_kubelet,
            "newest": about.newest_kubelet,
            "exact": list(about.exact_kubelets),
            "published": list(about.published_kubelets),
        },
        "extras": dict(about.extras),
    }


def doctor_json(checks: Sequence[HostCheck]) -> Data:
    """Write what was found as data."""
    return {
        **head("DoctorResult"),
        "checks": plain(tuple(checks)),
    }


def machines_json(machines: Sequence[BundledMachine]) -> Data:
    """Return the table as data, memory in bytes."""
    return {
        **head("MachineList"),
        "items": [
            {
                "name": machine.name,
                "description": about,
                "sockets": len(machine.sockets),
                "numaNodes": len(machine.numa_nodes),
                "cpus": machine.cpus.bit_count(),
                "memory": machine.memory,
                "devices": {name: len(devices) for name, devices in sorted(machine.devices.items())},
            }
            for machine, about in machines
        ],
    }


def suite_json(result: SuiteResult) -> Data:
    """Write the tests as data."""
    return {
        **head("TestResult"),
        "passed": len(result.cases) - result.failed,
        "failed": result.failed,
        "tests": [
            {
                "name": one.name,
                "machine": one.machine,
                "kubelet": one.settings,
                "file": one.file,
                "line": one.line,
                "passed": one.passed,
                "problems": list(one.problems),
            }
            for one in result.cases
        ],
    }
