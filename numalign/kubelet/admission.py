"""Pods one after another on one node: the managers, then the fit check, as the kubelet's admit handlers run.

docs/rules/topology-manager.md 3. `node.admit` is the managers alone; this adds what comes after them and remembers for
each pod the states around its admission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from numalign.errors import Notice
from numalign.kubelet import cpu
from numalign.kubelet import node as twin
from numalign.kubelet.cpu.allocate import NOT_FREE, POOL_EMPTY, TOO_FEW
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.fit import check as fit
from numalign.kubelet.fit.check import FitResult, NodeView
from numalign.kubelet.memory.state import STATIC, overdrawn_tables
from numalign.kubelet.node import AdmitResult, Node, NodeState
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import is_published
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.effort import SLOW, Effort
from numalign.model.pod import Pod
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    from numalign.kubelet.topology import manager


class Session(NamedTuple):
    """A node and everything on it."""

    node: Node
    state: NodeState
    view: NodeView | None
    """The node as the fit check sees it; None: only the managers decide."""
    pods: ActivePods = ActivePods()
    """In order of admission."""

    def empty(self) -> Session:
        """Return the same node with nothing on it."""
        return self._replace(state=twin.empty_state(self.node), pods=ActivePods())


Stage: TypeAlias = 'manager.Stage | Literal["fit"]'
"""Where a pod was refused: at a stage of the Topology Manager, or by the check behind the managers; empty: admitted."""


class Outcome(NamedTuple):
    """One pod's admission."""

    pod: Pod
    demand: PodDemand
    result: AdmitResult
    """What the managers decided."""
    fit: FitResult | None
    """What the fit check decided; None: it was not asked."""
    before: Session
    """What the pod found."""
    after: NodeState
    """Right after the decision, with what a refused pod still holds."""
    then: Session
    """What the next pod finds."""
    notices: tuple[Notice, ...] = ()
    """What a person should know about this admission."""

    @property
    def admit(self) -> bool:
        """Tell whether the pod runs."""
        return self.result.admit and (self.fit is None or self.fit.admit)

    @property
    def stage(self) -> Stage:
        """Where it was refused (`merge`, `allocate`, `panic`, `hang`, `fit`); empty when admitted."""
        return self.result.stage or ("" if self.admit else "fit")

    @property
    def reason(self) -> str:
        """The kubelet's reason."""
        return self.fit.reason if self.fit else self.result.reason

    @property
    def message(self) -> str:
        """The kubelet's message."""
        return self.fit.message if self.fit else self.result.message


def open_session(setup: Setup, *, fit_check: bool = True) -> Session:
    """Start a kubelet on an empty node.

    Args:
        setup: the machine, the settings, the kubelet.
        fit_check: judge the node as a whole after the managers.

    Raises:
        StartError: the kubelet would refuse to start.
    """
    node, state = twin.start(setup)
    return Session(node, state, fit.view(setup.config, setup.machine, node.reservation) if fit_check else None)


def odd_from_the_start(session: Session) -> tuple[Notice, ...]:
    """Warn of what the kubelet accepts and then gets wrong."""
    return tuple(
        Notice(
            "memory-overdrawn",
            f"NUMA {numa} has less {resource} than is reserved, which the kubelet counts as infinite: reserve less",
            "reservedMemory",
        )
        for numa, resource in overdrawn_tables(session.node.memory)
    )


def admit(session: Session, pod: Pod) -> Outcome:
    """Admit one pod: the managers, then the fit check."""
    node = session.node
    pod, demand = node.read_pod(pod)
    after, result = twin.admit(node, session.state, demand)
    found = partial(Outcome, pod=pod, demand=demand, result=result, before=session, after=after)
    unsure = tuple(_slow(node, pod, demand, result))
    if is_published(node.kubelet.version):
        from numalign.kubelet.inferred import inferred

        unsure += tuple(inferred(node, session.state, after, pod, demand, result))
    if not result.admit:
        then = session._replace(state=twin.collect(node, after))
        return found(fit=None, then=then, notices=(*_fatal(result, pod), *unsure))
    if session.view is None:
        then = session._replace(state=after, pods=session.pods.plus(pod))
        return found(fit=None, then=then, notices=(*_oddities(session, after, demand, pod), *unsure))
    given_out = after.device.allocated if demand.uid in after.device.holdings else {}
    fitted = fit.check_node_fit(
        pod,
        session.pods,
        session.view,
        allocated={name: members.bit_count() for name, members in given_out.items() if members},
    )
    notices = [*_oddities(session, after, demand, pod), *unsure] if fitted.admit else list(unsure)
    notices += [Notice("fit", note, pod.name) for note in fitted.notes]
    notices += [
        Notice("preempted", f"{victim.name} is evicted to admit {pod.name}", pod.name) for victim in fitted.preempted
    ]
    then = session._replace(state=after, pods=session.pods.plus(pod))
    # A pod that does not fit was given everything already; the kubelet collects it before the next pod.
    for gone in fitted.preempted if fitted.admit else (pod,):
        then = end(then, gone.uid)
    return found(fit=fitted, then=then, notices=tuple(notices))


Forecast = Callable[[Pod], bool | None]
"""What `forecast` tells of a pod in one session."""


def admits(session: Session, pod: Pod, ahead: Forecast | None = None) -> bool:
    """Tell whether a pod would be admitted, as `admit` decides, without working out anything else.

    Args:
        session: the node.
        pod: the pod.
        ahead: the session's `forecaster`, where it was made for the same pod with other amounts.
    """
    fits = ahead(pod) if ahead else forecast(session, pod)
    if fits is None:
        return admit(session, pod).admit
    if not fits:
        return False
    _, demand = session.node.read_pod(pod)
    _, result = twin.admit(session.node, session.state, demand)
    return result.admit


def forecast(session: Session, pod: Pod) -> bool | None:
    """Tell what the fit check will say of a pod, if that is the same whatever the managers do; None: it depends.

    False holds under all other settings but reservations, and beside more pods. Of pods with pod-level resources,
    which the settings change, nothing is said.
    """
    seen = session.node.reader.reading.see(pod)
    if seen.level is not None:
        return None
    if session.view is None:
        return True
    return fit.forecast(seen, session.pods, session.view, _devices(session.node))


def forecaster(session: Session, pod: Pod) -> Forecast:
    """Return `forecast` in this session for the same pod with other amounts of what it asks for."""
    see = session.node.reader.reading.see
    seen = see(pod)
    if session.view is None or seen.level is not None:
        return partial(forecast, session)
    told = fit.forecaster(seen, session.pods, session.view, _devices(session.node))
    return lambda asked: told(see(asked))


def _devices(node: Node) -> dict[str, int]:
    """Count the devices of each resource."""
    return {name: len(each.devices) for name, each in node.device.resources.items()}


def end(session: Session, uid: str) -> Session:
    """End a pod: everything it held is free."""
    state = twin.remove(session.node, session.state, uid)
    return session._replace(state=state, pods=session.pods.without((uid,)))


def admit_in_order(session: Session, pods: Iterable[Pod], *, started: bool = False) -> Iterator[Outcome]:
    """Admit pods one after another; none after one that the kubelet does not survive.

    Args:
        session: the node and what is there.
        pods: in the order in which they come up.
        started: the containers of an admitted pod start before the next pod comes.
    """
    for pod in pods:
        outcome = admit(session, pod)
        session = outcome.then
        if started:
            session = session._replace(state=twin.start_containers(session.node, session.state, pod.uid).state)
        yield outcome
        if outcome.stage in FATAL:
            return


FATAL = {
    "panic": ("kubelet-panic", "the kubelet would crash in this call, so no later pod is tried"),
    "hang": ("kubelet-hang", "the kubelet hangs in this call, so no later pod is tried"),
}
"""Stage -> (code, advice) where the kubelet itself does not survive the call."""


def _fatal(result: AdmitResult, pod: Pod) -> tuple[Notice, ...]:
    """Warn where the kubelet itself does not survive the call."""
    if result.stage not in FATAL:
        return ()
    code, advice = FATAL[result.stage]
    return (Notice(code, f'{advice}: "{result.message}"', pod.name),)


def _slow(node: Node, pod: Pod, demand: PodDemand, result: AdmitResult) -> Iterator[Notice]:
    """Warn of an admission that holds up all others for a second or more; of 1.35 not all is known."""
    efforts = [one.effort for one in result.decisions]
    if sum([one.seconds for one in efforts]) >= SLOW:
        whole = Effort(sum([one.sets for one in efforts]), sum([one.combinations for one in efforts]))
        yield Notice("kubelet-slow", f"the kubelet takes {whole}, and admits no other pod meanwhile", pod.name)
    elif result.stage != "hang" or result.provider:
        return
    if node.kubelet.version == (1, 35) and any(one.devices for one in demand.containers):
        text = "1.35 of OpenShift tries only NUMA nodes that have devices, upstream's may try all, as assumed here"
        yield Notice("inferred", text, pod.name)


_ADVICE = {
    TOO_FEW: "gets fewer exclusive CPUs than requested: kubelet bug on cores of unequal size",
    NOT_FREE: "shares an exclusive CPU with another container: kubelet bug on cores of unequal size",
    POOL_EMPTY: "takes the last shared CPU: kubelet would not restart",
}


def loses_pinning(node: Node, pod: Pod, demand: PodDemand) -> bool:
    """Tell whether managers pass over a Guaranteed pod whose containers they would serve without `spec.resources`.

    docs/rules/kubelet-versions.md 6.3. Where neither manager is static nothing would be pinned anyway.
    """
    if pod.qos != "Guaranteed" or demand.guaranteed:
        return False
    return node.cpu.static or node.memory.policy == STATIC


def _oddities(session: Session, after: NodeState, demand: PodDemand, pod: Pod) -> Iterator[Notice]:
    """Warn where the kubelet itself goes wrong without noticing."""
    if loses_pinning(session.node, pod, demand):
        release = version_text(session.node.kubelet.version)
        yield Notice(
            "pod-level-unpinned",
            f"kubelet {release} pins no CPUs and no memory of a pod with spec.resources",
            pod.name,
        )
    for container in demand.containers:
        if container.cpus:
            for code in cpu.oddities(session.node.cpu, session.state.cpu, after.cpu, demand, container):
                yield Notice(code, f"container {container.name} {_ADVICE[code]}", pod.name)
