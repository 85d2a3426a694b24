"""What `admit` shows: a row a container, a block a refusal; and the same for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.explain.alignment import Alignment, alignment
from numalign.explain.matrix import Matrix, Row, matrix
from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand
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


def admit_document(node: Node, base: str, origin: str, outcomes: Sequence[Outcome]) -> Document:
    """Build the table and, below it, why pods were refused."""
    rows = [row for outcome in outcomes for row in outcome_rows(node, outcome)]
    document: list[Line | Table] = [
        *(Line(text, "dim") for text in header(node, base, origin)),
        Line(),
        Table(COLUMNS, tuple(rows)),
    ]
    for outcome in outcomes:
        if not outcome.admit:
            document += [Line(), *refusal(node, outcome)]
    return document


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
    """Write a container's devices, resource by resource."""
    held = state.device.holdings.get(uid, {}).get(container.name, {})
    parts = []
    for name, amount in container.devices:
        if name in held:
            parts.append(f"{name}: {','.join(device.device_ids(node.device.resources[name], held[name]))}")
        elif name not in node.device.resources and amount:
            parts.append(f"{name}: none here")
    return "; ".join(parts) or NOTHING


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
    """Write the judgement: `yes, node 0`, `no: cpu on node 0, nvidia.com/gpu on node 1`."""
    if judged.aligned is None:
        return "-" if not judged.unplaced else f"- ({', '.join(judged.unplaced)}: node unknown)"
    where = f"yes, {nodes_text(judged.nodes)}"
    style: Style = "good"
    if not judged.aligned:
        places = ", ".join(f"{name} on {nodes_text(mask)}" for name, mask in judged.places.items())
        where, style = f"NO: {places}", "warn"
    if judged.unplaced:
        where += f" ({', '.join(judged.unplaced)}: node unknown)"
    return Styled(where, style)


def refusal(node: Node, outcome: Outcome) -> Document:
    """Tell one refusal so that a person can act on it."""
    where = f", container {outcome.result.container}" if outcome.result.container else ""
    document: list[Line | Table] = [Line(f"{outcome.pod.name}{where}: {outcome.reason or outcome.stage}", "bad")]
    if outcome.message:
        document.append(Line(f"  {outcome.message}"))
    if outcome.result.stage == "merge":
        table = matrix(node, outcome.demand, outcome.result.decisions[-1])
        document += [matrix_table(table), *(Line(f"  {text}") for text in failing(table, node))]
    return document


_SIGNS: dict[str, tuple[str, Style]] = {"enough": ("✓", "good"), "together": ("~", "warn"), "no": ("✗", "bad")}


def matrix_table(table: Matrix) -> Table:
    """Lay the matrix out: a row a resource, a column a NUMA node."""
    rows: list[tuple[Cell, ...]] = []
    for row in table.rows:
        cells: list[Cell] = []
        for cell in row.cells:
            sign, style = _SIGNS.get(cell.verdict, ("", ""))
            free, total = amount_text(row.resource, cell.free), amount_text(row.resource, cell.total)
            cells.append(Styled(f"{free} of {total} free {sign}".rstrip(), style))
        rows.append((row.resource, amount_text(row.resource, row.requested), *cells, could_use(table, row)))
    return Table(
        ("RESOURCE", "REQUESTED", *(f"NODE {numa}" for numa in table.nodes), "COULD USE"),
        tuple(rows),
        right=frozenset({"REQUESTED"}),
        indent=2,
    )


def could_use(table: Matrix, row: Row) -> str:
    """Say which nodes could hold a resource alone, or how many it takes."""
    if row.cells and all(cell.verdict == "any" for cell in row.cells):
        return "any node"
    alone = sum(1 << numa for numa, cell in zip(table.nodes, row.cells, strict=True) if cell.verdict == "enough")
    if alone:
        return nodes_text(alone)
    if not row.possible:
        return f"nothing: {amount_text(row.resource, row.free)} free in all"
    return "no single node, several together"


def failing(table: Matrix, node: Node) -> Iterable[str]:
    """Say in words where the resources fail to meet."""
    short = [row for row in table.rows if not row.possible]
    for row in short:
        yield (
            f"{row.resource}: {amount_text(row.resource, row.requested)} asked, "
            f"{amount_text(row.resource, row.free)} free on the whole machine"
        )
    if short:
        return
    single = node.policy == "single-numa-node"
    wide = [row for row in table.rows if row.width > 1]
    if single and wide:
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
        yield "no node has all of it at once: " + "; ".join(
            f"node {numa} lacks {', '.join(row.resource for row in table.rows if _lacks(row, place))}"
            for place, numa in enumerate(table.nodes)
            if any(_lacks(row, place) for row in table.rows)
        )
    else:
        yield f"no set of {width} nodes has all of it at once"


def _lacks(row: Row, place: int) -> bool:
    return row.cells[place].verdict in ("no", "together")


def admit_names(outcomes: Sequence[Outcome]) -> list[str]:
    """Name the admitted pods, as `kubectl -o name` does."""
    return [f"pod/{outcome.pod.name}" for outcome in outcomes if outcome.admit]
