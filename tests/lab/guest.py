"""What runs inside a guest: other tools, numalign, pods, what is done to them by hand; all answers into one folder.

`python -m tests.lab.guest SHAPE FOLDER`. It judges nothing: that is done outside.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.running import in_process
from tests.lab import by_hand
from tests.lab.pods import GROUPS, start_pods
from tests.lab.shapes import LIMIT, QUOTA, SHAPES, Shape
from tests.lab.tools import READERS


def main() -> None:
    """Try one shape."""
    name, folder = sys.argv[1:]
    (shape,) = [one for one in SHAPES if one.name == name]
    _Guest(shape, Path(folder)).run()


class _Guest:
    def __init__(self, shape: Shape, out: Path) -> None:
        self._shape = shape
        self._out = out
        self._began = time.monotonic()
        self._statuses: dict[str, int] = {}

    def run(self) -> None:
        """Read the machine, run pods, judge them as they are, then when things were done by hand."""
        socket.sethostname(self._shape.name)
        for (node, size), count in self._shape.pages.items():
            place = f"/sys/devices/system/node/node{node}/hugepages/hugepages-{size}kB/nr_hugepages"
            Path(place).write_text(str(count))
        self._hardware("boot")
        pods = start_pods(self._shape)
        for pod in pods.values():
            by_hand.interrupts(pod, ",".join(map(str, pod.cpus)))
        self._say("pods run: " + ", ".join(f"{name} {list(pod.cpus)} {list(pod.nodes)}" for name, pod in pods.items()))
        self._confined()
        # Where the scheduler puts this process, which measures, may be a CPU of a pod.
        os.sched_setaffinity(0, {max(cpu for pod in pods.values() for cpu in pod.cpus)})
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        self._numalign("verify-clean.json", "verify", "-o", "json")
        for deed in self._shape.by_hand:
            by_hand.DEEDS[deed.what](pods[deed.pod], deed.value)
        self._numalign("verify-by-hand.json", "verify", "-o", "json")
        self._numalign("textfile.txt", "verify", "--textfile", str(self._out / "textfile.prom"))
        if any(deed.deep for deed in self._shape.by_hand):
            self._numalign("verify-deep.json", "verify", "--deep", "-o", "json")
        for name in self._shape.alone:
            self._numalign(f"alone-{name}.json", "verify", "--pid", str(pods[name].pid), "-o", "json")
        self._numalign("status.json", "status", "-o", "json")
        self._numalign("snapshot.txt", "snapshot", str(self._out / f"{self._shape.name}.tar.xz"))
        if any(deed.what == "unplug" for deed in self._shape.by_hand):
            self._hardware("offline")
        (self._out / "done").write_text(json.dumps(self._statuses))

    def _hardware(self, when: str) -> None:
        """Ask every tool, and numalign, about the machine."""
        folder = self._out / when
        folder.mkdir()
        for file, (words, _) in READERS.items():
            done = subprocess.run(words, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
            (folder / file).write_bytes(done.stdout)
        self._say("tools asked")
        self._numalign(
            f"{when}/discover.json", "discover", "-o", "json", "--capture", str(folder / f"{self._shape.name}.tar.xz")
        )

    def _confined(self) -> None:
        """Ask again from a control group with the last CPU and the last NUMA node that has memory."""
        mems = (GROUPS / "cpuset.mems.effective").read_text().strip().replace("-", ",").split(",")[-1]
        group = GROUPS / "confined"
        group.mkdir()
        last = (os.cpu_count() or 1) - 1
        quota = f"{int(float(QUOTA) * 100000)} 100000"
        limits = {"cpuset.cpus": str(last), "cpuset.mems": mems, "cpu.max": quota, "memory.max": str(LIMIT)}
        for name, value in limits.items():
            (group / name).write_text(value)
        (group / "cgroup.procs").write_text(str(os.getpid()))
        shown = subprocess.run(["numactl", "-s"], capture_output=True, check=True)
        (self._out / "numactl-s.txt").write_bytes(shown.stdout)
        self._numalign("confined.json", "discover", "-o", "json")
        (GROUPS / "cgroup.procs").write_text(str(os.getpid()))

    def _numalign(self, file: str, *words: str) -> None:
        done = in_process(*words)
        (self._out / file).write_text(done.out)
        self._say(f"{words[0]}: status {done.status}")
        if done.err:
            self._say(done.err)
        self._statuses[file] = done.status

    def _say(self, text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - self._began:6.1f} s  {text}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
