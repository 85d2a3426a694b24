"""What is done to running pods behind the kubelet's back: each function takes the pod, and a value of the table."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from numalign.model.cpuset import parse
from tests.lab import processes
from tests.lab.pods import GROUPS, PCI, Running

SECONDS = 30
"""How long an interrupt may take to move: it does with the next one, which the driver's watchdog asks for."""


def pages(pod: Running, value: str) -> None:
    """Move its memory to another NUMA node."""
    subprocess.run(["migratepages", str(pod.pid), ",".join(map(str, pod.nodes)), value], check=True)


def cpuset(pod: Running, value: str) -> None:
    """Give its control group other CPUs."""
    (pod.group / "cpuset.cpus").write_text(value)


def mems(pod: Running, value: str) -> None:
    """Give its control group memory of other NUMA nodes."""
    (pod.group / "cpuset.mems").write_text(value)


def narrow(pod: Running, _value: str) -> None:
    """Bind its process to one of its CPUs, as programs do themselves."""
    os.sched_setaffinity(pod.pid, {pod.cpus[-1]})


def occupy(pod: Running, value: str) -> None:
    """Run one more process of its container, bound to a CPU of another pod."""
    group = GROUPS / Path(f"/proc/{pod.pid}/cgroup").read_text().strip().removeprefix("0::/")

    def work() -> None:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        os.sched_setaffinity(0, {int(value)})

    processes.start(work)


def bound(pod: Running, _value: str) -> None:
    """Bind a process of the host to one of its CPUs."""
    processes.on_cpus({pod.cpus[0]}, {pod.cpus[0]}, busy=False)


def ran(pod: Running, _value: str) -> None:
    """Let a process of the host that may run everywhere run on one of its CPUs."""
    processes.on_cpus({pod.cpus[0]}, _everywhere(), busy=True)


def idle(pod: Running, _value: str) -> None:
    """Let a process of the host that may run everywhere fall asleep on one of its CPUs."""
    processes.on_cpus({pod.cpus[0]}, _everywhere(), busy=False)


def interrupts(pod: Running, value: str) -> None:
    """Let other CPUs handle the interrupts of its network card; they move when the interface comes up again."""
    for card in pod.cards:
        (interface,) = (PCI / card / "net").iterdir()
        _link(interface.name, "up")  # only then they have a place in /proc
        places = [Path("/proc/irq") / number.name for number in (PCI / card / "msi_irqs").iterdir()]
        for place in places:
            (place / "smp_affinity_list").write_text(value)
        _link(interface.name, "down")
        _link(interface.name, "up")
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and any(_handled(place) & ~parse(value) for place in places):
            time.sleep(0.5)


def _handled(place: Path) -> int:
    return parse((place / "effective_affinity_list").read_text().strip())


def renumber(pod: Running, value: str) -> None:
    """Say that its network card is on another NUMA node, as a change of firmware does."""
    for card in pod.cards:
        (PCI / card / "numa_node").write_text(value)


def unplug(pod: Running, _value: str) -> None:
    """Take the last of its CPUs offline."""
    Path(f"/sys/devices/system/cpu/cpu{pod.cpus[-1]}/online").write_text("0")


DEEDS: dict[str, Callable[[Running, str], None]] = {
    one.__name__: one for one in (pages, cpuset, mems, narrow, occupy, bound, ran, idle, interrupts, renumber, unplug)
}


def _everywhere() -> set[int]:
    return set(range(os.cpu_count() or 1))


def _link(interface: str, state: str) -> None:
    subprocess.run(["busybox", "ip", "link", "set", interface, state], check=True)
