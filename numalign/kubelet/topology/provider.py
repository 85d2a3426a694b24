"""What the Topology Manager knows of a hint provider: one interface, which three managers implement.

A provider is a record of functions, so that a kubelet that does one thing differently is the same record with that
one function replaced (`releases`). Its two types are what stays the same while the kubelet runs (the manager) and
what pods hold (the state). States do not change; functions return the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from numalign.kubelet.config import KubeletConfig, Level
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.topology.hints import ProviderAnswer, TopologyHint
from numalign.model.cpuset import CPUSet
from numalign.model.machine import Machine
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.memory.reserved import NodeAmount

Manager = TypeVar("Manager")
State = TypeVar("State")


class StartInput(NamedTuple):
    """What a provider is started from."""

    machine: Machine
    config: KubeletConfig
    gates: Callable[[str], bool]
    """Tells whether a feature gate is on."""
    levels: Mapping[str, Level]
    """Policy option -> its level, `Alpha`, `Beta` or `Stable`, of the options that exist."""
    reserved_cpus: CPUSet
    """The CPUs of `reservedSystemCPUs`; 0: not given."""
    reserved_memory: tuple[NodeAmount, ...]
    """The setting `reservedMemory`, read."""
    reservation: Mapping[str, Quantity]
    """What the node keeps for the system, resource by resource."""
    waive_cpu_reservation: bool
    """Let no CPU be reserved, as on the ideal node."""


ProviderName = Literal["device", "cpu", "memory"]


class HintProvider(NamedTuple, Generic[Manager, State]):
    """A manager that the Topology Manager asks for hints and tells to allocate (docs/rules/topology-manager.md 4)."""

    name: ProviderName
    start: Callable[[StartInput], Manager]
    """Raises StartError where the kubelet would not start."""
    empty: Callable[[Manager], State]
    """The state of a first start."""
    container_hints: Callable[[Manager, State, PodDemand, ContainerDemand], ProviderAnswer]
    """What would do for one container. May raise KubeletPanicError and KubeletHangError."""
    pod_hints: Callable[[Manager, State, PodDemand], ProviderAnswer]
    """What would do for the whole pod, for scope `pod`."""
    sets_tried: Callable[[Manager, State, PodDemand, ContainerDemand | None], int]
    """How many sets of NUMA nodes it goes through for the hints of a container, or (None) of the whole pod."""
    allocate: Callable[[Manager, State, PodDemand, ContainerDemand, TopologyHint], State]
    """Give a container what it asks for, under the hint that is stored for it. May raise AllocationError."""
    release: Callable[[Manager, State, str], State]
    """Forget a pod, by its UID: everything it held is free."""
    allocate_pod: Callable[[Manager, State, PodDemand, TopologyHint], State]
    """Give a pod with pod-level resources what it asks for as a whole. May raise AllocationError."""
    start_container: Callable[[Manager, State, PodDemand, ContainerDemand, TopologyHint], State]
    """Go on when a container of an admitted pod starts, after the init containers before it. May raise AllocationError:
    then it does not start."""
