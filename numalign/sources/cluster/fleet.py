"""From the objects of a dump to the nodes of a cluster: machines, what is taken on them, what is not known."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from numalign.errors import InputError, Notice, StartError
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.config import IDEAL, KubeletConfig
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.node import NodeState
from numalign.kubelet.releases import NEWEST_TEXT, OLDEST, PUBLISHED
from numalign.kubelet.releases.table import PUBLISHED_NOTE, is_published, kubelet, parse_version
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, MEMORY
from numalign.model.words import few_of
from numalign.scheduler.node import ClusterNode, Fleet, Known
from numalign.scheduler.nrt import occupied
from numalign.scheduler.nrt.machine import Assumed, machine_of, used_of, with_memory
from numalign.scheduler.nrt.value import FINGERPRINT, PLACEMENT_METADATA, NodeResourceTopology
from numalign.scheduler.resources import Amounts
from numalign.sources.cluster.dump import Dump
from numalign.sources.cluster.kubelets import (
    Identity,
    Kubelets,
    Requests,
    allocatable_of,
    counted,
    empty_node,
    judging,
    setup_of,
    unjudged_of,
)
from numalign.sources.cluster.nrt import is_stale
from numalign.sources.cluster.objects import NodeRead, PodRead
from numalign.sources.cluster.topology import CPUTopologyRead
from numalign.sources.cluster.topology import machine_of as machine_of_cpus
from numalign.sources.kubelet.fields import given, read_fields
from numalign.sources.machine.loading import load_machine
from numalign.values import NamedTuple

PODS_BY_DEFAULT = 110
"""How many pods a node takes where nobody says."""


class Built(NamedTuple):
    """A cluster, and what was filled in or passed over."""

    fleet: Fleet
    notices: tuple[Notice, ...]


SetupOf = Callable[[NodeRead], Setup | None]
"""Says what a node is made of where no object does, the same value for nodes alike; None: nobody knows."""


def fleet_of(dump: Dump, setup_of_node: SetupOf = lambda _: None) -> Built:
    """Build the nodes of a dump.

    Args:
        dump: the objects.
        setup_of_node: tells of nodes that have no topology object.

    Raises:
        InputError: a topology object is no machine.
        StartError: a node's kubelet would not start.
    """
    building = Building(dump, setup_of_node)
    nodes = tuple([building.node(name) for name in dump.names])
    return Built(Fleet(nodes), (*dump.notices, *building.notices()))


class Building:
    """Builds nodes; what several of them have in common is worked out once."""

    def __init__(self, dump: Dump, setup_of_node: SetupOf) -> None:
        """Begin with none, as of `fleet_of`."""
        self._dump = dump
        self._setup_of = setup_of_node
        self._kubelets = Kubelets()
        self._requests = Requests()
        self._assumed: dict[Hashable, Assumed] = {}
        self._about: dict[tuple[str, str], list[str]] = {}

    def node(self, name: str) -> ClusterNode:
        """Build one node."""
        dump = self._dump
        read = dump.nodes.get(name) or NodeRead(name, {}, {})
        pods = dump.pods.get(name, ())
        identity = Identity(name, read.labels, read.taints)
        found = dump.nrts.get(name)
        if found and dump.pods and is_stale(found.nrt, pods, dump.ended.get(name, ())):
            self._say("nrt-stale", "the object is outdated: its pods have changed, so its free amounts are old", name)
        session, known = self._session(identity, self._with_release(read), pods)
        allocatable = read.allocatable or (allocatable_of(session.view) if session else {})
        if not read.allocatable and not (found and MEMORY in found.nrt.listed):
            allocatable = {resource: amount for resource, amount in allocatable.items() if resource != MEMORY}
        if "pods" not in allocatable:
            allocatable = {**allocatable, "pods": PODS_BY_DEFAULT * NANO}
        bound = tuple([counted(session, one.pod) for one in pods])
        if session is not None:
            unknown = () if MEMORY in allocatable else (MEMORY,)
            session = judging(session, read.allocatable, unknown)._replace(pods=ActivePods(bound))
        return ClusterNode(
            name=name,
            totals=self._requests.totals(allocatable, bound, unjudged_of(session)),
            session=session,
            known=known,
            nrt=found.nrt if found else None,
            labels=read.labels,
            taints=read.taints,
            unschedulable=read.unschedulable,
            placed=tuple([one.placed for one in pods if one.placed]),
            unplaced=() if session is not None else bound,
        )

    def notices(self) -> Iterator[Notice]:
        """Say what was filled in, and on which nodes."""
        for (code, text), names in self._about.items():
            yield Notice(code, text, few_of(names, 3))

    def _say(self, code: str, text: str, name: str) -> None:
        self._about.setdefault((code, text), []).append(name)

    def _with_release(self, read: NodeRead) -> NodeRead:
        """Say which kubelet decides on a node: that of the release that it names, where numalign knows it."""
        release = _release_of(read.release)
        if not release:
            text = f"decided as kubelet {NEWEST_TEXT}: " + (
                f"{read.release} is not known" if read.release else "no Node object says the release of these nodes"
            )
            self._say("node-release-unknown", text, read.name)
        elif is_published(parse_version(release)):
            self._say("published-release", PUBLISHED_NOTE.format(release), read.name)
        return read._replace(release=release)

    def _session(self, identity: Identity, read: NodeRead, pods: Sequence[PodRead]) -> tuple[Session | None, Known]:
        """Open the kubelet of a node, with what is taken there."""
        topology, found = self._dump.topologies.get(identity.name), self._dump.nrts.get(identity.name)
        if found is not None:
            try:
                return self._of_nrt(identity, found.nrt, read, topology), "counts"
            except (InputError, StartError) as error:
                self._say("nrt-unreadable", f"NUMA nodes unknown: {error.message}", identity.name)
                return None, "nothing"
        if topology is not None:
            return self._of_cpus(identity, topology, read), "counts"
        setup = self._setup_of(read)
        if setup is not None:
            key = id(setup), read.release
            if read.release and not setup.machine.kubelet_version:
                setup = setup._replace(kubelet=kubelet(parse_version(read.release)))
            return self._replayed(self._kubelets.open(key, setup, identity), pods, identity.name), "counts"
        self._say("machine-unknown", "the hardware of these nodes is unknown: no object describes it", identity.name)
        return None, "nothing"

    def _of_nrt(
        self, identity: Identity, nrt: NodeResourceTopology, read: NodeRead, topology: CPUTopologyRead | None
    ) -> Session:
        key = (_kind_key(nrt, read.capacity), read.release)
        assumed = self._assumed.get(key)
        if assumed is None:
            cpus, memory = (read.capacity.get(name) for name in (CPU, MEMORY))
            assumed = self._assumed[key] = machine_of(
                nrt, cpus=cpus // NANO if cpus else None, memory=memory // NANO if memory else None
            )
        for note in assumed.notes:
            self._say("nrt-assumed", note, identity.name)
        setup = setup_of(assumed.machine._replace(kubelet_version=read.release), assumed.config, "ideal")
        if topology is not None:
            exact = _exact_cpus(assumed.machine, machine_of_cpus(topology))
            if exact is not None:
                return self._of_cpus(identity, topology, read, exact, assumed.config)
            self._say("topology-contradicted", "the CPU topology and the zones differ: used the zones", identity.name)
        session = self._kubelets.open(key, setup, identity)
        return session._replace(state=occupied.occupied(session.node, used_of(nrt)))

    def _of_cpus(
        self,
        identity: Identity,
        topology: CPUTopologyRead,
        read: NodeRead,
        machine: Machine | None = None,
        config: KubeletConfig = IDEAL,
    ) -> Session:
        """Open the kubelet of a node of which every CPU is known."""
        memory = read.capacity.get(MEMORY)
        exact = machine or with_memory(machine_of_cpus(topology), memory // NANO if memory else None)
        changed = given(read_fields(topology.settings, identity.name).config)
        setup = setup_of(exact._replace(kubelet_version=read.release), config._replace(**changed), "ideal")
        session = self._kubelets.open(id(topology), setup, identity)
        return session._replace(state=_with_taken(session.state, topology.taken & session.node.cpu.allocatable))

    def _replayed(self, session: Session, pods: Sequence[PodRead], name: str) -> Session:
        """Admit the pods of a node, oldest first: where they are is then predicted, not read."""
        for one in sorted(pods, key=lambda one: one.pod.created):
            session = admission.admit(session, one.pod).then
        if pods:
            text = "no object has the places of the pods: numalign admitted the pods again, in order"
            self._say("pods-replayed", text, name)
        return session


def _release_of(version: str) -> str:
    """Read the release of a kubelet that numalign knows, whatever stands behind it: `v1.35.2-eks-1`; empty: none."""
    found = re.match(r"v?(1\.\d{1,3})(?=[^0-9]|$)", version, re.ASCII)
    if found is None or not OLDEST <= (1, int(found[1][2:])) <= PUBLISHED:
        return ""
    return found[1]


def _kind_key(nrt: NodeResourceTopology, capacity: Amounts) -> Hashable:
    """Make a key of everything about an object that a machine is made of; free amounts and names are not in it."""
    zones: list[object] = []
    for zone in nrt.zones:
        amounts = tuple([(name, one.capacity, one.allocatable) for name, one in zone.resources.items()])
        zones += (zone.name, zone.type, zone.parent, amounts, tuple(zone.costs.items()))
    attributes = tuple([one for one in nrt.attributes if one[0] not in (FINGERPRINT, PLACEMENT_METADATA)])
    return tuple(zones), attributes, nrt.topology_policies, capacity.get(CPU), capacity.get(MEMORY)


def _exact_cpus(assumed: Machine, exact: Machine) -> Machine | None:
    """Put exact CPUs into a machine of counts; None: the counts differ."""
    known = {node.id: node.cpus for node in exact.numa_nodes}
    if [(node.id, node.cpus.bit_count()) for node in assumed.numa_nodes] != [
        (number, cpus.bit_count()) for number, cpus in known.items()
    ]:
        return None
    nodes = tuple([node._replace(cpus=known[node.id]) for node in assumed.numa_nodes])
    return assumed._replace(numa_nodes=nodes, sockets=exact.sockets, cores=exact.cores)


def _with_taken(state: NodeState, cpus: int) -> NodeState:
    """Take CPUs out of the shared pool, held by nobody in particular."""
    if not cpus:
        return state
    held = CPUState(state.cpu.default & ~cpus, {occupied.UID: {occupied.CONTAINER: cpus}}, occupied.UID)
    pod = occupied.demand_of(occupied.UID, cpus.bit_count())
    return state._replace(states=(state.device, held, state.memory), pods={occupied.UID: pod})


def read_machines(files: Iterable[str]) -> Built:
    """Read machine files, each a node of its own; its nodes are empty.

    Raises:
        InputError: one is wrong, or two machines have one name.
        StartError: the kubelet of a node would not start.
    """
    kubelets, requests = Kubelets(), Requests()
    nodes: dict[str, ClusterNode] = {}
    notices: list[Notice] = []
    for file in files:
        loaded = load_machine(os.path.join(".", file) if os.path.basename(file) == file else file)
        setup = setup_of(loaded.machine, IDEAL, "ideal")
        if loaded.machine.kubelet is not None:
            found = read_fields(loaded.machine.kubelet, f"{file}: kubelet")
            setup = setup_of(loaded.machine, found.config, "kubelet")
            notices += found.warnings
        known = loaded.machine.node
        name = known.name or loaded.machine.name
        if name in nodes:
            raise InputError(f'duplicate machine "{name}"; fix: rename one', file)
        identity = Identity(name, known.labels or {}, known.taints)
        nodes[name] = empty_node(kubelets.open(file, setup, identity), identity, requests)
        notices += loaded.warnings
    return Built(Fleet(tuple(nodes.values())), tuple(notices))
