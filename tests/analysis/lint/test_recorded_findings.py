"""What lint finds in pods of many kinds, with and without a machine: codes, places, effects and what is said.

`recorded_findings.jsonl.gz` has the answers. `NUMALIGN_UPDATE_GOLDEN=1` makes it anew; read what changed before you
commit it.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from numalign.analysis.lint.check import lint
from numalign.kubelet.admission import Session, open_session
from numalign.kubelet.config import IDEAL
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.tasks.setup import load_machine
from tests.analysis.support import STATIC

FILE = Path(__file__).parent / "recorded_findings.jsonl.gz"
FULL = {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}
NODES: Mapping[str, tuple[str, int, Mapping[str, Any]]] = {
    "small": ("figure-1", 36, {}),
    "strict, memory": ("xeon-2s-snc4", 36, {**FULL, **STATIC, "topology_manager_policy": "restricted"}),
    "one node": ("dgx-a100", 34, {**STATIC, "topology_manager_policy": "single-numa-node"}),
    "pods as a whole": ("hgx-h100", 37, {"topology_manager_policy": "restricted", "topology_manager_scope": "pod"}),
    "early, nothing pinned": ("dgx-1", 30, {"cpu_manager_policy": "none"}),
}
GOOD = {"limits": {"cpu": "2", "memory": "1Gi"}}
ASKED: list[dict[str, Any]] = [
    *({"limits": {"cpu": cpu, "memory": "1Gi"}} for cpu in ("1", "3", "500m", "1500m", "1.9999", "2.0001", "0", "200")),
    *({"limits": {"cpu": "2", "memory": memory}} for memory in ("3.73Gi", "1.5Gi", "0", "9000Gi", "1e30")),
    *({"limits": {"cpu": "4", "memory": "1Gi", "nvidia.com/gpu": gpus}} for gpus in ("0", "1", "3", "8", "9")),
    {"limits": {"cpu": "48", "memory": "1Gi", "nvidia.com/gpu": "1"}},
    {"limits": {"cpu": "2500m", "memory": "1Gi", "nvidia.com/gpu": "1"}},
    {"limits": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpus": "1", "amd.com/gpu": "2"}},
    {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}},
    {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "512Mi"}},
    {"requests": {"cpu": "1500m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}},
    {"requests": {"cpu": "2", "memory": "0"}},
    {"requests": {"cpu": "100m"}},
    {"limits": {"memory": "1Gi"}},
    {},
    *({"limits": {"cpu": "2", "hugepages-2Mi": "64Mi", **more}} for more in ({}, {"memory": "1Gi"}, {"memory": "0"})),
    {"limits": {"cpu": "2", "memory": "1Gi", "hugepages-2048Ki": "4Mi", "hugepages-1Gi": "1Gi", "hugepages-x": "1"}},
    {"limits": {"cpu": "2", "memory": "1Gi"}, "claims": [{"name": "a"}]},
    {"limits": {"memory": "1Gi", "nvidia.com/gpu": "8"}},
]
MORE: list[dict[str, Any]] = [
    {"resources": {"limits": {"cpu": "4"}}},
    {"resources": {"requests": {"cpu": "4", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "2Gi"}}},
    {"resources": {"limits": {"hugepages-2Mi": "4Mi"}}},
    {"resources": {}},
    {"overhead": {"cpu": "7", "memory": "1Gi"}},
    {"resourceClaims": [{"name": "a"}]},
]
MARKS: list[dict[str, str]] = [
    {"sidecar.istio.io/inject": "true"},
    {"sidecar.istio.io/inject": "true", "sidecar.istio.io/proxyCPU": "1", "sidecar.istio.io/proxyCPULimit": "2"},
    {"k8s.v1.cni.cncf.io/networks": "one, two"},
    {"numalign/align": "true"},
    {"kubernetes.io/config.source": "file"},
    {"numalign/ignore": "not-guaranteed, odd-cpus@c"},
]
Row = dict[str, Any]


def asked() -> Iterator[Row]:
    """Each request in each place; each field and mark of a pod with a few of them; on each node and without one."""
    for number, one in enumerate(ASKED):
        apart = {"name": "c", "resources": one}
        app = {"name": "app", "resources": GOOD}
        name = "istio-proxy" if number % 2 else "queue-proxy"
        for spec in (
            {"containers": [apart]},
            {"containers": [app, {**apart, "name": name}]},
            {"containers": [app], "initContainers": [apart]},
            {"containers": [app], "initContainers": [{**apart, "restartPolicy": "Always"}]},
        ):
            yield from ({"spec": spec, "marks": {}, "on": on} for on in (None, *NODES))
    for one in (ASKED[0], ASKED[2], ASKED[13], ASKED[23]):
        spec = {"containers": [{"name": "c", "resources": one}]}
        yield from ({"spec": {**spec, **more}, "marks": {}, "on": on} for more in MORE for on in (None, *NODES))
        yield from ({"spec": {**spec, **MORE[0]}, "marks": marks, "on": on} for marks in MARKS for on in (None, *NODES))
        yield from ({"spec": spec, "marks": marks, "on": None} for marks in MARKS)


@cache
def node(name: str) -> Session:
    machine, minor, settings = NODES[name]
    config = IDEAL._replace(**settings)
    return open_session(Setup(load_machine(machine).machine, config, "ideal", kubelet((1, minor))))


def answer(row: Row) -> Any:
    """Give what is found, as a file has it."""
    pod = read_pod({"metadata": {"name": "p", "uid": "u", "annotations": row["marks"]}, "spec": row["spec"]})
    found = lint(pod, None if row["on"] is None else node(row["on"]))
    told = [[one.code, one.effect, one.container, one.path, one.message, one.advice] for one in found.findings]
    return json.loads(json.dumps([found.judged, told, found.ignored]))


def test_findings_are_as_they_were() -> None:
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        rows = [{**row, "told": answer(row)} for row in asked()]
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    assert len(recorded) > 400
    for row in recorded:
        assert answer(row) == row["told"], {key: one for key, one in row.items() if key != "told"}
