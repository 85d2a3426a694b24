"""Whether the kubelet would start: every check of a configuration on a machine, in the kubelet's own order.

Stands for docs/rules/kubelet-files.md section 10. The first failing check raises `StartError` with the kubelet's text;
row 1 (decoding) belongs to `sources.kubelet.configuration`, rows 10 and 11 (state files) to whoever loads a node's
state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.cpu.manager import CPUManager, check_reserved_online
from numalign.kubelet.cpu.options import Gates, check_gate, format_map
from numalign.kubelet.device.state import DeviceManager
from numalign.kubelet.memory.state import MemoryManager
from numalign.kubelet.releases.release import Kubelet, version_text
from numalign.kubelet.releases.table import first_with_setting
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.reservation import Reservation, check_capacity, reserve
from numalign.kubelet.topology import options as topology
from numalign.kubelet.topology.provider import StartInput
from numalign.model import cpuset
from numalign.model.cpuset import CPUSetError
from numalign.model.gotext import quote
from numalign.model.machine import LAST_NUMA_ID, Machine
from numalign.model.quantity import QuantityError
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.memory.reserved import NodeAmount

MERGE_EVICTION = "mergeDefaultEvictionSettings"
"""A setting that a kubelet which lacks it reads over."""

_CADVISOR = """
application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader
event-storage-age-limit event-storage-event-limit global-housekeeping-interval housekeeping-interval
log-cadvisor-usage machine-id-file storage-driver-buffer-duration storage-driver-db storage-driver-host
storage-driver-password storage-driver-secure storage-driver-table storage-driver-user
"""
CADVISOR_FLAGS = frozenset(_CADVISOR.split())
"""Flags of cAdvisor that kubelets before 1.37 pass on (docs/rules/kubelet-1.37.md 3.6)."""


class Started(NamedTuple):
    """What a successful start yields: the managers and the figures they were made from."""

    config: KubeletConfig
    """The settings as this release knows them."""
    gates: Gates
    options: topology.TopologyOptions
    device: DeviceManager
    cpu: CPUManager
    memory: MemoryManager
    reservation: Reservation


def check_start(setup: Setup) -> Started:
    """Start the managers, or refuse as the kubelet would.

    On the ideal base the check that some CPU is reserved, which the kubelet makes for the static CPU policy, is waived.

    Raises:
        StartError: the kubelet would not start, or would crash at the first merge (topology-manager.md 2.3).
    """
    machine, config, base, kubelet = setup
    _check_gates(config, kubelet)
    _check_settings(config, kubelet)
    if MERGE_EVICTION not in kubelet.settings:
        config = config._replace(merge_default_eviction_settings=False)
    gates = kubelet.gates_with(config.feature_gates)
    refuses_cgroup_v1 = kubelet.fail_cgroup_v1 if config.fail_cgroup_v1 is None else config.fail_cgroup_v1
    wrong = (CGROUP_V1,) if machine.cgroup_v1 and refuses_cgroup_v1 else ()
    reserved_cpus, reserved_memory = validate(config, kubelet.policies, also_wrong=wrong)  # row 2
    check_reserved_online(config.reserved_system_cpus, reserved_cpus, machine)  # row 3
    reservation = reserve(config, machine, reserved_cpus)  # rows 4, 5
    _check_manager_gate(config, kubelet)
    _check_option_gates(config, gates)  # row 6
    options = topology.start(  # row 7
        config,
        machine,
        gates=gates,
        policies=kubelet.policies,
        levels=kubelet.levels("topology"),
        refusal=kubelet.option_not_enabled,
    )
    given = StartInput(
        machine=machine,
        config=config,
        gates=gates,
        levels=kubelet.levels("cpu"),
        reserved_cpus=reserved_cpus,
        reserved_memory=reserved_memory,
        reservation={resource: amount.quantity for resource, amount in reservation.total.items()},
        waive_cpu_reservation=base == "ideal",
    )
    cpu = kubelet.cpu.start(given)  # row 8
    memory = kubelet.memory.start(given)  # row 9
    check_capacity(reservation)  # row 12
    _check_numa_ids(config, machine)
    device = kubelet.device.start(given)
    return Started(
        config=config, gates=gates, options=options, device=device, cpu=cpu, memory=memory, reservation=reservation
    )


def _check_gates(config: KubeletConfig, kubelet: Kubelet) -> None:
    """Refuse feature gates that the kubelet does not survive; few configurations set any."""
    if config.feature_gates:
        from numalign.kubelet.start.feature_gates import check_feature_gates

        check_feature_gates(kubelet, config.feature_gates)


def _check_settings(config: KubeletConfig, kubelet: Kubelet) -> None:
    """Refuse settings that the release does not have: numalign's own text, since it would silently ignore them."""
    used = (
        ("topologyManagerScope", config.topology_manager_scope != "container"),
        ("memoryManagerPolicy", config.memory_manager_policy != "None"),
        ("reservedMemory", bool(config.reserved_memory)),
        ("topologyManagerPolicyOptions", bool(config.topology_manager_policy_options)),
        ("cpuManagerPolicyOptions", bool(config.cpu_manager_policy_options)),
    )
    for setting, given in used:
        if given and setting not in kubelet.settings:
            since = version_text(first_with_setting(setting))
            raise StartError(f"kubelet {version_text(kubelet.version)} has no {setting}: it came with {since}")


CGROUP_V1 = (
    "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed "
    "in a future release"
)


def validate(
    config: KubeletConfig, policies: Sequence[str] = topology.POLICIES, also_wrong: Sequence[str] = ()
) -> tuple[int, tuple[NodeAmount, ...]]:
    """Validate the configuration by itself: all errors are collected and equal ones told once (rule 57).

    Returns:
        what `reservedSystemCPUs` and `reservedMemory` say.


    Args:
        config: the settings.
        policies: the policies of the Topology Manager that exist.
        also_wrong: errors that do not come from the configuration alone; they are told last.

    Raises:
        StartError: one error as it is, several as `[first, second]`.
    """
    errors = []
    if config.topology_manager_policy not in policies:
        names = " ".join(map(quote, policies))
        errors.append(
            "invalid configuration: topologyManagerPolicy (--topology-manager-policy) "
            f"{quote(config.topology_manager_policy)} must be one of: [{names}]"
        )
    if config.topology_manager_scope not in topology.SCOPES:
        errors.append(
            "invalid configuration: topologyManagerScope (--topology-manager-scope) "
            f'{quote(config.topology_manager_scope)} must be one of: "container", or "pod"'
        )
    reserved_cpus, wrong = _reserved_cpus(config)
    errors += wrong
    reserved_memory, wrong = _reserved_memory(config)
    errors += [*wrong, *also_wrong]
    distinct = list(dict.fromkeys(errors))
    if distinct:
        told = ", ".join(distinct)
        raise StartError(told if len(distinct) == 1 else f"[{told}]")
    return reserved_cpus, reserved_memory


def _reserved_cpus(config: KubeletConfig) -> tuple[int, list[str]]:
    """Read `reservedSystemCPUs`: the set, and what is wrong with it."""
    reserved = 0
    errors: list[str] = []
    if not config.reserved_system_cpus:
        return reserved, errors
    if config.system_reserved_cgroup or config.kube_reserved_cgroup:
        errors.append(
            "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup "
            "(--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
        )
    try:
        reserved = cpuset.parse(config.reserved_system_cpus)
    except CPUSetError as error:
        errors.append(
            "invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) "
            f"{config.reserved_system_cpus}, error: {error}"
        )
    return reserved, errors


def _reserved_memory(config: KubeletConfig) -> tuple[tuple[NodeAmount, ...], list[str]]:
    """Read `reservedMemory`, which few configurations have: the amounts, and what is wrong with them."""
    if not config.reserved_memory:
        return (), []
    from numalign.kubelet.memory.reserved import read_reserved_memory, validate_reserved_memory

    try:
        reserved = read_reserved_memory(config.reserved_memory)
    except QuantityError as error:
        raise StartError(str(error)) from None
    return reserved, validate_reserved_memory(reserved)


def _check_manager_gate(config: KubeletConfig, kubelet: Kubelet) -> None:
    """Refuse a policy while the gate of the whole Topology Manager is turned off, where a release has it.

    Where the alpha's gate is only not turned on it is taken as on: what 1.16 did then is not known.
    """
    on = config.feature_gates.get("TopologyManager", True) or "TopologyManager" not in kubelet.gates
    if not on and config.topology_manager_policy != "none":
        raise StartError(
            f"invalid configuration: TopologyManager {config.topology_manager_policy} requires feature gate "
            "TopologyManager"
        )


def _check_option_gates(config: KubeletConfig, gates: Gates) -> None:
    check_gate(config.cpu_manager_policy_options, gates)
    given = config.topology_manager_policy_options
    if given is not None and not gates("TopologyManagerPolicyOptions"):
        raise StartError(
            f"topology manager policy options {format_map(given)} require feature gates "
            '"TopologyManagerPolicyOptions" enabled'
        )


def _check_numa_ids(config: KubeletConfig, machine: Machine) -> None:
    """Refuse NUMA ids that no mask can hold: the kubelet starts, and crashes at the first merge."""
    beyond = [str(node.id) for node in machine.numa_nodes if not 0 <= node.id <= LAST_NUMA_ID]
    if beyond and config.topology_manager_policy != "none":
        raise StartError(
            f"the kubelet would crash at the first admission: NUMA node {beyond[0]} is outside 0-{LAST_NUMA_ID}; "
            "only topologyManagerPolicy none works here"
        )
