"""Say who holds what on a node now, what is free and for what, what is odd, and whether its kubelet comes up again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.alignment import alignment
from numalign.analysis.holding import holding
from numalign.analysis.node.files import file_findings, stops
from numalign.analysis.node.finding import NodeFinding, drain_and_delete
from numalign.analysis.node.restart import Restart, restart_of
from numalign.analysis.node.room import Room, largest_by_policy, no_larger, rooms
from numalign.analysis.node.state import state_findings
from numalign.errors import StartError
from numalign.kubelet.admission import Session, loses_pinning, open_session
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.start.held_pods import holders
from numalign.kubelet.start.restart import checked
from numalign.kubelet.start.restore import StateFiles, as_written, refused
from numalign.kubelet.topology.options import POLICIES
from numalign.model.cpuset import format_set, from_ids
from numalign.results.node import (
    ClaimStatus,
    ConfigCheckResult,
    ContainerStatus,
    NodeCheck,
    Outlook,
    PodStatus,
    StatusResult,
)
from numalign.tasks.admit import drawn
from numalign.tasks.config import before_upgrade, check_config
from numalign.tasks.node import kept_files, load_facts, node_setup
from numalign.tasks.node_files import init_readings, maybe_ended
from numalign.tasks.node_pods import claims_of, named, occupied, with_keepers
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.node import NodeState
    from numalign.sources.node.facts import NodeFacts
    from numalign.tasks.requests import KubeletRequest, NodeRequest
    from numalign.tasks.setup import LoadedSetup


class Opened(NamedTuple):
    """A node, and whether its kubelet would come up with its files."""

    on: LoadedSetup
    there: Session
    facts: NodeFacts
    start_error: str = ""

    @property
    def restart(self) -> Restart | None:
        """What a restart does to the pods that run."""
        if self.start_error or self.facts.files == StateFiles():
            return None
        facts, pods = self.facts, self.facts.coming or self.there.pods
        undated = [pod for pod in pods if not pod.created]
        if facts.in_order or len(undated) < 2:
            return restart_of(self.there, pods)
        listed = facts.pods is not None or all(pod.is_static for pod in undated)
        return restart_of(self.there, pods, "random" if listed else "unknown")


def open_node(request: NodeRequest, machine: str | None, kubelet: KubeletRequest) -> Opened:
    """Read a node; one whose kubelet would not come up with its files is shown as the files have it.

    Raises:
        InputError: the source tells of no node, or not enough of it.
        HostError: it may not be read.
        StartError: its kubelet would not come up with its settings, whatever the files.
    """
    on, facts = _read(request, machine, kubelet)
    try:
        return Opened(on, checked(occupied(facts, on)), facts)
    except StartError as error:
        session = open_session(on.setup)
        there = with_keepers(session, facts, as_written(session.node, facts.files))
        return Opened(on, there, facts, error.message)


def _read(request: NodeRequest, machine: str | None, kubelet: KubeletRequest) -> tuple[LoadedSetup, NodeFacts]:
    """Read a node; of a state of our own what its kubelet's files would say."""
    kept = kept_files(request.source, machine, kubelet)
    if kept is not None:
        return kept
    facts = load_facts(request)
    return node_setup(facts, machine, kubelet), facts


def status(request: NodeRequest, machine: str | None, kubelet: KubeletRequest) -> StatusResult:
    """Read a node and judge it.

    Raises:
        InputError, HostError, StartError: see `open_node`.
    """
    opened = open_node(request, machine, kubelet)
    on, there, facts, error = opened
    found, largest = _rooms(opened, POLICIES)
    pods = tuple(_pods(there, claims_of(facts, named(facts, there.state))))
    odd = tuple(findings(opened))
    return StatusResult(
        setup=on.setup,
        origin=on.origin,
        node=request.source,
        exclusive_cpus=there.node.cpu.static,
        shared_pool=there.state.cpu.default,
        reserved_cpus=there.node.cpu.reserved,
        pods=pods,
        others=len(there.pods) - sum(pod.active for pod in pods),
        rooms=found,
        largest=largest,
        start_error=error,
        remedy=_remedy(opened, odd),
        restart=opened.restart,
        findings=odd,
        unknown=facts.unknown,
        notices=on.notices,
        picture=drawn(on.setup, there),
    )


def _rooms(opened: Opened, policies: Iterable[str]) -> tuple[tuple[Room, ...], Mapping[str, int]]:
    """Say what is free on each NUMA node, and how large a pod is at most under some policies, its own among them."""
    there = opened.there
    found = rooms(there)
    limit = max((room.largest for room in found), default=0)
    largest = largest_by_policy(opened.on.setup, there, limit, policies)
    return no_larger(found, largest.get(there.node.policy)), largest


def outlook_of(opened: Opened, odd: Iterable[NodeFinding]) -> Outlook:
    """Say what a node is still good for, and what a restart of its kubelet does.

    Args:
        opened: the node.
        odd: its `findings`.
    """
    restart = opened.restart
    return Outlook(
        rooms=_rooms(opened, (opened.there.node.policy,))[0],
        exclusive_cpus=opened.there.node.cpu.static,
        would_restart=not _remedy(opened, odd),
        rejected=None if restart is None else len(restart.rejected),
    )


def check_node(
    request: NodeRequest, machine: str | None, kubelet: KubeletRequest
) -> tuple[LoadedSetup, ConfigCheckResult]:
    """Check a configuration on its machine, and whether a node's kubelet would come up again with its files.

    Raises:
        InputError: the source tells of no node, or not enough of it.
        HostError: it may not be read.
    """
    on, facts = _read(request, machine, kubelet)
    on = before_upgrade(on, facts.settings.given if facts.settings else ())
    result = check_config(on.setup)
    if not result.report.starts:
        return on, result
    opened = open_node(request, machine, kubelet)
    odd = tuple(findings(opened))
    return on, result._replace(node=NodeCheck(opened.start_error, _remedy(opened, odd), opened.restart, odd))


def _remedy(opened: Opened, odd: Iterable[NodeFinding]) -> str:
    """Say what to do about all files that stop the kubelet, in order; empty: it comes up."""
    facts = opened.facts
    in_the_way = refused(opened.there.node, facts.files, facts.containers, facts.root) if opened.start_error else ()
    files = (*in_the_way, *(one.file for one in odd if stops(one)))
    return drain_and_delete(*files) if files else ""


def findings(opened: Opened) -> Iterator[NodeFinding]:
    """List what is odd about a node's files."""
    facts, there, setup = opened.facts, opened.there, opened.on.setup
    gate = setup.kubelet.gates_with(setup.config.feature_gates)
    yield from file_findings(facts.files, facts.further, setup.kubelet.version, facts.root, gate)
    names = {pod.uid: pod.full_name for pod in there.pods if pod.name != pod.uid}
    names |= {uid: f"{one.namespace}/{one.name}" for uid, one in named(facts, there.state).items()}
    active = frozenset(there.state.pods) if facts.active is not None or facts.pods is not None else None
    state = as_written(there.node, facts.files)
    yield from state_findings(there.node, state, facts.files, active, lambda uid: names.get(uid, uid), facts.root)
    yield from init_readings(facts, there)
    yield from maybe_ended(facts, there)
    yield from _unpinned(there)
    if facts.files.cpu is not None and facts.podresources.pods is not None:
        yield from _answered_otherwise(facts, state, names)


def _unpinned(there: Session) -> Iterator[NodeFinding]:
    """Name pods that this kubelet pins nothing for, since they have resources of their own."""
    for pod, demand in map(there.node.read_pod, there.pods):
        if loses_pinning(there.node, pod, demand):
            release = version_text(there.node.kubelet.version)
            text = f"{pod.namespace}/{pod.name} has spec.resources: kubelet {release} pins no CPUs and no memory"
            yield NodeFinding("pod-level-unpinned", "warning", "", text, "remove spec.resources from the pod")


def _answered_otherwise(facts: NodeFacts, state: NodeState, names: Mapping[str, str]) -> Iterator[NodeFinding]:
    """Compare the CPUs that the PodResources API reports with those in the file (docs/rules/podresources.md 15)."""
    by_name = {name: state.cpu.assignments.get(uid, {}) for uid, name in names.items()}
    for pod in facts.podresources.pods or ():
        name = f"{pod.namespace}/{pod.name}"
        for container in pod.containers:
            said, kept = from_ids(container.cpus), by_name.get(name, {}).get(container.name, 0)
            if name in by_name and said != kept:
                text = f"{name}/{container.name} has CPUs {format_set(said)} by the API, {format_set(kept)} by the file"
                yield NodeFinding("podresources-differ", "warning", f"{facts.root}/{CPU_FILE}", text, "read both again")


def _pods(there: Session, claims: Mapping[str, tuple[ClaimStatus, ...]]) -> Iterator[PodStatus]:
    """List the pods that hold something, by name; what is left over comes last."""
    known = {pod.uid: pod for pod in there.pods}
    found = []
    for uid in dict.fromkeys((*holders(there.state), *claims)):
        pod = known.get(uid)
        containers = tuple(
            ContainerStatus(asked.name, held, alignment(there.node, held, asked))
            for asked in _asked(there, uid)
            if any((held := holding(there.node, there.state, uid, asked))[:3])
        )
        name, namespace = (pod.name, pod.namespace) if pod and pod.name != uid else (uid, "")
        found.append(
            PodStatus(
                name=name,
                namespace=namespace,
                uid=uid,
                active=pod is not None,
                containers=containers,
                claims=claims.get(uid, ()),
            )
        )
    yield from sorted(found, key=lambda one: (not one.active, one.namespace, one.name))


def _asked(there: Session, uid: str) -> list[ContainerDemand]:
    """List what the containers of a pod asked for that hold something; of a pod that is gone only names are known."""
    state, pod = there.state, there.state.pods.get(uid)
    asked = {one.name: one for one in pod.containers} if pod else {}
    held = {
        *state.cpu.assignments.get(uid, ()),
        *state.memory.entries.get(uid, ()),
        *state.device.holdings.get(uid, ()),
    }
    named = [one for name, one in asked.items() if name in held]
    return [*named, *(ContainerDemand(name, "app", 0, (), ()) for name in sorted(held - asked.keys()))]
