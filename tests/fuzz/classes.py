"""The classes of hostile inputs, and how a case of each is made from chance alone."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import yaml

from tests import documents
from tests.cli.running import MACHINES, PODS, ROOT
from tests.fuzz.archives import LINKS, TREE, archive
from tests.fuzz.case import Case
from tests.fuzz.claims import claims, expressions
from tests.fuzz.mutate import CONTROLS, TEXTS, damaged, mutated, near, odd, written
from tests.fuzz.outside import answers, cluster_files, kept_states, requests, settings

EXAMPLES = ROOT / "docs" / "examples"
OUTPUTS = {
    "admit": ("table", "wide", "json", "yaml", "name", "junit", "github"),
    "explain": ("table", "json", "yaml", "markdown"),
    "compare": ("table", "wide", "json", "yaml", "markdown"),
    "lint": ("table", "json", "junit", "github", "sarif"),
    "discover": ("table", "wide", "json", "yaml", "name", "tree", "svg"),
}
SMALL = ("figure-1", "figure-1", "figure-1", "edge-1s", "power9-2s-sparse-ids", "xeon-2s-cxl", "laptop-hybrid", "dgx-1")
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")


@cache
def loaded(text: bytes) -> list[Any]:
    """Return the documents of a good text, read once."""
    return [one for one in documents.each(text) if one]


@cache
def good_pods() -> list[Any]:
    """Return every pod of the folder of examples."""
    return [one for path in sorted(PODS.glob("*.yaml")) for one in documents.each(path.read_text()) if one]


@cache
def good_machines() -> list[Any]:
    """Return the bundled machines that are not large."""
    return [documents.one(path.read_text()) for path in sorted(MACHINES.glob("*.yaml")) if path.stat().st_size < 4000]


KUBELET: dict[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
    "cpuManagerPolicy": "static",
    "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    "reservedSystemCPUs": "0",
    "memoryManagerPolicy": "Static",
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1124Mi"}}],
    "kubeReserved": {"cpu": "1", "memory": "1Gi"},
    "systemReserved": {"memory": "0"},
    "evictionHard": {"memory.available": "100Mi"},
    "featureGates": {"CPUManagerPolicyAlphaOptions": True},
    "maxPods": 110,
    "cpuManagerReconcilePeriod": "10s",
}
SCENARIO: dict[str, Any] = {
    "id": "one",
    "family": "lifecycle",
    "kubelet": {key: KUBELET[key] for key in ("topologyManagerPolicy", "cpuManagerPolicy", "reservedSystemCPUs")},
    "machine": {
        "numaNodes": [
            {"id": 0, "cpus": "0-3", "memory": 8 << 30, "hugepages": {"2Mi": 1 << 30}, "distances": [10, 20]},
            {"id": 1, "cpus": "4-7", "memory": 8 << 30, "hugepages": {}, "distances": [20, 10]},
        ],
        "sockets": ["0-3", "4-7"],
        "cores": ["0-1", "2-3", "4-5", "6-7"],
        "uncoreCaches": ["0-1", "2-3", "4-5", "6-7"],
    },
    "devices": {"example.com/dev": [{"id": "a", "numaNodes": [0]}, {"id": "b", "numaNodes": None, "unhealthy": True}]},
    "preferredAllocation": {"example.com/dev": [["a"]]},
    "steps": [
        {"op": "admit", "pod": documents.one((PODS / "guaranteed-4cpu-1gpu.yaml").read_text())},
        {"op": "start", "pod": "numa-aligned-1"},
        {"op": "remove", "pod": "numa-aligned-1"},
    ],
}


def _on(rng: Random) -> tuple[str, ...]:
    return ("-m", rng.choice(SMALL), "--policy", rng.choice(POLICIES))


def manifests(rng: Random) -> Case:
    """Pods and templates with changed fields, to every command that reads them."""
    command = rng.choice(("admit", "admit", "admit", "lint", "explain", "compare"))
    documents = [mutated(rng, rng.choice(good_pods())) for _ in range(rng.choice((1, 1, 1, 2, 5)))]
    if rng.random() < 0.2:
        documents = [
            {"apiVersion": "v1", "kind": rng.choice(("List", "PodList", "DeploymentList")), "items": documents}
        ]
    text = b"\n---\n".join(written(rng, one) for one in documents)
    arguments = [command, "-", "-o", rng.choice(OUTPUTS[command])]
    if command != "lint":
        arguments += _on(rng) if command != "compare" else ("-m", rng.choice(SMALL))
    if rng.random() < 0.1:
        arguments += ["--replicas", rng.choice(("0", "1", "3", "40", "x", "-1"))]
    return Case(tuple(arguments), text)


def beside(rng: Random) -> Case:
    """Pods that are said to be there already."""
    pods = {"kind": "List", "items": [mutated(rng, rng.choice(good_pods())) for _ in range(rng.randint(1, 3))]}
    command = rng.choice(("admit", "explain", "compare"))
    arguments = (command, str(PODS / "burstable.yaml"), "--beside", "{here}/b", "-o", "json")
    return Case(
        (*arguments, *(_on(rng) if command != "compare" else ("-m", "figure-1"))), files={"b": written(rng, pods)}
    )


def texts(rng: Random) -> Case:
    """Bytes that are hardly YAML or JSON, in every role."""
    good = rng.choice((*PODS.glob("*.yaml"), MACHINES / "figure-1.yaml", EXAMPLES / "kubelet.yaml")).read_bytes()
    text = damaged(rng, good) if rng.random() < 0.8 else rng.randbytes(rng.randrange(80))
    pod = str(PODS / "burstable.yaml")
    return rng.choice(
        (
            Case(("admit", "-", "-m", "figure-1", "-o", "json"), text),
            Case(("lint", "-", "-o", "junit"), text),
            Case(("admit", pod, "-m", "-", "-o", "json"), text),
            Case(("admit", pod, "-m", "figure-1", "--kubelet-config", "-"), text),
            Case(("admit", pod, "-m", "figure-1", "--beside", "-"), text),
            Case(("config", "check", "-", "-m", "figure-1"), text),
            Case(("discover", "-m", "-", "-o", "tree"), text),
            Case(("replay", "-"), text),
            Case(("admit", "{here}/d", "-m", "figure-1"), files={"d/a.yaml": text, "d/b.json": damaged(rng, good)}),
        )
    )


def machines(rng: Random) -> Case:
    """Machine files with changed fields."""
    text = written(rng, mutated(rng, rng.choice(good_machines())))
    pod = str(rng.choice(sorted(PODS.glob("*.yaml"))))
    return rng.choice(
        (
            Case(("admit", pod, "-m", "-", "--policy", rng.choice(POLICIES), "-o", rng.choice(OUTPUTS["admit"])), text),
            Case(("discover", "-m", "-", "-o", rng.choice(OUTPUTS["discover"])), text),
            Case(("config", "suggest", "-m", "-"), text),
            Case(("config", "check", str(EXAMPLES / "kubelet.yaml"), "-m", "-", "-o", "json"), text),
            Case(("explain", pod, "-m", "-", "--policy", "restricted", "-o", rng.choice(OUTPUTS["explain"])), text),
            Case(("compare", pod, "-m", "-", "-o", "json"), text),
        )
    )


def configurations(rng: Random) -> Case:
    """Kubelet configurations with changed fields."""
    text = written(rng, mutated(rng, KUBELET))
    machine = rng.choice(SMALL)
    return rng.choice(
        (
            Case(("admit", str(PODS / "hugepages.yaml"), "-m", machine, "-o", "json", "--kubelet-config", "-"), text),
            Case(("config", "check", "-", "-m", machine, "-o", rng.choice(("table", "json", "yaml"))), text),
            Case(("explain", str(PODS / "hugepages.yaml"), "-m", machine, "--kubelet-config", "-"), text),
        )
    )


def scenarios(rng: Random) -> Case:
    """Lines of `replay`."""
    lines = [json.dumps(mutated(rng, SCENARIO, 5)).encode() for _ in range(rng.randint(1, 4))]
    text = b"\n".join(lines)
    return Case(("replay", "-"), damaged(rng, text) if rng.random() < 0.1 else text)


FLAGS = (
    *(
        "--policy",
        "--scope",
        "--topology-manager-policy-options",
        "--cpu-manager-policy",
        "--cpu-manager-policy-options",
    ),
    *("--memory-manager-policy", "--reserved-memory", "--reserved-cpus", "--kube-reserved", "--system-reserved"),
    *(
        "--eviction-hard",
        "--feature-gates",
        "--replicas",
        "--kubelet-version",
        "--fail-on",
        "-o",
        "--beside",
        "--without",
    ),
)
FLAG_TEXTS = (
    *(
        "a=b",
        "=",
        "a=",
        "cpu=1",
        "cpu=-1",
        "cpu=1e40",
        "memory=1Gi",
        "0:memory=1Gi",
        "0:memory=1Gi;1:memory=-1",
        "9:memory=1",
    ),
    *(
        "-1:memory=1",
        "0:hugepages-2Mi=4Mi",
        "0:",
        ";",
        "memory.available<1Gi",
        "memory.available<10%",
        "memory.available<-5%",
    ),
    *("full-pcpus-only=true", "full-pcpus-only=maybe", "distribute-cpus-across-numa=true,align-by-socket=true"),
    *(
        "max-allowable-numa-nodes=0",
        "prefer-closest-numa-nodes=1",
        "1.16",
        "1.32",
        "1.36",
        "1.99",
        "v1.32",
        "single-numa-node",
    ),
    *(
        "CPUManagerPolicyAlphaOptions=true",
        "CPUManager=false",
        "None",
        "Static",
        "0,4",
        "0-3",
        "json",
        "wide",
        "nothing",
    ),
)


GOOD_FLAGS = (
    *("--cpu-manager-policy-options=full-pcpus-only=true", "--cpu-manager-policy-options=align-by-socket=true"),
    *("--topology-manager-policy-options=prefer-closest-numa-nodes=1", "--memory-manager-policy=Static"),
    *("--topology-manager-policy-options=max-allowable-numa-nodes=9", "--reserved-memory=0:memory=1Gi", "--scope=pod"),
    *(
        "--reserved-memory=1:memory=3Gi",
        "--system-reserved=memory=1Gi",
        "--kube-reserved=cpu=1500m",
        "--reserved-cpus=0,4",
    ),
    *("--eviction-hard=memory.available<5%", "--feature-gates=CPUManagerPolicyAlphaOptions=true", "--replicas=3"),
    *(f"--policy={policy}" for policy in POLICIES),
    *(f"--kubelet-version=1.{minor}" for minor in range(16, 37)),
)


def flags(rng: Random) -> Case:
    """Flags, most of them with texts that belong there."""
    arguments = ["admit", str(PODS / "announcement.yaml"), "-m", "figure-1", "-o", rng.choice(OUTPUTS["admit"])]
    for _ in range(rng.randint(1, 5)):
        if rng.random() < 0.75:
            flag, _, text = rng.choice(GOOD_FLAGS).partition("=")
        else:
            flag, text = rng.choice(FLAGS), rng.choice(FLAG_TEXTS if rng.random() < 0.6 else TEXTS)
        if rng.random() < 0.1:
            text = near(rng, text)
        arguments.append(f"{flag}={text}" if rng.random() < 0.95 else text)
    return Case(tuple(argument.replace("\0", "\\0") for argument in arguments))


SHORT = (
    *("sockets=2", "numaNodesPerSocket=2", "socketsPerNumaNode=2", "coresPerNumaNode=4", "threadsPerCore=2"),
    *(
        "memoryPerNumaNode=64Gi",
        "sockets=0",
        "sockets=-1",
        "sockets=99999999",
        "coresPerNumaNode=99999999",
        "sockets=x",
    ),
    *(
        "sockets",
        "=",
        "threadsPerCore=0",
        "memoryPerNumaNode=-1",
        "cpuNumbering=odd",
        "devices=1",
        "coresPerUncoreCache=3",
    ),
    *("hugepagesPerNumaNode=2Mi=1Gi", "sockets=8,numaNodesPerSocket=8,coresPerNumaNode=16", "sockets=64"),
)


def shorts(rng: Random) -> Case:
    """Machines in short on the line."""
    parts = [rng.choice(SHORT) if rng.random() < 0.8 else rng.choice(TEXTS) for _ in range(rng.randint(1, 3))]
    short = ",".join(["coresPerNumaNode=2,memoryPerNumaNode=8Gi", *parts] if rng.random() < 0.8 else parts)
    return Case(("admit", str(PODS / "burstable.yaml"), "-m", short.replace("\0", ""), "-o", "json"))


@cache
def good_xml() -> list[bytes]:
    """Return hwloc's XML of some small machines."""
    found = []
    for name in ("gcp-vm-2c", "desktop-ryzen-1600", "vm-pcidomain32", "laptop-i7-1270p"):
        with tarfile.open(ROOT / "tests" / "sysfs" / f"{name}.tools.tar.xz") as tools:
            for member in tools:
                file = tools.extractfile(member)
                if member.name.endswith("lstopo.xml") and file is not None:
                    found.append(file.read())
    return found


ATTRIBUTES = (
    b"os_index",
    b"cpuset",
    b"complete_cpuset",
    b"local_memory",
    b"cache_size",
    b"type",
    b"size",
    b"count",
    b"pci_busid",
)


def hwloc(rng: Random) -> Case:
    """Hwloc's XML with changed attributes and elements."""
    text = rng.choice(good_xml())
    for _ in range(rng.randint(1, 4)):
        key = rng.choice(ATTRIBUTES)
        starts = [found.start() for found in re.finditer(b" " + key + b'="', text)]
        if starts and rng.random() < 0.7:
            start = rng.choice(starts) + len(key) + 3
            end = text.find(b'"', start)
            value = str(odd(rng)).encode("utf-8", "replace").replace(b"<", b"&lt;").replace(b'"', b"&quot;")
            text = text[:start] + value + text[end:]
        elif rng.random() < 0.5:
            lines = text.split(b"\n")
            place = rng.randrange(len(lines))
            lines[place:place] = [lines[rng.randrange(len(lines))]] * rng.choice((1, 2, 300))
            text = b"\n".join(lines)
        else:
            text = damaged(rng, text)
    output = rng.choice(OUTPUTS["discover"])
    return Case(("discover", "-m", "{here}/m.xml", "-o", output), files={"m.xml": text})


def archives(rng: Random) -> Case:
    """Captured machines in archives."""
    arguments = ("discover", "--sysfs-root", "{here}/m.tar", "-o", rng.choice(("json", "table", "name")))
    return Case(arguments, files={"m.tar": archive(rng)})


JUNK = (
    b"",
    b"\n",
    b"x\n",
    b"-1\n",
    b"0-\n",
    b"9" * 5000,
    b"0-99999999\n",
    b"\x00",
    b"\xff\xfe",
    b"4294967295\n",
    b"10 " * 5000,
    b"0,2-3:2/4\n",
)


def trees(rng: Random) -> Case:
    """Captured machines in folders, with files that are missing, odd, pipes or links in circles."""
    files, links, pipes = dict(TREE), dict(LINKS), []
    for _ in range(rng.randint(1, 5)):
        name = rng.choice(sorted(files))
        match rng.randrange(7):
            case 0:
                del files[name]
            case 1 | 2:
                files[name] = rng.choice(JUNK) if rng.random() < 0.5 else damaged(rng, files[name])
            case 3:
                text = rng.choice((*CONTROLS, *TEXTS)).encode("utf-8", "replace")
                files[name] = files[name].replace(b"Some CPU", text) if b"Some" in files[name] else text
            case 4:
                links[name] = rng.choice(
                    (name.rpartition("/")[2], "..", "../..", "/", "/etc/passwd", "missing", *files)
                )
                del files[name]
            case 5:
                pipes.append(name)
                del files[name]
            case _:
                links[rng.choice(sorted(links))] = rng.choice(("..", ".", "../../../../..", *files, *links))
    output = rng.choice(OUTPUTS["discover"])
    arguments = ("discover", "--sysfs-root", "{here}/t", "-o", output)
    return Case(
        arguments,
        files={f"t/{name}": data for name, data in files.items()},
        links={f"t/{name}": target for name, target in links.items()},
        pipes=tuple(f"t/{name}" for name in pipes),
    )


def targets(rng: Random) -> Case:
    """Files that are written, where something else stands."""
    flag, command = rng.choice(
        (
            ("--save", ("discover", "-m", "figure-1")),
            ("--capture", ("discover", "--sysfs-root", "{here}/t")),
            ("--save", ("discover", "--sysfs-root", "{here}/t")),
        )
    )
    target = rng.choice(
        ("m.tar", "m.yaml", "m.json", "folder", "pipe", "link", "loop", "missing/m.tar", "m.tar/x", ".", "", "n" * 300)
    )
    return Case(
        (*command, flag, f"{{here}}/w/{target}"),
        files={
            **{f"t/{name}": data for name, data in TREE.items()},
            "w/m.tar": b"old",
            "w/folder/x": b"x",
            "keep": b"keep",
        },
        links={"w/link": "../keep2", "w/loop": "loop", **{f"t/{name}": to for name, to in LINKS.items()}},
        pipes=("w/pipe",),
        kept=("keep", "w/folder/x", "w/pipe", "w/loop", "w/link"),
    )


def rules(rng: Random) -> Case:
    """Device rules."""
    text = (ROOT / "numalign" / "device-rules.json").read_bytes()
    text = written(rng, mutated(rng, loaded(text)[0])) if rng.random() < 0.7 else damaged(rng, text)
    arguments = ("discover", "--sysfs-root", "{here}/t", "--device-rules", "{here}/r.yaml")
    return Case(
        arguments,
        files={**{f"t/{name}": data for name, data in TREE.items()}, "r.yaml": text},
        links={f"t/{name}": target for name, target in LINKS.items()},
    )


def environments(rng: Random) -> Case:
    """Variables that say odd things."""
    names = (
        "COLUMNS",
        "LINES",
        "FORCE_COLOR",
        "TERM",
        "NUMALIGN_ADMIT_POLICY",
        "NUMALIGN_ADMIT_OUTPUT",
        "NUMALIGN_MACHINE",
        "LANG",
    )
    told = {rng.choice(names): str(near(rng, rng.choice(TEXTS))) for _ in range(rng.randint(1, 4))}
    told = {
        name: "".join(sign for sign in text if sign not in "\0" and not "\ud800" <= sign < "\ue000")[:9999]
        for name, text in told.items()
    }
    command = rng.choice(("admit", "explain", "compare"))
    return Case(
        (command, str(PODS / "announcement.yaml"), "-m", "figure-1", "-o", rng.choice(OUTPUTS[command])),
        environment=told,
    )


def _file(name: str) -> bytes:
    return (EXAMPLES / name).read_bytes()


def clusters(rng: Random) -> Case:
    """Cluster files and traces."""
    name, command = rng.choice(
        (
            ("cluster.yaml", ("schedule", str(PODS / "burstable.yaml"), "--cluster", "{here}/c")),
            ("cluster.yaml", ("capacity", str(PODS / "guaranteed-4cpu-1gpu.yaml"), "--cluster", "{here}/c")),
            (
                "trace.jsonl",
                ("simulate", "--cluster", str(EXAMPLES / "cluster.yaml"), "--trace", "{here}/c", "--jobs", "1"),
            ),
        )
    )
    good = _file(name)
    if name.endswith(".jsonl"):
        lines = [json.dumps(mutated(rng, json.loads(line))) for line in good.splitlines()[:20]]
        text = "\n".join(lines).encode("utf-8", "surrogatepass")
    else:
        text = written(rng, mutated(rng, loaded(good)[0]))
    text = damaged(rng, good) if rng.random() < 0.3 else text
    return Case((*command, "-o", rng.choice(("table", "json"))), files={"c": text})


@cache
def good_states() -> list[tuple[str, dict[str, bytes]]]:
    """Return the recorded folders of kubelets."""
    root = ROOT / "tests" / "kubelet-state"
    return [
        (
            folder.name,
            {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()},
        )
        for folder in sorted(root.iterdir())
        if (folder / "kubelet").is_dir() and (folder / "machine.yaml").is_file()
    ]


def states(rng: Random) -> Case:
    """A kubelet's folder: configuration and checkpoints."""
    _, files = rng.choice(good_states())
    changed = dict(files)
    for _ in range(rng.randint(1, 2)):
        name = rng.choice([one for one in sorted(files) if one.startswith("kubelet/")])
        try:
            data = loaded(files[name])
            changed[name] = written(rng, mutated(rng, data[0])) if rng.random() < 0.7 else damaged(rng, files[name])
        except yaml.YAMLError:
            changed[name] = damaged(rng, files[name])
    arguments = (
        "admit",
        str(PODS / "burstable.yaml"),
        "--node",
        "{here}/kubelet",
        "-m",
        "{here}/machine.yaml",
        "-o",
        "json",
    )
    return Case(arguments, files=changed)


CLASSES: dict[str, Callable[[Random], Case]] = {
    maker.__name__: maker
    for maker in (
        *(manifests, beside, texts, machines, configurations, scenarios, flags, shorts, hwloc, archives, trees),
        *(targets, rules, environments, clusters, claims, expressions, states),
        *(settings, kept_states, cluster_files, answers, requests),
    )
}
"""Name -> what makes a case of the class."""


def make(name: str, number: int) -> Case:
    """Make the case of a class with a number."""
    return CLASSES[name](Random(f"{name} {number}"))
