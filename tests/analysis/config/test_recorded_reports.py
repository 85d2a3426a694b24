"""What is told of odd configurations, with all changes that might mend them, and what is suggested for each system.

`recorded_reports.jsonl.gz` has the answers. `NUMALIGN_UPDATE_GOLDEN=1` makes it anew; read what changed before you
commit it.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numalign.analysis.config.check import report
from numalign.analysis.config.offers import OFFERS
from numalign.analysis.config.suggest import suggest
from numalign.analysis.config.system import Facts, Ground
from numalign.analysis.config.systems import FORMATS
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.hardware import Hardware
from numalign.model.machine import Machine, NUMANode, Unit
from numalign.sources.machine import bundled
from numalign.tasks.setup import load_machine
from tests.kubelet.regular import GI, regular

FILE = Path(__file__).parent / "recorded_reports.jsonl.gz"
MACHINES: Mapping[str, Machine] = {
    "two nodes": regular(),
    "isolated CPUs": regular(hardware=Hardware(isolated_cpus=0b1111_0000)),
    "huge pages": regular(memory=8 * GI, hugepages={"2Mi": 2 * GI, "1Gi": GI}),
    "nine nodes": regular(nodes=9, cores=1, memory=GI),
    "no distances, cgroup v1": regular(distances=False)._replace(cgroup_v1=True),
    "an id too large": Machine(
        "m",
        (NUMANode(0, 0xF, GI, {}, (10, 20)), NUMANode(64, 0xF0, GI, {}, (20, 10))),
        (Unit(0, 0xFF),),
        (0x3, 0xC, 0xF0),
    ),
    "no CPU of one thread": regular(nodes=1, cores=1, threads=1, memory=GI // 4),
}
STATIC: Mapping[str, Any] = {
    "topology_manager_policy": "restricted",
    "cpu_manager_policy": "static",
    "memory_manager_policy": "Static",
    "reserved_memory": [[0, {"memory": "612Mi"}]],
    "kube_reserved": {"cpu": "1", "memory": "512Mi"},
}
AMOUNTS = [
    *({"cpu": cpu} for cpu in ("500m", "3", "99", "-1", "1 CPU")),
    *({"memory": memory} for memory in ("1GB", "1.5Gi", "999Gi", "0", "10%", "128974848000m")),
    {"cpu": "1", "memory": "1Gi", "gpu": "1", "hugepages-2Mi": "2Mi"},
    {"Memory": "1Gi"},
    {},
]
SETTINGS: Mapping[str, Sequence[Any]] = {
    "topology_manager_policy": ["none", "best-effort", "single-numa-node", "Restricted", "numa", ""],
    "topology_manager_scope": ["pod", "node", "Pod"],
    "topology_manager_policy_options": [
        *({"prefer-closest-numa-nodes": text} for text in ("true", "yes", "")),
        *({"max-allowable-numa-nodes": text} for text in ("8", "9", "7", "x")),
        {"prefer-closest": "true"},
        {"full-pcpus-only": "true"},
    ],
    "cpu_manager_policy": ["none", "Static", "x"],
    "cpu_manager_policy_options": [
        *({"full-pcpus-only": text} for text in ("true", "x")),
        {"full-pcpus": "true", "align-by-socket": "true"},
        {"distribute-cpus-across-numa": "true", "prefer-align-cpus-by-uncorecache": "true"},
        {"strict-cpu-reservation": "true", "distribute-cpus-across-cores": "true"},
    ],
    "reserved_system_cpus": ["0", "0,8", "0-15", "4-5", "99", "x", "0,8,99"],
    "memory_manager_policy": ["None", "static", "BestEffort"],
    "reserved_memory": [
        [],
        [[0, {"memory": "100Mi"}], [1, {"memory": "100Mi"}]],
        [[0, {"memory": "100Mi"}], [0, {"memory": "512Mi"}]],
        [[0, {"memory": "612Mi", "hugepages-2Mi": "2Mi"}]],
        [[7, {"memory": "612Mi"}]],
        [[0, {"memory": "0"}], [1, {"cpu": "1"}]],
        [[0, {"memory": "1.5"}], [1, {"memory": "x"}]],
    ],
    "kube_reserved": AMOUNTS,
    "system_reserved": AMOUNTS,
    "eviction_hard": [
        *({"memory.available": text} for text in ("5%", "0%", "101%", "-1", "1GiB", "100Mi")),
        {"memory.avail": "1Gi", "nodefs.available": "10%"},
        {"memory.avail": "1Gi", "memory.available": "999Gi"},
        {"memory.available": "999Gi", "nodefs.available": "10%"},
        {"nothing": "x", "memory.available": "1GB"},
        {},
    ],
    "feature_gates": [
        *({name: False} for name in ("CPUManager", "MemoryManager", "PodLevelResources", "NodeSwap")),
        *({name: True} for name in ("AllAlpha", "Nothing", "CPUManagerPolicyAlphaOption")),
        {"CPUManagerPolicyOptions": False, "TopologyManagerPolicyOptions": False},
    ],
    "merge_default_eviction_settings": [True],
    "fail_cgroup_v1": [True, False],
    "system_reserved_cgroup": ["/system"],
}
SEVERAL: Sequence[Mapping[str, Any]] = [
    {"reserved_system_cpus": "0,8", "kube_reserved_cgroup": "/kube"},
    {"reserved_system_cpus": "0", "kube_reserved_cgroup": "/kube", "system_reserved_cgroup": "/system"},
    {"cpu_manager_policy": "none", "cpu_manager_policy_options": {"full-pcpus-only": "true"}},
    {"cpu_manager_policy": "static", "kube_reserved": {}, "kube_reserved_cgroup": "/kube"},
    {"memory_manager_policy": "Static", "kube_reserved": {}, "eviction_hard": {"memory.available": "0"}},
    {"feature_gates": {"CPUManagerPolicyAlphaOptions": True}, "cpu_manager_policy_options": {"align-by-socket": "x"}},
    {"feature_gates": {"PodLevelResource": True, "PodLevelResources": False, "CPUManager": False, "Nothing": True}},
    {"kube_reserved": {"memory": "400Gi", "cpu": "1"}, "system_reserved": {"memory": "1Gi"}},
    {"cpu_manager_policy": "static", "kube_reserved": {"cpu": "500m"}, "system_reserved": {"cpu": "500m"}},
    {"topology_manager_policy_options": {"prefer-closest": "true", "prefer-closest-numa-nodes": "false"}},
]
GROUNDS: Mapping[str, Ground] = {
    "nothing is unknown": Ground(),
    "CPUs are unknown": Ground(unknown={"kubeReserved.cpu": "fix"}),
    "memory is unknown": Ground(unknown={"kubeReserved.memory": "fix"}),
    "all is unknown": Ground(unknown={"the file of x": "fix"}, lacks=frozenset({"featureGates", "reservedMemory"})),
}
Row = dict[str, Any]


def asked() -> Iterator[Row]:
    """Each setting otherwise, beside settings of which nothing is wrong and beside none, on each machine in turn."""
    number = 0
    for beside in (STATIC, {}):
        for odd in (*({field: value} for field, values in SETTINGS.items() for value in values), *SEVERAL):
            for version in (31, 36):
                number += 1
                machine = [*MACHINES][number % len(MACHINES)] if number % 2 else "two nodes"
                ground = [*GROUNDS][number % 7] if number % 7 < len(GROUNDS) else "nothing is unknown"
                yield {"settings": {**beside, **odd}, "on": machine, "version": version, "ground": ground}
    yield {"settings": STATIC, "on": "nine nodes", "version": 28, "ground": "nothing is unknown"}
    for place, name in enumerate(FORMATS):
        for machine in (*MACHINES, *bundled.names()[place % 4 :: 4]):
            yield {"suggest": name, "on": machine, "version": 36 - place % 3}


def answer(row: Row) -> Any:
    """Give what is told, as a file has it."""
    machine = MACHINES.get(row["on"]) or load_machine(row["on"]).machine
    release = kubelet((1, row["version"]))
    if "suggest" in row:
        facts = Facts(machine.cpus.bit_count(), machine.memory, release.version, pods=110)
        found = suggest(machine, {}, release, FORMATS[row["suggest"]], facts)
        return plain([settings(found.config), found.reasons, found.error, found.left_out])
    given = {**row["settings"]}
    if "reserved_memory" in given:
        given["reserved_memory"] = tuple(MemoryReservation(*one) for one in given["reserved_memory"])
    setup = Setup(machine, KubeletConfig(**given), "kubelet", release)
    told = report(setup, GROUNDS[row["ground"]])
    return plain(
        {
            "starts": [told.starts, told.repairable, told.reserved_cpus, told.unknown],
            "steps": [[step.error, step.change and step.change.values] for step in told.steps],
            "repaired": settings(told.repaired),
            "findings": told.findings,
            "offers": [offer for offers in OFFERS for offer in offers(setup)],
            "memory": told.memory,
        }
    )


def settings(config: KubeletConfig) -> Mapping[str, Any]:
    """Name what is not as by default."""
    default = KubeletConfig()._asdict()
    return {name: value for name, value in config._asdict().items() if value != default[name]}


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_reports_are_as_they_were() -> None:
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        rows = [{**row, "told": answer(row)} for row in asked()]
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    assert len(recorded) > 400
    for row in recorded:
        assert answer(row) == row["told"], {key: one for key, one in row.items() if key != "told"}
