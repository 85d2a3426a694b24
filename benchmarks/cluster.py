"""`schedule` and `capacity` on a large cluster, as whole processes, and the reading of a dump beside `json.load`.

The cluster is made up: the bundled machines in equal parts under the three policies that align, static memory on a
part of them, a label of its own on each node as on real ones, pods of 40 shapes drawn with a fixed seed and admitted
one after another until the numbers are reached.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.timing import Row
from numalign.kubelet import admission
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.scheduler.node import Fleet, with_pod
from numalign.scheduler.nrt.export import export
from numalign.scheduler.nrt.value import amount_text, manifest
from numalign.scheduler.request import node_load, read_request
from numalign.sources.cluster import file, state_dump
from numalign.sources.text.yaml import load_documents
from numalign.store.state_file import API_VERSION

ROOT = Path(__file__).parent.parent
PROBE = str(ROOT / "docs/examples/cluster/forwarder.yaml")
MACHINES = (
    "figure-1",
    "dgx-1",
    "epyc-2s-nps1",
    "epyc-2s-nps4",
    "hgx-h100",
    "power9-2s-sparse-ids",
    "xeon-2s-snc2",
    "xeon-2s-snc4",
    "xeon-4s",
    "xeon-8s",
)
"""The smallest comes first: what does not fit there is left for the larger ones."""
POLICIES = ("single-numa-node", "restricted", "best-effort")
SHAPES = 40
DUMPED = 1500
"""A dump of more nodes than this says nothing more, and `json.load` would take gigabytes for it."""


def run(nodes: int = 5000, pods: int = 100_000) -> list[Row]:
    """Make the cluster, then time the commands on it."""
    with tempfile.TemporaryDirectory() as folder:
        state, dump = Path(folder) / "state.json", Path(folder) / "dump.json"
        # In a process of its own: a child's largest size counts from the size of the process that starts it.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            bound = pool.submit(write, nodes, pods, state, dump).result()
        rows = [_command(name, state, nodes, bound) for name in ("schedule", "capacity")]
        return [*rows, _reading(dump)]


def write(nodes: int, pods: int, state: Path, dump: Path) -> int:
    """Write the cluster as a state and as a dump; returns how many pods are bound."""
    fleet = made_up(nodes, pods)
    document = {"apiVersion": API_VERSION, "kind": "ClusterState", "version": 1, **state_dump.document(fleet)}
    state.write_text(json.dumps(document, separators=(",", ":")))
    write_dump(fleet, dump, DUMPED)
    return sum(node.totals.pods for node in fleet.nodes)


def made_up(nodes: int, pods: int) -> Fleet:
    """Make a cluster of mixed machines with about so many pods."""
    groups = []
    for place, name in enumerate(MACHINES):
        kubelet: dict[str, object] = {"topologyManagerPolicy": POLICIES[place % len(POLICIES)]}
        if place % 2:
            kubelet |= {
                "memoryManagerPolicy": "Static",
                "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
                "systemReserved": {"memory": "1Gi"},
            }
        number = nodes // len(MACHINES) + (place < nodes % len(MACHINES))
        if number:
            groups.append({"name": f"{name}-{{i}}", "count": number, "machine": name, "kubelet": kubelet})
    fleet = file.read_cluster(load_documents(json.dumps({"version": 1, "nodes": groups}), "cluster")[0]).fleet
    chance = random.Random(1)
    shapes = [_shape(chance, number) for number in range(SHAPES)]
    filled, left = [], pods
    for place, node in enumerate(fleet.nodes):
        for number in range(2 * left // (len(fleet.nodes) - place)):
            pod = chance.choice(shapes)._replace(name=f"p-{place}-{number}", uid=f"p-{place}-{number}")
            outcome = admission.admit(node.session, pod) if node.session else None
            if outcome is None or not outcome.admit:
                break
            node, left = with_pod(node, node_load(read_request(pod)), outcome.then), left - 1
            if number + 1 >= -(-left // max(len(fleet.nodes) - place - 1, 1)):
                break
        filled.append(node._replace(labels={"kubernetes.io/hostname": node.name}))
    return fleet._replace(nodes=tuple(filled))


def _shape(chance: random.Random, number: int) -> Pod:
    cpus, memory = chance.choice((1, 1, 2, 2, 3, 4)), chance.choice((1, 2, 4))
    amounts = {"cpu": f"{cpus * 250}m" if number % 4 == 0 else str(cpus), "memory": f"{memory}Gi"}
    resources = {"limits" if number % 3 else "requests": amounts}
    spec = {"containers": [{"name": "c", "image": "registry.example/app", "resources": resources}]}
    return read_pod({"metadata": {"name": f"shape-{number}"}, "spec": spec})


def write_dump(fleet: Fleet, path: Path, most: int) -> None:
    """Write what `kubectl get nodes,noderesourcetopologies,pods -A -o json` would print of the first nodes."""
    items: list[object] = []
    for node in fleet.nodes[:most]:
        if node.session is None:
            continue
        total = {name: amount_text(amount) for name, amount in node.totals.allocatable.items()}
        status = {"allocatable": total, "capacity": total}
        metadata = {"name": node.name, "labels": dict(node.labels)}
        items.append({"kind": "Node", "metadata": metadata, "spec": {}, "status": status})
        items.append(manifest(export(node.session, node.name)))
        items += [_pod_item(pod, node.name) for pod in node.session.pods]
    path.write_text(json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=4))


def _pod_item(pod: Pod, node: str) -> dict[str, object]:
    """Write a pod as long as real ones are."""
    environment = [{"name": f"VARIABLE_{number}", "value": "a value of usual length"} for number in range(8)]
    containers = [{**one, "env": environment} for one in pod.spec["containers"]]
    conditions = [{"type": name, "status": "True"} for name in ("Initialized", "Ready", "ContainersReady")]
    labels = {"app": "web", "pod-template-hash": "5d9c7b8f6d"}
    return {
        "kind": "Pod",
        "metadata": {"name": pod.name, "namespace": "default", "uid": pod.uid, "labels": labels},
        "spec": {"nodeName": node, "containers": containers, "restartPolicy": "Always"},
        "status": {"phase": "Running", "qosClass": pod.qos, "conditions": conditions},
    }


def _command(name: str, state: Path, nodes: int, pods: int) -> Row:
    done = _process([sys.executable, "-m", "numalign", name, PROBE, "--cluster", str(state), "-q"])
    return {"what": name, "nodes": nodes, "pods": pods, **done}


_READ = "import sys; from numalign.sources.cluster import dump, fleet; fleet.fleet_of(dump.read(sys.argv[1]))"
_LOAD = "import sys, json; json.load(open(sys.argv[1]))"


def _reading(path: Path) -> Row:
    own = _process([sys.executable, "-c", _READ, str(path)])
    beside = _process([sys.executable, "-c", _LOAD, str(path)])
    row: Row = {"what": f"reading {path.stat().st_size / 1e6:.0f} MB of objects", **own}
    return {**row, "json_load_seconds": beside["seconds"], "ratio": own["cpu_seconds"] / beside["cpu_seconds"]}


def _process(command: Sequence[str]) -> Row:
    """Run a process; give its seconds, those of its processors, and the most memory that it had in MB."""
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, {**os.environ, "PYTHONPATH": str(ROOT)})
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime, "MB": usage.ru_maxrss / 1024}
