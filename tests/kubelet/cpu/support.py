"""The machines of the worked examples, and short ways to ask the CPU Manager something."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet.cpu import CPUManager, CPUState, initial_state, start
from numalign.kubelet.cpu.allocate import allocate_until_1_36
from numalign.kubelet.cpu.manager import distribute_until_1_36
from numalign.kubelet.cpu.topology import CPUTopology, build
from numalign.kubelet.cpu.uncore import exact_fit
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine, NUMANode, Unit
from numalign.model.pod import ContainerKind

NANO = 10**9

FULL = "full-pcpus-only"
DISTNUMA = "distribute-cpus-across-numa"
SOCKET = "align-by-socket"
SPREAD = "distribute-cpus-across-cores"
STRICT = "strict-cpu-reservation"
UNCORE = "prefer-align-cpus-by-uncorecache"


def regular(sockets: int, nodes: int, cores: int, threads: int, cores_per_uncore: int = 0) -> Machine:
    """Return a machine of `sockets` × `nodes` per socket × `cores` per node × `threads`; siblings come last."""
    total = sockets * nodes * cores
    core_sets = [sum(1 << core + total * thread for thread in range(threads)) for core in range(total)]
    uncores = range(total // cores_per_uncore) if cores_per_uncore else ()
    return Machine(
        "regular",
        tuple(NUMANode(i, sum(core_sets[i * cores : (i + 1) * cores])) for i in range(sockets * nodes)),
        tuple(Unit(i, sum(core_sets[i * nodes * cores : (i + 1) * nodes * cores])) for i in range(sockets)),
        tuple(core_sets),
        tuple(Unit(i, sum(core_sets[i * cores_per_uncore : (i + 1) * cores_per_uncore])) for i in uncores),
    )


MA = regular(1, 1, 4, 2)
MB = regular(2, 1, 4, 2)
MC = regular(2, 2, 2, 2)
MD = regular(1, 1, 8, 2, cores_per_uncore=4)
ME = regular(2, 4, 4, 1)
MF = Machine(
    "hybrid",
    (NUMANode(0, parse("0-7")),),
    (Unit(0, parse("0-7")),),
    tuple(parse(core) for core in ("0-1", "2-3", "4", "5", "6", "7")),
)
MG = regular(2, 2, 3, 2)
TEN_NODES = Machine(
    "ten-nodes",
    tuple(NUMANode(i, parse(f"{5 * i}-{5 * i + 4}")) for i in range(10)),
    (Unit(0, parse("0-19")), Unit(1, parse("20-49"))),
    tuple(1 << cpu for cpu in range(50)),
)


def manager(machine: Machine, *options: str, reserved: str = "", count: int | None = None) -> CPUManager:
    """Start the static policy of the rules with these options on; nothing is reserved without set or number."""
    cpus = parse(reserved)
    return start(
        machine,
        policy="static",
        options=dict.fromkeys(options, "true"),
        gates=lambda _name: True,
        levels=LATEST.levels("cpu"),
        topology_policy="best-effort",
        reserved=cpus,
        reservation_nano=(cpus.bit_count() if count is None else count) * NANO,
        waive_reservation=True,
        partial_fit=exact_fit,
        distribute=distribute_until_1_36,
    )


def topology(machine: Machine) -> CPUTopology:
    """Return the topology of a machine."""
    return build(machine)


def container(name: str, cpus: int, kind: ContainerKind = "app") -> ContainerDemand:
    """Return a container that asks for exclusive CPUs."""
    return ContainerDemand(name, kind, cpus, (), ())


def pod(uid: str, *containers: ContainerDemand, cpus: int | None = None) -> PodDemand:
    """Return a Guaranteed pod; `cpus` is what it asks for as a whole, the sum if not given."""
    total = sum(one.cpus for one in containers) if cpus is None else cpus
    return PodDemand(uid, True, containers, total, (), ())


class Node:
    """A manager and its changing state, for tests that tell a story."""

    def __init__(self, machine: Machine, *options: str, reserved: str = "", free: str | None = None) -> None:
        self.manager = manager(machine, *options, reserved=reserved)
        self.state = initial_state(self.manager)
        if free is not None:
            self.state = CPUState(parse(free) | self.manager.reserved)
        self.pods = 0

    def ask(self, cpus: int, *nodes: int, uid: str | None = None, name: str = "c", kind: ContainerKind = "app") -> str:
        """Allocate for a new pod (or `uid`), with a mask if nodes are given; return the CPUs or the error."""
        self.pods += 1
        mask = sum(1 << node for node in nodes) if nodes else None
        one = container(name, cpus, kind)
        owner = pod(uid or f"pod-{self.pods}", one)
        try:
            self.state = allocate_until_1_36(self.manager, self.state, owner, one, TopologyHint(mask, preferred=True))
        except AllocationError as error:
            return error.message
        return format_set(self.state.assigned(owner.uid, name) or 0)

    @property
    def pool(self) -> str:
        """The shared pool."""
        return format_set(self.state.default)


def held(state: CPUState) -> Mapping[str, Mapping[str, str]]:
    """Return all assignments as text."""
    return {
        uid: {name: format_set(cpus) for name, cpus in containers.items()}
        for uid, containers in state.assignments.items()
    }
