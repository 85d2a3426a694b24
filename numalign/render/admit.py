"""What `admit` shows: a row a container, a block a refusal; and the same for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.explain.alignment import Alignment, alignment
from numalign.explain.matrix import Cell as MatrixCell
from numalign.explain.matrix import Matrix, Row, available, matrix
from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.fit import Shortage
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.profile import REFERENCE, REFERENCE_RELEASE, Profile, version
from numalign.kubelet.session import Outcome
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import format_set
from numalign.render.amounts import amount_text, bytes_text, nodes_text
from numalign.render.document import Cell, Document, Line, Style, Styled, Table
from numalign.render.drawing import draw, seats

COLUMNS = ("POD", "RESULT", "QOS", "CONTAINER", "HINT", "CPUS", "DEVICES", "MEMORY", "ALIGNED")
NOTHING = "-"
FEW_NODES = 4
"""So many columns are read at a glance."""


def admit_document(node: Node, base: str, origin: str, outcomes: Sequence[Outcome]) -> Document:
    """Build the table and, below it, why pods were refused; of several pods last how many are in."""
    rows = [row for outcome in outcomes for row in outcome_rows(node, outcome)]
    document: list[Line | Table] = [
        *(Line(text, "dim") for text in header(node, base, origin)),
        Line(),
        Table(COLUMNS, tuple(rows)),
    ]
    document += _refusals(node, outcomes)
    if len(outcomes) > 1:
        document += [Line(), Line(_summary(node, outcomes), "bold")]
    return document


def _refusals(node: Node, outcomes: Sequence[Outcome]) -> Iterable[Line | Table]:
    """Tell the refusals; pods in a row that are refused alike are told once."""
    groups: list[tuple[Outcome, Document, int]] = []
    for outcome in outcomes:
        if outcome.admit:
            continue
        told = refusal(node, outcome)[1:]
        if groups:
            first, same, count = groups[-1]
            if (_failed(first), same) == (_failed(outcome), told):
                groups[-1] = (first, same, count + 1)
                continue
        groups.append((outcome, told, 1))
    for first, told, count in groups:
        yield Line()
        yield _title(first, count)
        yield from told


def _failed(outcome: Outcome) -> tuple[str, str | None]:
    return outcome.reason or outcome.stage, outcome.result.container


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


def header(node: Node, base: str, origin: str) -> tuple[str, ...]:
    """Name the machine on one line, the base and the settings in force on the next; then what is no kubelet's today."""
    config, machine = node.config, node.machine
    nodes, cpus = len(machine.numa_nodes), machine.cpus.bit_count()
    settings = [
        f"policy {config.topology_manager_policy}, scope {config.topology_manager_scope}",
        f"CPU manager {config.cpu_manager_policy}",
        f"memory manager {config.memory_manager_policy}",
    ]
    if node.cpu.reserved:
        settings.append(f"reserved CPUs {format_set(node.cpu.reserved)}")
    return (
        f"machine: {machine.name} ({origin}), {nodes} NUMA node{'s' * (nodes != 1)}, {cpus} CPUs",
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


def refusal(node: Node, outcome: Outcome) -> Document:
    """Tell one refusal so that a person can act on it."""
    document: list[Line | Table] = [_title(outcome)]
    if outcome.message:
        document.append(Line(f"  {outcome.message}"))
    if outcome.result.stage == "merge":
        table = matrix(node, outcome.demand, outcome.result.decisions[-1])
        document += [matrix_table(table), *(Line(f"  {text}") for text in failing(table, node))]
    elif outcome.stage == "fit" and outcome.fit:
        document += [Line(f"  {shortage_text(one)}") for one in outcome.fit.failures if isinstance(one, Shortage)]
    elif outcome.result.provider == "memory":
        document += [Line(f"  {text}") for text in _memory_left(node, outcome)]
    return document


def _memory_left(node: Node, outcome: Outcome) -> Iterable[str]:
    """Say how much memory there was; the Memory Manager's message has no amounts."""
    for container in outcome.demand.containers:
        if container.name == outcome.result.container:
            for resource, asked in container.memory or ():
                free = sum(available(node, outcome.after, resource, numa.id)[0] for numa in node.machine.numa_nodes)
                yield (
                    f"{resource}: {amount_text(resource, asked)} asked, {amount_text(resource, free)} free on the "
                    "whole machine"
                )


def _title(outcome: Outcome, count: int = 1) -> Line:
    more = f" and {count - 1} more" if count > 1 else ""
    where = f", container {outcome.result.container}" if outcome.result.container else ""
    return Line(f"{outcome.pod.name}{more}{where}: {outcome.reason or outcome.stage}", "bad")


def shortage_text(short: Shortage) -> str:
    """Say what the node as a whole lacks, in the units in which people ask for it."""
    asked, used, there = (
        _whole_or_milli(amount) if short.resource == "cpu" else amount_text(short.resource, amount)
        for amount in (short.requested, short.used, short.capacity)
    )
    if not short.capacity:
        return f"{short.resource}: {asked} asked, and the node has none"
    return f"{short.resource}: {asked} asked, {used} of the node's {there} taken by other pods"


def _whole_or_milli(amount: int) -> str:
    return f"{amount}m" if amount % 1000 else str(amount // 1000)


_SIGNS: dict[str, tuple[str, Style]] = {"enough": ("✓", "good"), "together": ("~", "warn"), "no": ("✗", "bad")}


def matrix_table(table: Matrix) -> Table:
    """Lay the matrix out: a row a resource, a column a NUMA node; of many nodes those that are alike share one."""
    columns = _alike(table)
    rows: list[tuple[Cell, ...]] = []
    for row in table.rows:
        cells: list[Cell] = []
        for places in columns:
            cell = row.cells[places[0]]
            sign, style = _SIGNS.get(cell.verdict, ("", ""))
            free, total = amount_text(row.resource, cell.free), amount_text(row.resource, cell.total)
            cells.append(Styled(f"{free} of {total} {sign}".rstrip(), style))
        rows.append((row.resource, amount_text(row.resource, row.requested), *cells, could_use(table, row)))
    titles = (f"{nodes_text(_mask(table, places)).upper()} FREE{', EACH' * (len(places) > 1)}" for places in columns)
    return Table(("RESOURCE", "REQUESTED", *titles, "COULD USE"), tuple(rows), right=frozenset({"REQUESTED"}), indent=2)


def _alike(table: Matrix) -> list[list[int]]:
    """Group the places of nodes that have the same of everything; a few nodes stay apart."""
    if len(table.nodes) <= FEW_NODES:
        return [[place] for place in range(len(table.nodes))]
    groups: dict[tuple[MatrixCell, ...], list[int]] = {}
    for place in range(len(table.nodes)):
        groups.setdefault(tuple(row.cells[place] for row in table.rows), []).append(place)
    return list(groups.values())


def _mask(table: Matrix, places: Iterable[int]) -> int:
    return sum(1 << table.nodes[place] for place in places)


def could_use(table: Matrix, row: Row) -> str:
    """Say which nodes could hold a resource alone, or that it takes several."""
    alone = [place for place, cell in enumerate(row.cells) if cell.verdict in ("enough", "any")]
    if row.cells and len(alone) == len(row.cells):
        return "any node"
    if alone:
        return ("one of " if len(alone) > 1 else "") + nodes_text(_mask(table, alone))
    return "several nodes together" if row.possible else "nothing"


def failing(table: Matrix, node: Node) -> Iterable[str]:
    """Say in words where the resources fail to meet."""
    short = [row for row in table.rows if not row.possible]
    for row in short:
        yield (
            f"{row.resource}: {amount_text(row.resource, row.requested)} asked, "
            f"{amount_text(row.resource, row.free)} free on the whole machine"
            + (", but not on nodes that may be used together" if row.free >= row.requested else "")
        )
    if short:
        return
    wide = [row for row in table.rows if row.width > 1]
    if node.policy == "single-numa-node" and wide:
        for row in wide:
            asked = amount_text(row.resource, row.requested)
            yield f"{row.resource}: {asked} never fits one node, it takes {row.width}"
        return
    widths = {row.width for row in table.rows if row.width}
    if len(widths) > 1:
        needs = ", ".join(f"{row.resource} needs {row.width}" for row in table.rows if row.width)
        yield f"under {node.policy} all resources must prefer the same nodes, and they differ in how many: {needs}"
        return
    width = next(iter(widths), 1)
    if width == 1:
        yield f"no node has all of it at once: {'; '.join(_lacking(table))}"
    else:
        yield f"no set of {width} nodes has all of it at once"


def _lacking(table: Matrix) -> Iterable[str]:
    """Say what each node lacks: `node 0 lacks cpu`, `nodes 1-3 lack nvidia.com/gpu`."""
    groups: dict[str, list[int]] = {}
    for place in range(len(table.nodes)):
        lacks = [row.resource for row in table.rows if row.cells[place].verdict in ("no", "together")]
        if lacks:
            groups.setdefault(", ".join(lacks), []).append(place)
    for names, places in groups.items():
        yield f"{nodes_text(_mask(table, places))} lack{'s' * (len(places) == 1)} {names}"


def admit_names(outcomes: Sequence[Outcome]) -> list[str]:
    """Name the admitted pods, as `kubectl -o name` does."""
    return [f"pod/{outcome.pod.name}" for outcome in outcomes if outcome.admit]
