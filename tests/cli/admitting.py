"""What a process does that admits pods to a node in a file beside others; importing it takes no time."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from numalign import cli


def admit_one_by_one(state: Path, folder: Path, name: str, count: int, cores: int, said: Connection) -> None:
    """Admit pods, release every second one, and say the number of each when it is done.

    The machine is one of two NUMA nodes with so many cores each.
    """
    machine = f"sockets=2,coresPerNumaNode={cores},threadsPerCore=1,memoryPerNumaNode=512Gi"
    for number in range(count):
        pod = f"{name}-{number}"
        flags = ("--machine", machine, "--state", str(state), "--only", "managers", "-q")
        if cli._run(["admit", f"{folder}/{pod}.json", *flags]) != 0:
            raise SystemExit("not admitted")
        if number % 2 and cli._run(["release", pod, "--state", str(state), "-q"]) != 0:
            raise SystemExit("not released")
        said.send(number)
