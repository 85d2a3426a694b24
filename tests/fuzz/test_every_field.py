"""Control characters in every text of every source, to every output: none reaches a terminal or a build server."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tests import documents
from tests.cli.running import PODS
from tests.fuzz.archives import LINKS, TREE
from tests.fuzz.case import Case
from tests.fuzz.classes import EXAMPLES, KUBELET, OUTPUTS, SCENARIO
from tests.fuzz.judge import run

BAD = "::error::\x1b]0;x\x07\u202e\x9b31m\n::error::\u2028##[error]\x7f\x08\r"
"""A title for the terminal, text turned round, colours, line ends, commands for build servers."""

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u",
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "labels": {"app": "web"},
        "annotations": {"numalign/ignore": "x", "numalign/policy": "restricted"},
    },
    "spec": {
        "nodeName": "node",
        "nodeSelector": {"zone": "a"},
        "priorityClassName": "high",
        "schedulerName": "default",
        "restartPolicy": "Always",
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        "initContainers": [{"name": "first", "image": "x", "restartPolicy": "Always"}],
        "containers": [
            {
                "name": "app",
                "image": "x",
                "ports": [{"name": "http", "protocol": "TCP", "containerPort": 80}],
                "resources": {
                    "limits": {"cpu": "2", "memory": "1Gi", "gpu-vendor.com/gpu": "1"},
                    "requests": {"cpu": "2"},
                },
            }
        ],
    },
}
MACHINE: dict[str, Any] = {
    "apiVersion": "numalign/v1",
    "kind": "Machine",
    "name": "m",
    "numaNodes": [{"id": 0, "cpus": "0-3", "memory": "8Gi", "hugepages": {"2Mi": "2Gi"}}],
    "sockets": ["0-3"],
    "cores": ["0-1", "2-3"],
    "devices": {"example.com/x": [{"id": "a", "numaNode": 0}, {"id": "b", "numaNode": 0}]},
    "preferredAllocation": {"example.com/x": [["a"]]},
    "node": {"name": "n", "labels": {"zone": "a"}, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
    "kubelet": {"topologyManagerPolicy": "restricted", "kubeReserved": {"cpu": "1"}},
    "hardware": {"model": "Some CPU"},
}


def spoilt(good: Any) -> Iterator[tuple[str, Any]]:
    """Yield data with one text (or one key) spoilt, and the place of it.

    It is always the same data, made good again before the next is given, so write it down first: copies would take
    more time than the tests themselves.
    """

    def walk(holder: Any, path: str) -> Iterator[tuple[str, Any]]:
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            here = f"{path}/{key}"
            value = holder[key]
            if isinstance(value, str):
                # What is refused at once tells less than what goes on: every second text keeps its beginning.
                holder[key] = (value if next(whole) else "") + BAD
                yield here, good
                holder[key] = value
            elif isinstance(value, dict | list):
                yield from walk(value, here)
            if isinstance(holder, dict):
                holder[f"{key}{BAD}"] = holder.pop(key)
                yield f"{here} (key)", good
                holder[key] = holder.pop(f"{key}{BAD}")

    good = copy.deepcopy(good)
    whole = cycle((True, False))
    yield from walk(good, "")


def text(data: Any) -> bytes:
    return json.dumps(data).encode()


def pods(command: str, output: str) -> Iterator[Case]:
    on = () if command == "lint" else ("-m", "figure-1")
    for _, data in spoilt(POD):
        yield Case((command, "-", *on, "-o", output), text(data))


def there(command: str, output: str) -> Iterator[Case]:
    for _, data in spoilt({"kind": "List", "items": [POD]}):
        yield Case((command, str(PODS / "burstable.yaml"), "--beside", "-", "-m", "figure-1", "-o", output), text(data))


def machines(command: str, output: str) -> Iterator[Case]:
    pod = () if command == "discover" else (str(PODS / "burstable.yaml"),)
    for _, data in spoilt(MACHINE):
        yield Case((command, *pod, "-m", "-", "-o", output), text(data))


def configurations(command: str, output: str) -> Iterator[Case]:
    for _, data in spoilt(KUBELET):
        flags = ("--kubelet-config", "-", "-m", "figure-1", "-o", output)
        yield Case((command, str(PODS / "burstable.yaml"), *flags), text(data))


def names_of_files(command: str, output: str) -> Iterator[Case]:
    name = BAD.replace("/", "")
    on = () if command == "lint" else ("-m", "figure-1")
    for content in (text({**POD, "kind": "Pod"}), b"kind: [", b"kind: Nothing\n", b"\xff"):
        yield Case((command, f"{{here}}/{name}.yaml", *on, "-o", output), files={f"{name}.yaml": content})
    if command == "admit":
        yield Case(
            ("admit", str(PODS / "burstable.yaml"), "-m", f"{{here}}/{name}", "-o", output), files={name: text(MACHINE)}
        )


TASKS: list[tuple[str, Callable[[str, str], Iterator[Case]]]] = [
    *(("admit", maker) for maker in (pods, there, machines, configurations, names_of_files)),
    *(("explain", maker) for maker in (pods, machines)),
    *(("compare", maker) for maker in (pods, machines)),
    *(("lint", maker) for maker in (pods, names_of_files)),
    ("discover", machines),
]


@pytest.mark.parametrize(
    ("command", "maker", "output"),
    [(command, maker, output) for command, maker in TASKS for output in OUTPUTS[command]],
    ids=[f"{maker.__name__} to {command} -o {output}" for command, maker in TASKS for output in OUTPUTS[command]],
)
def test_no_text_steers_what_shows_it(
    command: str, maker: Callable[[str, str], Iterator[Case]], output: str, tmp_path: Path
) -> None:
    wrong = {}
    for number, case in enumerate(maker(command, output)):
        verdict = run(case, tmp_path / "case")
        if verdict.wrong:
            wrong[number] = (verdict.wrong, case.stdin, verdict.err[:300])
    assert wrong == {}


OTHERS: list[tuple[str, Callable[[], Iterator[Case]]]] = []


def other(maker: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
    OTHERS.append((maker.__name__.replace("_", " "), maker))
    return maker


@other
def config_check() -> Iterator[Case]:
    for output in ("table", "json", "yaml"):
        for _, data in spoilt(KUBELET):
            yield Case(("config", "check", "-", "-m", "figure-1", "-o", output), text(data))
        for _, data in spoilt(MACHINE):
            files = {"k": text(KUBELET)}
            yield Case(("config", "check", "{here}/k", "-m", "-", "-o", output), text(data), files=files)


@other
def config_suggest() -> Iterator[Case]:
    for output in ("yaml", "json"):
        for _, data in spoilt(MACHINE):
            yield Case(("config", "suggest", "-m", "-", "-o", output), text(data))


@other
def replay() -> Iterator[Case]:
    for _, data in spoilt(SCENARIO):
        yield Case(("replay", "-"), text(data))


@other
def flags() -> Iterator[Case]:
    for flag in (
        *(
            "--reserved-memory=0:{}=1Gi",
            "--reserved-memory={}",
            "--policy={}",
            "--reserved-cpus={}",
            "--kube-reserved={}=1",
        ),
        *(
            "--eviction-hard={}<1",
            "--feature-gates={}=true",
            "--cpu-manager-policy-options={}=true",
            "--kubelet-version={}",
        ),
        *(
            "--topology-manager-policy-options={}=1",
            "--scope={}",
            "--machine={}",
            "--beside={}",
            "--{}",
            "{}",
            "--only={}",
        ),
    ):
        arguments = ("admit", str(PODS / "burstable.yaml"), "-m", "figure-1", flag.replace("{}", BAD))
        yield from (Case((*arguments, "-o", output)) for output in ("table", "json"))


@other
def captured_trees() -> Iterator[Case]:
    for output in OUTPUTS["discover"]:
        for name, content in TREE.items():
            if any(other in name for other in ("cpu1/", "cpu2/", "cpu3/", "node1/")):
                continue  # as those of the first
            files = {f"t/{one}": data for one, data in TREE.items()}
            files[f"t/{name}"] = content.replace(b"Some CPU", BAD.encode()) if b"Some" in content else BAD.encode()
            links = {f"t/{one}": target for one, target in LINKS.items()}
            yield Case(("discover", "--sysfs-root", "{here}/t", "-o", output), files=files, links=links)


@other
def machines_of_hwloc() -> Iterator[Case]:
    bad = BAD.replace("\x1b", "").replace("\x07", "").replace("\x08", "").replace('"', "")
    xml = (
        '<topology version="2.0"><object type="Machine" cpuset="0x1"><info name="CPUModel" value="{}"/>'
        '<object type="PU" os_index="0" cpuset="0x1"/><object type="NUMANode" os_index="0" cpuset="0x1"/>'
        '<object type="PCIDev" pci_busid="0000:00:01.0" pci_type="0302 [10de:2330]"><object type="OSDev" name="{}"/>'
        "</object></object></topology>"
    )
    for output in OUTPUTS["discover"]:
        yield Case(("discover", "-m", "{here}/m.xml", "-o", output), files={"m.xml": xml.replace("{}", bad).encode()})


@other
def device_rules() -> Iterator[Case]:
    rules = {"rules": [{"resource": "example.com/x", "class": "03", "vendor": "10de"}]}
    files = {f"t/{one}": data for one, data in TREE.items()}
    links = {f"t/{one}": target for one, target in LINKS.items()}
    for _, data in spoilt(rules):
        arguments = ("discover", "--sysfs-root", "{here}/t", "--device-rules", "{here}/r")
        yield Case(arguments, files={**files, "r": text(data)}, links=links)


@other
def claims_and_slices() -> Iterator[Case]:
    slices = documents.each((EXAMPLES / "dra" / "cluster.yaml").read_text())
    gpu = documents.each((EXAMPLES / "dra" / "gpu.yaml").read_text())
    for output in ("table", "json", "name"):
        for _, data in islice(spoilt(gpu), 0, None, 1 if output == "table" else 3):
            joined = b"\n---\n".join(map(text, data))
            yield Case(("dra", "check", "-", "--slices", str(EXAMPLES / "dra" / "cluster.yaml"), "-o", output), joined)
        for _, data in islice(spoilt(slices), 0, None, 25):
            joined = b"\n---\n".join(map(text, data))
            yield Case(("dra", "check", str(EXAMPLES / "dra" / "gpu.yaml"), "--slices", "-", "-o", output), joined)


@other
def cluster_files() -> Iterator[Case]:
    cluster = documents.one((EXAMPLES / "cluster.yaml").read_text())
    for command in ("schedule", "capacity"):
        for output in ("table", "json", "csv"):
            for _, data in spoilt(cluster):
                yield Case((command, str(PODS / "burstable.yaml"), "--cluster", "-", "-o", output), text(data))


@pytest.mark.parametrize("maker", [case[1] for case in OTHERS], ids=[case[0] for case in OTHERS])
def test_no_text_of_other_sources_steers_what_shows_it(maker: Callable[[], Iterator[Case]], tmp_path: Path) -> None:
    wrong = {}
    for number, case in enumerate(maker()):
        verdict = run(case, tmp_path / "case")
        if verdict.wrong:
            wrong[number] = (verdict.wrong, case.arguments, case.stdin[:2000], verdict.err[:300])
    assert wrong == {}
