"""Pods of a guest: the kubelet's files as its twin writes them, control groups as a runtime makes them with systemd."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numalign
from numalign.kubelet.start.restart import written
from numalign.model.cpuset import from_ids, ids, parse
from numalign.model.machine import Device
from tests.lab import processes
from tests.lab.shapes import CARD, NIC, LabPod, Shape

KUBELET = Path("/var/lib/kubelet")
CPUS, MEMORY, DEVICES = "cpu_manager_state", "memory_manager_state", "device-plugins/kubelet_internal_checkpoint"
GROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = "+cpuset +cpu +memory +hugetlb +pids"
PCI = Path("/sys/bus/pci/devices")
LONG_AGO = 60
"""Seconds since the kubelet wrote its files: what differs then is no matter of waiting for it."""
EVICTION, SYSTEM = 100, 156
"""MiB withheld: both together are reserved on NUMA node 0."""
ROOM = 50
"""MiB that a pod may have beside what its process writes to."""


class Running(NamedTuple):
    """A pod that runs, as the kubelet's files have it."""

    group: Path
    """The control group of its container."""
    pid: int
    cpus: tuple[int, ...]
    """Its own; empty: it runs in the shared pool."""
    nodes: tuple[int, ...]
    """NUMA nodes of its memory."""
    cards: tuple[str, ...]
    """PCI addresses of the network cards it holds."""


def start_pods(shape: Shape) -> dict[str, Running]:
    """Let the twin of the kubelet admit the pods of a shape, write its files, and run what they say."""
    node = numalign.Node.start(_machine(), numalign.load_config(str(_config(shape))))
    uids = {}
    for wanted in shape.pods:
        (pod,) = numalign.load_pods(str(_manifest(wanted)))
        node, answer = node.admit(pod, started=True)
        assert answer.admitted, f"{wanted.name}: {answer.message}"
        uids[wanted.name] = pod.uid
    files = written(node.session.node, node.session.state)
    for name, text in ((CPUS, files.cpu), (MEMORY, files.memory), (DEVICES, files.devices)):
        os.utime(_write(KUBELET / name, text or ""), (time.time() - LONG_AGO,) * 2)
    for place in ("", "kubepods.slice", "kubepods.slice/kubepods-besteffort.slice"):
        _open(GROUPS / place)
    return {one.name: _run(one, uids[one.name], crun=shape.crun) for one in shape.pods}


def _machine() -> numalign.Machine:
    cards = [
        Device(path.name, (node,) if (node := int((path / "numa_node").read_text())) >= 0 else None)
        for path in sorted(PCI.iterdir())
        if os.path.realpath(path / "driver").endswith(f"/{CARD}")
    ]
    return numalign.this_host()._replace(devices={NIC: tuple(cards)} if cards else {})


def _config(shape: Shape) -> Path:
    settings = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "topologyManagerPolicy": "single-numa-node",
        "cpuManagerPolicy": "static",
        "memoryManagerPolicy": "Static",
        "reservedSystemCPUs": shape.reserved,
        "systemReserved": {"memory": f"{SYSTEM}Mi"},
        "evictionHard": {"memory.available": f"{EVICTION}Mi"},
        "reservedMemory": [{"numaNode": 0, "limits": {"memory": f"{SYSTEM + EVICTION}Mi"}}],
    }
    return _write(KUBELET / "config.yaml", json.dumps(settings))


def _manifest(one: LabPod) -> Path:
    amounts = {"cpu": str(one.cpus), "memory": f"{one.touched + one.shared + ROOM}Mi"} if one.cpus else {}
    if one.huge:
        amounts["hugepages-2Mi"] = f"{one.huge}Mi"
    if one.giant:
        amounts["hugepages-1Gi"] = f"{one.giant}Gi"
    if one.nic:
        amounts[NIC] = "1"
    container = {"name": "app", "image": "app", "resources": {"limits": amounts, "requests": amounts}}
    uid = f"{_hash(one.name)[:8]}-0000-4000-8000-{_hash(one.name)[8:20]}"
    metadata = {"name": one.name, "namespace": "lab", "uid": uid}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    return _write(Path(f"/run/lab/{one.name}.json"), json.dumps(pod))


def _run(one: LabPod, uid: str, *, crun: bool) -> Running:
    """Make the folders of a pod, its sandbox and its container, and run a process in each."""
    (KUBELET / "pods" / uid).mkdir(parents=True)
    Path(f"/var/log/pods/lab_{one.name}_{uid}").mkdir(parents=True)
    above = "kubepods.slice/kubepods" if one.cpus else "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort"
    pod = GROUPS / f"{above}-pod{uid.replace('-', '_')}.slice"
    _open(pod)
    processes.in_group(_container(pod, uid, "", crun=crun), LabPod("sandbox"))
    inner = _container(pod, uid, "app", crun=crun)
    group = inner.parent if crun else inner
    plan = _content(CPUS)
    own = plan["entries"].get(uid, {}).get("app", "")
    (group / "cpuset.cpus").write_text(own or plan["defaultCpuSet"])
    blocks = _content(MEMORY)["entries"].get(uid, {}).get("app", ())
    nodes = {node for block in blocks for node in block["numaAffinity"]}
    if nodes:
        (group / "cpuset.mems").write_text(",".join(map(str, nodes)))
    rows = _content(DEVICES)["Data"]["PodDeviceEntries"] or ()
    cards = [name for row in rows if row["PodUID"] == uid for names in row["DeviceIDs"].values() for name in names]
    pid = processes.in_group(inner, one)
    return Running(group, pid, tuple(ids(parse(own))), tuple(ids(from_ids(nodes))), tuple(cards))


def _container(pod: Path, uid: str, name: str, *, crun: bool) -> Path:
    """Make the groups of a container and the file in which the runtime says who it is; the sandbox has no name.

    Returns:
        the group of its processes: with crun a folder in that of the container.
    """
    identity = _hash(f"{uid}/{name}")
    kind = "container" if name else "sandbox"
    if crun:
        _open(pod / f"crio-conmon-{identity}.scope")
        group = pod / f"crio-{identity}.scope"
        _open(group)
        (group / "container").mkdir()
        told = {"io.kubernetes.cri-o.ContainerType": kind, "io.kubernetes.container.name": name or "POD"}
        bundle = f"/var/lib/containers/storage/overlay-containers/{identity}/userdata/config.json"
    else:
        group = pod / f"cri-containerd-{identity}.scope"
        group.mkdir()
        told = {"io.kubernetes.cri.container-type": kind}
        told |= {"io.kubernetes.cri.container-name": name} if name else {}
        bundle = f"/run/containerd/io.containerd.runtime.v2.task/k8s.io/{identity}/config.json"
    _write(Path(bundle), json.dumps({"annotations": told}))
    return group / "container" if crun else group


def _open(group: Path) -> None:
    """Make a control group whose groups below it have all controllers."""
    group.mkdir(exist_ok=True)
    (group / "cgroup.subtree_control").write_text(CONTROLLERS)


def _content(name: str) -> Any:
    return json.loads((KUBELET / name).read_text())


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
