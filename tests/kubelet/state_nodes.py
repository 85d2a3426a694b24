"""The made-up nodes of `tests/kubelet-state`: their files, machine, configuration, pods and what happened on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from numalign.kubelet import admission
from numalign.kubelet.admission import Session, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.demand import read_demand
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.node import NodeState, start, start_containers
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.restore import StateFiles, restore, settle
from numalign.model.document import anything
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.sources.kubelet import configuration
from numalign.sources.machine.file import from_data
from numalign.sources.pods.beside import read_beside
from numalign.sources.text.yaml import read_one

STATE = Path(__file__).parent.parent / "kubelet-state"
NODES = ("two-socket-restricted", "four-numa-pod-scope", "devices-only", "idle-strict-reservation")


class StateNode(NamedTuple):
    """One node of the samples."""

    name: str
    machine: Machine
    config: KubeletConfig
    files: StateFiles
    pods: dict[str, Pod]
    steps: list[dict[str, Any]]

    @property
    def setup(self) -> Setup:
        return Setup(self.machine, self.config, "kubelet", V1_32)

    @property
    def active(self) -> dict[str, Pod]:
        """The pods that are there in the end, by UID."""
        here: dict[str, Pod] = {}
        for step in self.steps:
            pod = self.pods.get(step.get("pod", ""))
            if step["step"] == "admit" and step["admitted"] and pod:
                here[pod.uid] = pod
            if step["step"] == "delete" and pod:
                here.pop(pod.uid, None)
        return here


def machine_of(path: Path) -> Machine:
    """Read a sample's machine; a device without `numaNodes` has no NUMA information there."""
    data = read_one(str(path), anything)
    for devices in data.get("devices", {}).values():
        for device in devices:
            device.setdefault("numaNodes", None)
    machine, _ = from_data(data, path.parent.name, str)
    return machine


def state_node(name: str) -> StateNode:
    folder = STATE / name
    devices = folder / "kubelet/device-plugins/kubelet_internal_checkpoint"
    pods = folder / "pods.yaml"
    return StateNode(
        name,
        machine_of(folder / "machine.yaml"),
        configuration.load(folder / "kubelet/config.yaml").config,
        StateFiles(
            (folder / "kubelet/cpu_manager_state").read_text(),
            (folder / "kubelet/memory_manager_state").read_text(),
            devices.read_text() if devices.exists() else None,
        ),
        {pod.name: pod for pod in read_beside(str(pods)).pods} if pods.exists() else {},
        json.loads((folder / "admissions.json").read_text())["steps"],
    )


def lived(sample: StateNode) -> tuple[Session, list[admission.Outcome]]:
    """Live through what happened on the node, with the managers alone."""
    session = open_session(sample.setup, fit_check=False)
    outcomes = []
    left: NodeState | None = None
    for step in sample.steps:
        pod = sample.pods[step["pod"] if "pod" in step else step["container"].partition("/")[0]]
        if step["step"] == "admit":
            outcome = admission.admit(session, pod)
            outcomes.append(outcome)
            session, left = outcome.then, outcome.after
        elif step["step"] == "delete":
            session = admission.end(session, pod.uid)
        elif step["container"].partition("/")[2] == pod.containers[-1].name:
            session = session._replace(state=start_containers(session.node, session.state, pod.uid).state)
    # What the last refused pod left is still there when the files are read.
    if sample.steps and not sample.steps[-1].get("admitted", True) and left is not None:
        session = session._replace(state=left)
    return session, outcomes


def restored(sample: StateNode) -> Session:
    """Start a kubelet with the node's files."""
    node, _ = start(sample.setup)
    pods = {uid: read_demand(pod) for uid, pod in sample.active.items()}
    return Session(node, settle(restore(node, sample.files), pods), None, ActivePods(sample.active.values()))
