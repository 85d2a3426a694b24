"""A builder of trees that stand for a node's root: control groups of each driver and runtime, /proc, kubelet's files.

docs/rules/verify.md W-2, W-3, W-21.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from numalign.model.cpuset import format_set, ids, parse
from tests import files

RUNTIMES = ("containerd", "cri-o", "cri-o with crun", "cri-dockerd")
DRIVERS = ("systemd", "cgroupfs")


class Layout(NamedTuple):
    """How a node's control groups are laid out."""

    driver: str = "systemd"
    runtime: str = "containerd"
    version: int = 2
    kind: bool = False
    """The node runs in a container itself, so everything is below that container's group."""
    bundles: bool = True
    """The runtimes' files say who a container is."""


class FakeContainer(NamedTuple):
    """One container that runs."""

    uid: str
    name: str
    cpus: str
    mems: str = "0"
    qos: str = ""
    """Empty (Guaranteed), `burstable` or `besteffort`."""
    threads: tuple[str, ...] = ("",)
    """CPUs of each thread; empty: those of the container."""
    last_cpu: int | None = None
    memory: Mapping[int, int] = {}
    """NUMA node -> bytes."""
    numa_maps: str = ""


def identity_of(one: FakeContainer) -> str:
    """Give the id that a container has with its runtime."""
    return hashlib.sha256(f"{one.uid}/{one.name}".encode()).hexdigest()


class FakeRoot:
    """A tree that stands for a node's root."""

    def __init__(self, root: Path, machine_cpus: Mapping[int, str], layout: Layout) -> None:
        self.root = root
        self.layout = layout
        self._next_pid = 1000
        self._online = 0
        for cpus in machine_cpus.values():
            self._online |= parse(cpus)
        self._machine(machine_cpus)
        base = "sys/fs/cgroup" if layout.version == 2 else "sys/fs/cgroup/cpuset"
        self.write(f"{base}/cgroup.procs", "")
        if layout.version == 2:
            self.write(f"{base}/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n")
        self._groups = f"{base}/docker/{'a' * 64}/kubelet.slice" if layout.kind else base

    def write(self, path: str, text: str) -> None:
        files.write(f"{self.root}/{path}", text.encode())

    def _machine(self, nodes: Mapping[int, str]) -> None:
        cpu, node = "sys/devices/system/cpu", "sys/devices/system/node"
        for name in ("online", "present", "possible"):
            self.write(f"{cpu}/{name}", format_set(self._online) + "\n")
            self.write(f"{node}/{name}", format_set(sum(1 << number for number in nodes)) + "\n")
        for number, cpus in nodes.items():
            self.write(f"{node}/node{number}/cpulist", cpus + "\n")
            self.write(f"{node}/node{number}/meminfo", f"Node {number} MemTotal: 67108864 kB\n")
            for size, pages in ((2048, 1024), (1048576, 4)):
                self.write(f"{node}/node{number}/hugepages/hugepages-{size}kB/nr_hugepages", f"{pages}\n")
            row = " ".join("10" if other == number else "21" for other in nodes)
            self.write(f"{node}/node{number}/distance", row + "\n")
            members = list(ids(parse(cpus)))
            for place, one in enumerate(members):
                half = len(members) // 2
                pair = [members[place % half], members[place % half + half]]
                self.write(f"{node}/node{number}/cpu{one}/online", "1\n")
                self.write(f"{cpu}/cpu{one}/topology/core_id", f"{place % half}\n")
                self.write(f"{cpu}/cpu{one}/topology/physical_package_id", f"{number}\n")
                self.write(f"{cpu}/cpu{one}/topology/thread_siblings_list", ",".join(map(str, pair)) + "\n")
        total = 67108864 * len(nodes)
        self.write("proc/meminfo", f"MemTotal: {total} kB\n")

    def kubelet(self, folder: Path) -> None:
        """Put a kubelet's folder in."""
        shutil.copytree(folder, self.root / "var/lib/kubelet", dirs_exist_ok=True)

    def pod(self, uid: str, namespace: str, name: str) -> None:
        """Let a pod be there."""
        (self.root / "var/lib/kubelet/pods" / uid).mkdir(parents=True, exist_ok=True)
        (self.root / "var/log/pods" / f"{namespace}_{name}_{uid}").mkdir(parents=True, exist_ok=True)

    def run(self, one: FakeContainer) -> str:
        """Run a container; returns the path of its group."""
        identity = identity_of(one)
        path = f"{self._pod_folder(one)}/{self._container_folder(identity)}"
        self._group(path, one)
        inner = f"{path}/container" if self.layout.runtime == "cri-o with crun" else path
        pids = [self.process(one.threads, one.cpus, one.mems, one.last_cpu, one.numa_maps)]
        self.write(f"{inner}/cgroup.procs", "".join(f"{pid}\n" for pid in pids))
        if inner != path:
            self.write(f"{path}/cgroup.procs", "")
        if self.layout.bundles:
            self._bundle(identity, one.uid, one.name)
        return path

    def sandbox(self, uid: str, qos: str = "") -> None:
        """Run a pod's sandbox, which may run on every CPU."""
        name = "POD" if self.layout.runtime != "containerd" else ""
        every = FakeContainer(uid, f"sandbox-{name}", "", "", qos)
        identity = hashlib.sha256(f"{uid}/sandbox".encode()).hexdigest()
        path = f"{self._pod_folder(every)}/{self._container_folder(identity)}"
        self._group(path, every)
        pid = self.process(("",), format_set(self._online), "0-1", 0, "", "pause")
        self.write(f"{path}/cgroup.procs", f"{pid}\n")
        if self.layout.bundles:
            self._bundle(identity, uid, name, sandbox=True)

    def _group(self, path: str, one: FakeContainer) -> None:
        effective = ("cpuset.cpus.effective", "cpuset.mems.effective")
        if self.layout.version == 1:
            effective = ("cpuset.effective_cpus", "cpuset.effective_mems")
        self.write(f"{path}/cpuset.cpus", one.cpus + "\n")
        self.write(f"{path}/cpuset.mems", one.mems + "\n")
        self.write(f"{path}/{effective[0]}", (one.cpus or format_set(self._online)) + "\n")
        self.write(f"{path}/{effective[1]}", (one.mems or "0-1") + "\n")
        if self.layout.version == 2:
            rows = " ".join(f"N{node}={size}" for node, size in one.memory.items()) or "N0=0"
            self.write(f"{path}/memory.numa_stat", f"anon {rows}\nfile N0=9999999999 N1=9999999999\nshmem N0=0 N1=0\n")

    def _pod_folder(self, one: FakeContainer) -> str:
        if self.layout.driver == "cgroupfs":
            middle = f"/{one.qos}" if one.qos else ""
            return f"{self._groups}/kubepods{middle}/pod{one.uid}"
        prefix = "kubelet-kubepods" if self.layout.kind else "kubepods"
        middle = f"/{prefix}-{one.qos}.slice" if one.qos else ""
        dashed = f"{prefix}-{one.qos}" if one.qos else prefix
        return f"{self._groups}/{prefix}.slice{middle}/{dashed}-pod{one.uid.replace('-', '_')}.slice"

    def _container_folder(self, identity: str) -> str:
        prefix = {"containerd": "cri-containerd-", "cri-dockerd": "docker-"}.get(self.layout.runtime, "crio-")
        if self.layout.driver == "systemd":
            return f"{prefix}{identity}.scope"
        return f"crio-{identity}" if prefix == "crio-" else identity

    def _bundle(self, identity: str, uid: str, name: str, *, sandbox: bool = False) -> None:
        if self.layout.runtime == "cri-dockerd":
            place = f"var/lib/docker/containers/{identity}/config.v2.json"
            kind = "podsandbox" if sandbox else "container"
            told = {"io.kubernetes.container.name": name, "io.kubernetes.docker.type": kind}
            self.write(place, json.dumps({"Config": {"Env": ["TOKEN=secret"], "Labels": told}}))
            return
        if self.layout.runtime == "containerd":
            place = f"run/containerd/io.containerd.runtime.v2.task/k8s.io/{identity}/config.json"
            annotations = {
                "io.kubernetes.cri.container-name": name,
                "io.kubernetes.cri.sandbox-uid": uid,
                "io.kubernetes.cri.container-type": "sandbox" if sandbox else "container",
            }
        else:
            place = f"var/lib/containers/storage/overlay-containers/{identity}/userdata/config.json"
            annotations = {"io.kubernetes.container.name": name, "io.kubernetes.pod.uid": uid}
        self.write(place, json.dumps({"annotations": annotations}))

    def process(
        self,
        threads: Iterable[str],
        cpus: str,
        mems: str = "0",
        last_cpu: int | None = None,
        numa_maps: str = "",
        name: str = "a (b) c",
        flags: int = 0,
        ticks: int = 0,
    ) -> int:
        """Run a process; returns its id."""
        pid = self._next_pid
        for number, own in enumerate(threads):
            allowed = own or cpus
            last = next(iter(ids(parse(allowed))), 0) if last_cpu is None else last_cpu
            place = f"proc/{pid}/task/{pid + number}"
            status = f"Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{allowed}\nMems_allowed_list:\t{mems}\n"
            self.write(f"{place}/status", status)
            fields = ["S", *["0"] * 5, str(flags), *["0"] * 4, str(ticks), *["0"] * 24, str(last), *["0"] * 13]
            self.write(f"{place}/stat", f"{pid + number} ({name}) {' '.join(fields)}\n")
            self._next_pid += 1
        (self.root / f"proc/{pid}/stat").write_text((self.root / f"proc/{pid}/task/{pid}/stat").read_text())
        if numa_maps:
            self.write(f"proc/{pid}/numa_maps", numa_maps)
        return pid
