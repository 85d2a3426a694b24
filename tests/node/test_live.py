"""Pods that running kubelets admitted or rejected, foretold from the node; and which changes let them come up again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import in_process
from tests.node.live import LIVE, lay_node, steps

RECORDINGS = sorted(path.parent for path in LIVE.glob("*/decisions.jsonl.xz"))
CHANCE = {
    ("rt-4n-socket-pod", "c2"): "one GPU with a hint of two NUMA nodes: drawn by chance",
    ("rt-4n-besteffort-distribute", "a6"): "the plugin prefers the devices that sort last, which nobody told",
}
"""Pods whose devices cannot be foretold, and why."""
CUT_OFF = {
    ("vm-2n-snn-full", "after"): "the recording ended before the kubelet had decided",
}
"""Pods of which nothing can be judged."""
JUST_RESTARTED = {("rt-2n-snn-full", "after")}
"""Pods that came while a restarted kubelet rejected running ones: only admitted or not can be judged."""


def judged() -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for recording in RECORDINGS:
        for step in steps(recording):
            if step["kind"] == "pod" and (recording.name, step["pod"]["metadata"]["name"]) not in CUT_OFF:
                yield recording, step


def test_all_pods_are_there() -> None:
    assert len(list(judged())) == 88


@pytest.mark.parametrize(
    ("recording", "step"),
    [pytest.param(*one, id=f"{one[0].name}-{one[1]['pod']['metadata']['name']}") for one in judged()],
)
def test_a_pod_is_foretold_from_the_node(recording: Path, step: Mapping[str, Any], tmp_path: Path) -> None:
    """Verdict, the kubelet's words, CPU ids, memory blocks, and how many devices of which NUMA nodes."""
    lay_node(tmp_path / "node", step["before"], recording)
    machine = recording / "machine.yaml"
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(step["pod"]), encoding="utf-8")

    done = in_process("admit", manifest, "--static", "--node", tmp_path / "node", "--machine", machine, "-o", "json")

    (pod,) = done.json["pods"]
    status = step["status"]
    assert pod["admit"] == (status["phase"] != "Failed"), pod["message"]
    place = recording.name, step["pod"]["metadata"]["name"]
    if place in JUST_RESTARTED:
        return
    if not pod["admit"]:
        message = status["message"].removeprefix("Pod was rejected: ")
        assert (pod["reason"], pod["message"]) == (status["reason"], message)
        return
    assert holdings(pod) == held(step["after"], step["uid"])
    if place not in CHANCE:
        assert devices(pod, machine) == devices_held(step["after"], step["uid"], machine)


def holdings(pod: Mapping[str, Any]) -> object:
    cpus = {one["name"]: one["cpus"] for one in pod["containers"] if one["cpus"]}
    memory = {
        one["name"]: sorted((row["type"], row["numaNodes"], row["bytes"]) for row in one["memory"])
        for one in pod["containers"]
        if one["memory"]
    }
    return cpus, memory


def held(files: Mapping[str, Any], uid: str) -> object:
    cpus, memory = (
        ((files.get(f"{name}_manager_state") or {}).get("entries") or {}).get(uid, {}) for name in ("cpu", "memory")
    )
    blocks = {
        name: sorted((row["type"], row["numaAffinity"], row["size"]) for row in rows) for name, rows in memory.items()
    }
    return cpus, blocks


def places(machine: Path) -> Mapping[str, tuple[int, ...]]:
    described = yaml.safe_load(machine.read_text(encoding="utf-8"))["devices"]
    return {one["id"]: tuple(one.get("numaNodes") or ()) for row in described.values() for one in row}


def devices(pod: Mapping[str, Any], machine: Path) -> object:
    where = places(machine)
    return {
        (one["name"], resource): sorted(where[name] for name in names["ids"])
        for one in pod["containers"]
        for resource, names in one["devices"].items()
    }


def devices_held(files: Mapping[str, Any], uid: str, machine: Path) -> object:
    where = places(machine)
    rows = files["kubelet_internal_checkpoint"]["Data"]["PodDeviceEntries"] or ()
    return {
        (row["ContainerName"], row["ResourceName"]): sorted(
            where[name] for name in {name for names in row["DeviceIDs"].values() for name in names}
        )
        for row in rows
        if row["PodUID"] == uid
    }


CAME_AGAIN = {
    "rt-2n-snn-full": "sidecar cpu8 frac initapp nodev best huge odd3 anydev anydev2 gpu2nic mixed two bigmem burst",
    "rt-4n-socket-pod": "c8 c2 c3 c4 c5 c6 c7",
}
"""Recording -> the order in which its pods came again when its kubelet restarted, by the kubelet's log."""


def before_the_restart(recording: Path, folder: Path) -> list[dict[str, Any]]:
    """Lay the node out as it was, and list its static pods in that order, as the kubelet's `/pods` has them."""
    known: dict[str, dict[str, Any]] = {}
    for step in steps(recording):
        if step["kind"] == "restart":
            break
        if step["kind"] == "delete":
            del known[step["name"]]
        elif step["kind"] == "pod":
            name, last = step["pod"]["metadata"]["name"], step
            metadata = {
                "name": f"{name}-node",
                "uid": step["uid"],
                "annotations": {"kubernetes.io/config.source": "file"},
            }
            known[name] = {"metadata": metadata, "spec": step["pod"]["spec"], "status": step["status"]}
    lay_node(folder, last["after"], recording)
    return [known[name] for name in CAME_AGAIN[recording.name].split()]


@pytest.mark.parametrize("name", CAME_AGAIN)
def test_running_pods_that_a_restart_rejects_are_told_before_it(name: str, tmp_path: Path) -> None:
    """Each in the kubelet's words, and no other; what to move first is tried."""
    recording = LIVE / name
    pods = before_the_restart(recording, tmp_path / "node")
    (tmp_path / "pods.json").write_text(json.dumps(pods), encoding="utf-8")
    ran = {pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] != "Failed"}
    after = json.loads((recording / "end.pods.json").read_text(encoding="utf-8"))
    recorded = {
        pod["metadata"]["name"]: pod["status"]["message"].removeprefix("Pod was rejected: ")
        for pod in after
        if pod["metadata"]["name"] in ran and pod["status"]["phase"] == "Failed"
    }
    asked = ("--node", tmp_path / "node", "--machine", recording / "machine.yaml", "--beside", tmp_path / "pods.json")

    for command in (("status",), ("config", "check")):
        done = in_process(*command, *asked, "-o", "json")
        told = done.json["restart"] if command == ("status",) else done.json["node"]["restart"]
        rejected = {one["name"].removeprefix("default/"): one["message"] for one in told["rejected"]}
        assert rejected == recorded
        assert [one["place"] for one in told["rejected"]] == [
            place for place, pod in enumerate(pods, start=1) if pod["metadata"]["name"] in recorded
        ]
        assert told["order"] == "random"
        assert {one.removeprefix("default/") for one in told["moveFirst"]} >= set(recorded)


STARTUP = LIVE / "rt-4n-startup"
CHANGES = [json.loads(line) for line in (STARTUP / "startup.jsonl").read_text(encoding="utf-8").splitlines()]


class Edits:
    """What the recorded changes call: each changes a file of the node, or its machine."""

    def __init__(self, root: Path, machine: Path) -> None:
        self.root, self.machine = root, machine

    def edit(self, **settings: object) -> None:
        path = self.root / "config.yaml"
        known = {**yaml.safe_load(path.read_text(encoding="utf-8")), **settings}
        path.write_text(yaml.safe_dump({key: value for key, value in known.items() if value is not None}))

    def text(self, name: str, content: str) -> None:
        (self.root / name).write_text(content)

    def rep(self, name: str, old: str, new: str) -> None:
        self.text(name, (self.root / name).read_text().replace(old, new))

    def jedit(self, name: str, change: Any) -> None:
        data = json.loads((self.root / name).read_text())
        change(data)
        self.text(name, json.dumps(data, separators=(",", ":")))

    def mem(self, number: int, more: int) -> None:
        data = yaml.safe_load(self.machine.read_text(encoding="utf-8"))
        (node,) = [one for one in data["numaNodes"] if one["id"] == number]
        node["memory"] = (int(str(node["memory"]).removesuffix("Mi")) << 20) + more * 1024
        self.machine.write_text(yaml.safe_dump(data), encoding="utf-8")


@pytest.mark.parametrize("case", CHANGES, ids=[one["case"] for one in CHANGES])
def test_it_is_foretold_whether_a_kubelet_comes_up(case: Mapping[str, Any], tmp_path: Path) -> None:
    after = [step for step in steps(STARTUP) if step["kind"] == "pod"][-1]["after"]
    root = lay_node(tmp_path / "node", after, STARTUP)
    machine = tmp_path / "machine.yaml"
    machine.write_text((STARTUP / "machine.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    edits = Edits(root, machine)
    calls = {name: getattr(edits, name) for name in ("edit", "text", "rep", "jedit", "mem")}
    eval(case["change"], calls)  # the recording's own words
    if case["case"] == "cgroup":
        (tmp_path / "node/sys/fs/cgroup/cpuset").mkdir(parents=True)

    done = in_process("config", "check", "--node", tmp_path / "node", "--machine", machine, "-o", "json")

    # An upstream kubelet does not start with an unknown gate; the recorded one, of a distribution, only warned of it.
    up = case["kubelet_up"] and case["case"] != "gate-unknown"
    assert (done.status == 0) == up, done.out
