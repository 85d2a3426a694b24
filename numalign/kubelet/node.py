"""A node: a started kubelet, what its pods hold, and the admission of the next pod.

docs/rules/topology-manager.md 3, 4, 10. `admit` takes a state and a pod and returns the next state and a result, also
for a refused pod: what a refusal leaves behind is part of the truth until it is collected. States never change, so
"what if" costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.device.state import DeviceManager
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.memory.state import MemoryManager
from numalign.kubelet.reading import PodReader, reader
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import check_start
from numalign.kubelet.start.reservation import Reservation
from numalign.kubelet.topology.manager import (
    NO_HINT,
    PROVIDERS,
    Admission,
    AdmitResult,
    Decision,
    NodeState,
    ProviderStates,
    Stage,
    TopologyManager,
    decide,
)
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info
from numalign.model.machine import LAST_NUMA_ID, Machine
from numalign.model.pod import Pod
from numalign.values import NamedTuple

__all__ = [
    "PROVIDERS",
    "AdmitResult",
    "Decision",
    "Node",
    "NodeState",
    "Stage",
    "admit",
    "collect",
    "decide",
    "empty_state",
    "remove",
    "start",
    "start_containers",
]


class Node(NamedTuple):
    """What does not change while a kubelet runs: the machine, the settings in force and the managers."""

    machine: Machine
    config: KubeletConfig
    kubelet: Kubelet
    topology: TopologyManager
    reader: PodReader
    """How this kubelet, with its feature gates, reads a pod."""
    reservation: Reservation
    """What the node keeps back."""

    @property
    def policy(self) -> str:
        """The Topology Manager's policy."""
        return self.topology.policy

    @property
    def scope(self) -> str:
        """The Topology Manager's scope."""
        return self.topology.scope

    @property
    def numa(self) -> NUMAInfo:
        """The NUMA nodes that hints are merged over."""
        return self.topology.numa

    @property
    def device(self) -> DeviceManager:
        """The Device Manager."""
        manager: DeviceManager = self.topology.providers[0][1]
        return manager

    @property
    def cpu(self) -> CPUManager:
        """The CPU Manager."""
        manager: CPUManager = self.topology.providers[1][1]
        return manager

    @property
    def memory(self) -> MemoryManager:
        """The Memory Manager."""
        manager: MemoryManager = self.topology.providers[2][1]
        return manager

    def read_pod(self, pod: Pod) -> tuple[Pod, PodDemand]:
        """Return a pod as this kubelet sees it, and what it asks of the managers."""
        return self.reader.read(pod)

    def gate(self, name: str) -> bool:
        """Tell whether a feature gate is on."""
        return self.kubelet.gates_with(self.config.feature_gates)(name)


def start(setup: Setup) -> tuple[Node, NodeState]:
    """Start a kubelet on an empty node.

    Raises:
        StartError: the kubelet would refuse to start (docs/rules/kubelet-files.md 10).
    """
    machine, kubelet = setup.machine, setup.kubelet
    started = check_start(setup)
    config = started.config
    distances = {node.id: node.distances or () for node in machine.numa_nodes}
    topology = TopologyManager(
        policy=config.topology_manager_policy,
        scope=config.topology_manager_scope,
        scopes=kubelet.scopes,
        numa=numa_info(
            (node.id for node in machine.numa_nodes if 0 <= node.id <= LAST_NUMA_ID),
            distances if started.options.prefer_closest_numa_nodes else None,
        ),
        providers=((kubelet.device, started.device), (kubelet.cpu, started.cpu), (kubelet.memory, started.memory)),
        merge=kubelet.merging.merge,
        refusal=kubelet.refusal,
    )
    node = Node(
        machine=machine,
        config=config,
        kubelet=kubelet,
        topology=topology,
        reader=reader(kubelet.reading, started.gates),
        reservation=started.reservation,
    )
    return node, empty_state(node)


def empty_state(node: Node) -> NodeState:
    """Return the state of a node that no pod has come to yet."""
    of = node.kubelet
    return NodeState((of.device.empty(node.device), of.cpu.empty(node.cpu), of.memory.empty(node.memory)))


def admit(node: Node, state: NodeState, pod: PodDemand) -> Admission:
    """Run the kubelet's resource admission for one pod (4). Policy `none` knows no scope `pod`."""
    topology = node.topology
    scope = topology.scopes["container" if topology.policy == "none" else topology.scope]
    return scope(topology, collect(node, state), pod)


def collect(node: Node, state: NodeState) -> NodeState:
    """Free what refused pods left, as the managers do before they compute hints or allocate again (10.3)."""
    if not state.leftovers:
        return state
    states = state.states
    for uid in state.leftovers:
        if uid not in state.pods:
            states = _release(node, states, uid)
    return NodeState(states, state.pods, state.hints)


def remove(node: Node, state: NodeState, uid: str) -> NodeState:
    """End a pod: it stops being active and everything it held is free. Unknown or refused pods change nothing."""
    if uid not in state.pods:
        return state
    pods = dict(state.pods)
    del pods[uid]
    hints = {other: hint for other, hint in state.hints.items() if other != uid}
    return NodeState(_release(node, state.states, uid), pods, hints, state.leftovers)


def _release(node: Node, states: ProviderStates, uid: str) -> ProviderStates:
    """Free what a pod holds, and what its containers may take over: here, unlike on a node, its UID may come again."""
    device, cpu, memory = [
        provider.release(manager, held, uid)
        for (provider, manager), held in zip(node.topology.providers, states, strict=True)
    ]
    if uid == device.reusable_of:
        device = device._replace(reusable_of="", reusable={})
    if uid == cpu.reuse_uid:
        cpu = cpu._replace(reuse_uid="", reuse=0)
    if uid == memory.reusable_pod:
        memory = memory._replace(reusable_pod="", reusable={})
    return device, cpu, memory


class StartedPod(NamedTuple):
    """What came of starting a pod's containers."""

    state: NodeState
    errors: Mapping[str, str] = {}
    """Container -> why it does not start: it did not get its devices."""


def start_containers(node: Node, state: NodeState, uid: str) -> StartedPod:
    """Start all containers of an admitted pod in order, each plain init container having ended before the next.

    After an init container that does not start nothing more is started; an app container stops none of the others.
    """
    pod = state.pods.get(uid)
    if pod is None:
        return StartedPod(state)
    hint = state.hints.get(uid, NO_HINT)
    errors = {}
    for container in pod.containers:
        states: list[Any] = list(state.states)
        try:
            for place, (provider, manager) in enumerate(node.topology.providers):
                states[place] = provider.start_container(manager, states[place], pod, container, hint)
        except AllocationError as error:
            errors[container.name] = error.message
            if container.kind != "app":
                break
            continue
        state = state._replace(states=tuple(states))
    return StartedPod(state, errors)
