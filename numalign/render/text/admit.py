"""What `admit` shows: a row a container, a block a refusal; and the same for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.analysis.alignment import Alignment, alignment
from numalign.kubelet import device
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.profile import REFERENCE, REFERENCE_RELEASE, Profile, version
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import format_set
from numalign.model.machine import Machine
from numalign.render.page.document import Cell, Document, Line, Style, Styled, Table
from numalign.render.text.amounts import bytes_text, nodes_text
from numalign.render.text.drawing import draw, seats

COLUMNS = ("POD", "RESULT", "QOS", "CONTAINER", "HINT", "CPUS", "DEVICES", "MEMORY", "ALIGNED")
NOTHING = "-"


def admit_document(node: Node, base: str, origin: str, outcomes: Sequence[Outcome]) -> Document:
    """Build the table and, below it, why pods were refused; last how many of several are in, and where to read on."""
    rows = [row for outcome in outcomes for row in outcome_rows(node, outcome)]
    document: list[Line | Table] = [
        *(Line(text, "dim") for text in header(node, base, origin)),
        Line(),
        Table(COLUMNS, tuple(rows)),
    ]
    document += _refusals(node, outcomes)
    several, refused = len(outcomes) > 1, not all(outcome.admit for outcome in outcomes)
    if several or refused:
        document.append(Line())
    if several:
        document.append(Line(_summary(node, outcomes), "bold"))
    if refused:
        document.append(Line("What would change that: numalign explain with the same pods, machine and flags", "dim"))
    return document


def _refusals(node: Node, outcomes: Sequence[Outcome]) -> Iterable[Line | Table]:
    """Tell the refusals; pods in a row that are refused alike are told once."""
    groups: list[tuple[Outcome, int]] = []
    for outcome in outcomes:
        if outcome.admit:
            continue
        if groups and _alike(groups[-1][0], outcome):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((outcome, 1))
    for first, count in groups:
        yield Line()
        yield from refusal(node, first, count)


def _alike(one: Outcome, other: Outcome) -> bool:
    """Tell whether two refused pods asked for the same and found the same."""
    return (one.demand.containers, one.message, one.before.state) == (
        other.demand.containers,
        other.message,
        other.before.state,
    )


def _summary(node: Node, outcomes: Sequence[Outcome]) -> str:
    admitted = [outcome for outcome in outcomes if outcome.admit]
    apart = sum(
        any(
            alignment(node, outcome.after, outcome.demand.uid, container).aligned is False
            for container in outcome.demand.containers
        )
        for outcome in admitted
    )
    return f"{len(admitted)} of {len(outcomes)} pods admitted" + (f", {apart} of them not aligned" if apart else "")


def drawing(node: Node, outcomes: Sequence[Outcome], width: int) -> Document:
    """Draw where the containers of the admitted pods sit after the last admission."""
    state = outcomes[-1].then.state
    drawn = seats(
        node,
        state,
        (
            (outcome.demand.uid, container.name, f"{outcome.pod.name}/{container.name}")
            for outcome in outcomes
            if outcome.admit
            for container in outcome.demand.containers
        ),
    )
    return [Line(), *map(Line, draw(node, state, drawn, width))]


def lacking(outcome: Outcome) -> tuple[str, ...]:
    """Name the devices that a pod asks for and that this machine has no plugin of: it runs without them."""
    plugins = outcome.before.node.device.resources
    asked = (amount for container in outcome.demand.containers for amount in container.devices)
    return tuple(name for name, amount in asked if amount and name not in plugins)


def machine_line(machine: Machine, origin: str) -> str:
    """Name the machine, where it comes from and how large it is."""
    nodes, cpus = len(machine.numa_nodes), machine.cpus.bit_count()
    return f"machine: {machine.name} ({origin}), {nodes} NUMA node{'s' * (nodes != 1)}, {cpus} CPUs"


def header(node: Node, base: str, origin: str) -> tuple[str, ...]:
    """Name the machine on one line, the base and the settings in force on the next; then what is no kubelet's today."""
    config = node.config
    settings = [
        f"policy {config.topology_manager_policy}, scope {config.topology_manager_scope}",
        f"CPU manager {config.cpu_manager_policy}",
        f"memory manager {config.memory_manager_policy}",
    ]
    if node.cpu.reserved:
        settings.append(f"reserved CPUs {format_set(node.cpu.reserved)}")
    return (
        machine_line(node.machine, origin),
        f"kubelet: {base} base, {', '.join(settings)}",
        *(_labels(node.profile) if node.profile is not REFERENCE else ()),
    )


def _labels(profile: Profile) -> Iterable[str]:
    """Say in how far this is not today's kubelet."""
    if profile.release != REFERENCE_RELEASE:
        yield f"history: as kubelet {version(profile.release)} decided"
    if profile.policies:
        yield "beyond the kubelet: a policy that was only proposed, in 2019"
    if profile.preferred_allocation == "proposal":
        yield "beyond the kubelet: preferred allocations as proposed in 2019"
    if profile.per_pod_policy:
        yield "beyond the kubelet: pods choose policy and scope by annotations"


def outcome_rows(node: Node, outcome: Outcome) -> Iterable[tuple[Cell, ...]]:
    """Lay one pod out under `COLUMNS`: a row a container, one for a refusal."""
    name = outcome.pod.name
    if not outcome.admit:
        failed = outcome.result.container or NOTHING
        yield (name, Styled(outcome.reason or outcome.stage, "bad"), outcome.pod.qos, failed, *[NOTHING] * 5)
        return
    for container in outcome.demand.containers:
        judged = alignment(node, outcome.after, outcome.demand.uid, container)
        yield (
            name,
            Styled("admitted", "good"),
            outcome.pod.qos,
            container.name if container.kind == "app" else f"{container.name} ({container.kind})",
            hint_text(outcome.result.hints[container.name]),
            cpus_text(node, outcome.after, outcome.demand.uid, container),
            devices_text(node, outcome.after, outcome.demand.uid, container),
            memory_text(outcome.after, outcome.demand.uid, container),
            alignment_text(judged),
        )


def hint_text(hint: TopologyHint) -> str:
    """Write the stored hint."""
    if hint.numa_affinity is None and not hint.preferred:
        return NOTHING
    return nodes_text(hint.numa_affinity) + ("" if hint.preferred else ", not preferred")


def cpus_text(node: Node, state: NodeState, uid: str, container: ContainerDemand) -> str:
    """Write a container's exclusive CPUs, or that it runs in the shared pool."""
    if not node.cpu.static:
        return "all"
    cpus = state.cpu.assigned(uid, container.name)
    return "shared pool" if cpus is None else format_set(cpus)


def devices_text(node: Node, state: NodeState, uid: str, container: ContainerDemand) -> str:
    """Write a container's devices, resource by resource: `nvidia.com/gpu [gpu0,gpu1]`."""
    held = state.device.holdings.get(uid, {}).get(container.name, {})
    parts = []
    for name, amount in container.devices:
        if name in held:
            parts.append(f"{name} [{','.join(device.device_ids(node.device.resources[name], held[name]))}]")
        elif name not in node.device.resources and amount:
            parts.append(f"{name} [none here]")
    return ", ".join(parts) or NOTHING


def memory_text(state: NodeState, uid: str, container: ContainerDemand) -> str:
    """Write a container's pinned memory and huge pages with the nodes they come from."""
    blocks = state.memory.blocks(uid, container.name) or ()
    return (
        ", ".join(
            f"{bytes_text(block.size)}{'' if block.type == 'memory' else ' ' + block.type} on {nodes_text(block.mask)}"
            for block in blocks
        )
        or NOTHING
    )


def alignment_text(judged: Alignment) -> Cell:
    """Write the judgement: `yes, node 0`, `NO: cpu, memory on node 0; nvidia.com/gpu on node 1`."""
    if judged.aligned is None:
        return "-" if not judged.unplaced else f"- ({', '.join(judged.unplaced)}: node unknown)"
    where = f"yes, {nodes_text(judged.nodes)}"
    style: Style = "good"
    if not judged.aligned:
        together: dict[int, list[str]] = {}
        for name, mask in judged.places.items():
            together.setdefault(mask, []).append(name)
        places = "; ".join(f"{', '.join(names)} on {nodes_text(mask)}" for mask, names in together.items())
        where, style = f"NO: {places}", "warn"
    if judged.unplaced:
        where += f" ({', '.join(judged.unplaced)}: node unknown)"
    return Styled(where, style)


def refusal(node: Node, outcome: Outcome, count: int = 1) -> Document:
    """Tell one refusal so that a person can act on it; `count` pods are refused alike."""
    from numalign.analysis.refusal import refusal as take_apart
    from numalign.render.text.matrix import matrix_table
    from numalign.render.text.refusal import why

    told = take_apart(outcome)
    more = f" and {count - 1} more" if count > 1 else ""
    where = f", container {told.container}" if told.container else ""
    document: list[Line | Table] = [Line(f"{outcome.pod.name}{more}{where}: {told.reason or told.stage}", "bad")]
    if told.reason and told.message:
        document.append(Line(f"  {told.message}"))
    if told.matrix is not None and told.matrix.rows:
        document.append(matrix_table(told.matrix))
    return [*document, *(Line(f"  {text}") for text in why(told, node))]


def admit_names(outcomes: Sequence[Outcome]) -> list[str]:
    """Name the admitted pods, as `kubectl -o name` does."""
    return [f"pod/{outcome.pod.name}" for outcome in outcomes if outcome.admit]
