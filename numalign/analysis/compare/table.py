"""The same pods under other settings and on other machines: who is admitted, how many copies fit, what is left.

A *variant* is one kubelet on one machine; each is run from an empty node. Copies of the pods come up one set after
another until a pod is refused; what it found free on each NUMA node is *stranded*: there, and of no use to these pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, islice

from numalign.analysis.alignment import aligned
from numalign.analysis.matrix import available
from numalign.analysis.settings import apply, with_option
from numalign.analysis.suggested import suggested, suggestion
from numalign.errors import StartError
from numalign.kubelet.admission import Outcome, Session, admit_in_order, open_session
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.releases.release import OPTIONS
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.take_over import take_over
from numalign.model.pod import Pod
from numalign.values import NamedTuple

MAX_REPLICAS = 1000
"""Nobody counts further: without `maxPods` pods that ask for nothing fit for ever."""


class Variant(NamedTuple):
    """One kubelet on one machine."""

    setup: Setup
    option: str = ""
    """The policy option that is on here beside those of the configuration."""
    present: bool = False
    """It is the configuration as given."""


class Left(NamedTuple):
    """What is free of each resource in one place: CPUs, devices, or bytes of memory."""

    numa: int | None
    """NUMA node id; None: devices without a node."""
    free: Mapping[str, int]


class Comparison(NamedTuple):
    """What one variant does with the pods."""

    variant: Variant
    error: str = ""
    """Why the kubelet would not start."""
    outcomes: tuple[Outcome, ...] = ()
    """Of the first set, the pods as given; none after one that the kubelet does not survive."""
    replicas: int = 0
    """How many whole sets fit."""
    aligned_replicas: int = 0
    """How many of them have nothing that is not aligned."""
    refusal: Outcome | None = None
    """What ended the count, maybe a pod that is there already; None: it went up to `MAX_REPLICAS`, or no start."""
    stranded: tuple[Left, ...] = ()
    """What the refused pod found free, by ascending NUMA node id; last, what has no node."""
    absent: tuple[Outcome, ...] = ()
    """Pods said to be there already that this variant refuses."""

    @property
    def refused(self) -> Outcome | None:
        """The first of the pods as given that is refused, or the pod there already at which the kubelet fails."""
        return next(
            (outcome for outcome in self.outcomes if not outcome.admit), None if self.outcomes else self.refusal
        )


def variants(setup: Setup, *, options: Sequence[str]) -> Iterator[Variant]:
    """Yield every policy in every scope: as given, with each option, with the options that the machine's file suggests.

    Policy `none` knows neither scopes nor the Topology Manager's options, so it has one row.

    Args:
        setup: as given; all but policy, scope and tried options stay. A kubelet without scopes is tried in scope
            `container` alone.
        options: policy options of either manager, each tried by itself.
    """
    config, kubelet = setup.config, setup.kubelet
    known = [name for name in options if name in kubelet.options]
    bases = [("", config), *((name, apply(config, with_option(setup, name, True))) for name in known)]
    of_topology = {name for name in known if OPTIONS[name].manager == "topology"}
    if suggested(setup) != config:
        bases.append((suggestion(setup.machine), suggested(setup)))
        of_topology.add(suggestion(setup.machine))
    for option, base in bases:
        for policy in kubelet.policies:
            if policy == "none" and option in of_topology:
                continue
            for scope in kubelet.scopes if policy != "none" else (config.topology_manager_scope,):
                tried = base._replace(topology_manager_policy=policy, topology_manager_scope=scope)
                yield Variant(setup._replace(config=tried), option, tried == config)


def run(
    variant: Variant,
    pods: Sequence[Pod],
    beside: Sequence[Pod] = (),
    *,
    started: bool,
    on: Session | None = None,
) -> Comparison:
    """Admit pods and copies of them until one is refused.

    Args:
        variant: the kubelet and its machine.
        pods: one set.
        beside: pods that are there already.
        started: the containers of an admitted pod start before the next pod comes.
        on: the node as it is; None: empty.
    """
    try:
        session = open_session(variant.setup) if on is None else take_over(variant.setup, on)
    except StartError as error:
        return Comparison(variant, error.message)
    stream = admit_in_order(session, chain(beside, _copies(pods)), started=started)
    there = list(islice(stream, len(beside)))
    if there and there[-1].stage in ("panic", "hang"):
        return Comparison(variant, refusal=there[-1])
    absent = tuple(outcome for outcome in there if not outcome.admit)
    first = tuple(islice(stream, len(pods)))
    replicas = aligned_replicas = 0
    copies = first
    while (refusal := next(filter(_refused, copies), None)) is None and replicas < MAX_REPLICAS:
        replicas += 1
        aligned_replicas += all(aligned(one) is not False for one in copies)
        copies = tuple(islice(stream, len(pods)))
    stranded = () if refusal is None else tuple(left(refusal.before))
    return Comparison(
        variant=variant,
        outcomes=first,
        replicas=replicas,
        aligned_replicas=aligned_replicas,
        refusal=refusal,
        stranded=stranded,
        absent=absent,
    )


def _copies(pods: Sequence[Pod]) -> Iterator[Pod]:
    """Yield the pods, then copies of them without end."""
    yield from pods
    for number in count(2):
        for pod in pods:
            yield pod._replace(name=f"{pod.name}-copy-{number}", uid=f"{pod.uid}/copy-{number}")


def _refused(outcome: Outcome) -> bool:
    """Tell whether a pod ends the count; a critical pod that evicts another makes no room for one more."""
    return not outcome.admit or bool(outcome.fit and outcome.fit.preempted)


def left(session: Session) -> Iterator[Left]:
    """List what is free, NUMA node by NUMA node, then the devices without a node.

    CPUs are there where the static CPU policy gives them out, memory where the memory manager does.
    """
    node, state = session.node, session.state
    cpu = ("cpu",) if node.cpu.static else ()
    resources = (*cpu, *node.memory.places, *sorted(node.device.resources))
    for numa in sorted(numa.id for numa in node.machine.numa_nodes):
        # A node with a negative id has CPUs; to devices and memory it is no node at all.
        known = resources if numa >= 0 else cpu
        yield Left(numa, {name: available(node, state, name, numa)[0] for name in known})
    nowhere = _without_node(node, state)
    if nowhere:
        yield Left(None, nowhere)


def _without_node(node: Node, state: NodeState) -> dict[str, int]:
    found = {}
    for name, resource in sorted(node.device.resources.items()):
        here = (resource.no_topology | resource.nowhere) & resource.healthy
        if here:
            found[name] = (here & ~state.device.allocated.get(name, 0)).bit_count()
    return found
