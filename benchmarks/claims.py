"""Claims: an allocation of 8 requests among 128 devices, a search that is given up, and 1,000 nodes in one process.

Beside each stands the plain loop of `timing.loop`, timed in the same run.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.timing import Row, loop, process_seconds, seconds_per_call
from numalign.dra.allocator import allocate
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.reading import read_claim, read_class, read_slice
from numalign.dra.usage import Usage
from numalign.dra.values import Node

API = {"apiVersion": "resource.k8s.io/v1"}
NUMA = "resource.kubernetes.io/numaNode"
SELECTOR = "device.attributes['gpu.example.com'].model == 'H100' && device.attributes['gpu.example.com'].index >= {}"
CLASS = {
    **API,
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
}


def slice_of(node: str, devices: int) -> dict[str, Any]:
    """Make a node's slice: devices in groups of four on a NUMA node."""
    made = [
        {
            "name": f"gpu-{index}",
            "attributes": {"model": {"string": "H100"}, "index": {"int": index}, NUMA: {"int": index // 4}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for index in range(devices)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "pool": pool, "nodeName": node, "devices": made}
    return {**API, "kind": "ResourceSlice", "metadata": {"name": node}, "spec": spec}


def claim_of(requests: int, count: int, lowest: int, *, match: bool) -> dict[str, Any]:
    """Make a claim of equal requests."""
    exactly = {
        "deviceClassName": "gpu",
        "count": count,
        "selectors": [{"cel": {"expression": SELECTOR.format(lowest)}}],
    }
    asked = [{"name": f"r{index}", "exactly": exactly} for index in range(requests)]
    devices = {"requests": asked, "constraints": [{"matchAttribute": NUMA}] if match else []}
    return {**API, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": devices}}


def one_node(devices: int, claim: dict[str, Any], seconds: float) -> tuple[str, float]:
    """Time an allocation on one node; says how it ended."""
    cluster = published([read_slice(slice_of("n", devices))])
    classes, claims = {"gpu": read_class(CLASS)}, [read_claim(claim)]

    def call() -> str:
        found = allocate(Node("n"), cluster, classes, claims, Usage(), features())
        return "given up" if found.gave_up else "allocated" if found.allocated else "no solution"

    return call(), seconds_per_call(call, seconds)


def fleet(folder: Path, nodes: int) -> float:
    """Time a whole `numalign dra check` over many nodes with 8 devices each."""
    items = [CLASS, *(slice_of(f"n{index}", 8) for index in range(nodes))]
    (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    (folder / "claim.json").write_text(json.dumps(claim_of(1, 4, 0, match=True)))
    files = [str(folder / "claim.json"), "--slices", str(folder / "cluster.json")]
    return process_seconds([[sys.executable, "-m", "numalign", "dra", "check", *files]], 3)[0]


def run(seconds: float = 0.5, nodes: int = 1000, devices: int = 128) -> list[Row]:
    """Time all of it."""
    rows: list[Row] = []
    for what, claim in (
        (f"{devices} devices, 8 requests", claim_of(8, 1, 0, match=False)),
        (f"{devices} devices, 8 requests, the last ones", claim_of(8, 1, devices - 8, match=False)),
        (f"{devices} devices, too many of one node", claim_of(2, 3, 0, match=True)),
    ):
        beside = loop()
        outcome, taken = one_node(devices, claim, seconds)
        rows.append({"what": what, "outcome": outcome, "seconds": taken, "loops": taken / beside})
    beside = loop()
    with tempfile.TemporaryDirectory() as folder:
        taken = fleet(Path(folder), nodes)
    rows.append(
        {"what": f"{nodes} nodes of 8, whole process", "outcome": "-", "seconds": taken, "loops": taken / beside}
    )
    return rows
