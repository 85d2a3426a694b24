"""The pods of a node in use: whom its files name, and who keeps what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.kubelet.admission import Session, open_session
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.fit.check import exceeded
from numalign.kubelet.memory.restore import block
from numalign.kubelet.start import reported
from numalign.kubelet.start.held_pods import held_pod, holders
from numalign.kubelet.start.reported import Reported
from numalign.kubelet.start.restore import StateFiles, restore, settle
from numalign.model.cpuset import from_ids
from numalign.model.resources import CPU, MEMORY
from numalign.tasks.node_files import requested_nano
from numalign.tasks.setup import LoadedSetup

if TYPE_CHECKING:
    from numalign.kubelet.demand import PodDemand
    from numalign.kubelet.node import Node, NodeState
    from numalign.model.pod import Pod
    from numalign.results.node import ClaimStatus
    from numalign.sources.node.facts import NodeFacts, PodName


def occupied(facts: NodeFacts, on: LoadedSetup) -> Session:
    """Start the node's kubelet with what its pods hold.

    Args:
        facts: what was found.
        on: its kubelet.

    Raises:
        StartError: the kubelet would not come up with the files.
    """
    session = open_session(on.setup)
    if facts.files == StateFiles() and facts.podresources.pods is not None:
        state = reported.state_of(session.node, _reported(facts))
    else:
        state = restore(session.node, facts.files, containers=facts.containers, root=facts.root)
    return with_keepers(session, facts, state)


def with_keepers(session: Session, facts: NodeFacts, state: NodeState) -> Session:
    """Put a node's pods to what they hold; those that are over hold nothing (61).

    Args:
        session: its kubelet, started.
        facts: what was found.
        state: what the files say.
    """
    there = _kept_by(session, facts, state, keepers(facts, state))
    if not facts.granted or facts.pods is not None or session.node.kubelet.version < LISTS_INIT_CONTAINERS:
        return there
    short = exceeded(there.pods, there.view) if there.view else ()
    if not any(one.resource in (CPU, MEMORY) for one in short):
        return there
    return _kept_by(session, facts, state, keepers(facts, state, smallest=True))


def _kept_by(session: Session, facts: NodeFacts, state: NodeState, pods: Iterable[Pod]) -> Session:
    seen = [session.node.read_pod(pod) for pod in pods]
    active = [(pod, demand) for pod, demand in seen if not _is_over(session.node, facts, state, pod, demand)]
    settled = settle(state, {pod.uid: demand for pod, demand in active})
    return session._replace(state=settled, pods=ActivePods([pod for pod, _ in active]))


LISTS_INIT_CONTAINERS = (1, 36)
"""From this release on plain init containers are in `allocated_pods_state`, marked by nothing (23a)."""
LISTS_ACTIVE_PODS = (1, 34)
"""From this release on the PodResources API lists active pods only (docs/rules/podresources.md 7)."""


def _is_over(node: Node, facts: NodeFacts, state: NodeState, pod: Pod, demand: PodDemand) -> bool:
    """Tell whether a pod has ended or was rejected though its folder is there (61).

    Either the kubelet lists other pods and not this one, or it has none of the CPUs without which it cannot run.
    """
    if facts.pods is not None or facts.files.cpu is None:
        return False
    listed = {(one.namespace, one.name) for one in facts.podresources.pods or ()}
    if listed and node.kubelet.version >= LISTS_ACTIVE_PODS and pod.uid in facts.names:
        return (pod.namespace, pod.name) not in listed
    return node.cpu.static and any(one.cpus for one in demand.containers) and pod.uid not in state.cpu.assignments


def _reported(facts: NodeFacts) -> Iterable[Reported]:
    by_name = {(pod.namespace, pod.name): uid for uid, pod in facts.names.items()}
    for pod in facts.podresources.pods or ():
        uid = by_name.get((pod.namespace, pod.name), f"{pod.namespace}/{pod.name}")
        for one in (*pod.containers, pod.shared):
            blocks = tuple([block(nodes, kind, size) for kind, size, nodes in one.memory])
            devices = {resource: frozenset(held) for resource, held in one.devices.items()}
            yield Reported(uid, one.name, from_ids(one.cpus), blocks, devices)


def keepers(facts: NodeFacts, state: NodeState, *, smallest: bool = False) -> tuple[Pod, ...]:
    """List the active pods: as the API server has them, else as far as their holdings tell.

    Args:
        facts: what was found.
        state: what the files say.
        smallest: where nothing tells which containers are init containers, all but the largest one are.
    """
    if facts.pods is not None:
        return facts.pods
    names = named(facts, state)
    there = dict.fromkeys((*holders(state), *sorted(facts.active or {*facts.granted, *facts.claims})))
    if facts.files == StateFiles():
        reported_pods = (f"{pod.namespace}/{pod.name}" for pod in facts.podresources.pods or ())
        there |= dict.fromkeys(uid for uid in reported_pods if uid not in there)
    active = [uid for uid in there if facts.active is None or uid in facts.active]
    return tuple([_pod(facts, state, uid, names.get(uid), smallest=smallest) for uid in active])


def _pod(facts: NodeFacts, state: NodeState, uid: str, name: PodName | None, *, smallest: bool) -> Pod:
    if name is None and "/" in uid:
        namespace, _, plain = uid.partition("/")
        return held_pod(state, uid, plain, namespace)
    listed = next(
        (
            [one.name for one in pod.containers]
            for pod in facts.podresources.pods or ()
            if name is not None and (pod.namespace, pod.name) == (name.namespace, name.name)
        ),
        None,
    )
    known = facts.granted.get(uid, {})
    if smallest and listed is None and known and uid not in state.cpu.assignments:
        listed = [max(known, key=lambda one: requested_nano(known[one]))]
    return held_pod(state, uid, name.name if name else uid, name.namespace if name else "", known, listed)


def claims_of(facts: NodeFacts, names: Mapping[str, PodName]) -> dict[str, tuple[ClaimStatus, ...]]:
    """Say which devices pods hold by claim, by UID: as the kubelet's file tells, else the PodResources API."""
    found = dict(facts.claims)
    by_name = {name: uid for uid, name in names.items()}
    from numalign.sources.node.facts import PodName

    for pod in facts.podresources.pods or ():
        uid = by_name.get(PodName(pod.namespace, pod.name), f"{pod.namespace}/{pod.name}")
        devices = dict.fromkeys(device for one in pod.containers for device in one.claimed)
        if devices:
            found.setdefault(uid, tuple(devices))
    return found


def named(facts: NodeFacts, state: NodeState) -> Mapping[str, PodName]:
    """Name the pods of the state files: by the source, else by what the PodResources API says the same pod holds."""
    from numalign.sources.node.facts import PodName

    names = dict(facts.names)
    taken = set(names.values())
    for uid, containers in state.cpu.assignments.items():
        if uid in names:
            continue
        found = [
            PodName(pod.namespace, pod.name)
            for pod in facts.podresources.pods or ()
            if any(containers.get(one.name) == from_ids(one.cpus) for one in pod.containers if one.cpus)
        ]
        fitting = [one for one in found if one not in taken]
        if len(fitting) == 1:
            names[uid] = fitting[0]
    return names
