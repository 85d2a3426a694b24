"""What `admit` shows: a row a container, a verdict in a cell, a block a refusal; and the same for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from numalign.kubelet.releases.release import Kubelet, version_text
from numalign.kubelet.releases.table import head_text, is_history
from numalign.model.cpuset import format_set
from numalign.render.page.document import (
    NOTHING,
    Block,
    Cell,
    Document,
    Note,
    Paragraph,
    Picture,
    Style,
    Styled,
    Table,
    Title,
)
from numalign.render.text.alignment import WORDS, bus_lines, near_lines, reasons, together_lines
from numalign.render.text.amounts import bytes_text, ids_text, nodes_text
from numalign.render.text.drawing import draw

if TYPE_CHECKING:
    from numalign.analysis import Verdict
    from numalign.analysis.alignment import Alignment
    from numalign.analysis.holding import Holding
    from numalign.analysis.refusal import Refusal
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.model.machine import Machine
    from numalign.results.admit import AdmitResult, Gang, PodResult, RefusedAlike
    from numalign.results.node import PodStatus


def verdict_cell(judged: Alignment) -> Cell:
    """Write the verdict on a container: `yes, NUMA 0`, `no: spread`."""
    if judged.verdict == "aligned":
        return Styled(f"{WORDS['aligned']}, {nodes_text(judged.nodes)}", "good")
    return verdict_word(judged.verdict)


def verdict_word(verdict: Verdict) -> Cell:
    """Write the verdict on several containers: `yes`, `no: spread`."""
    style: Style = "good" if verdict == "aligned" else "" if verdict == "none" else "warn"
    return Styled(WORDS[verdict], style)


FIXABLE = {"spread", "floating"}
"""Verdicts that `explain` says more of."""
COLUMNS = ("POD", "RESULT", "QOS", "CONTAINER", "HINT", "CPUS", "DEVICES", "MEMORY", "ALIGNED")


def admit_document(result: AdmitResult, origin: str, *, wide: bool = False) -> Document:
    """Build the table and, below it, how many of several are in, and why others are not; `wide`: with every column."""
    pods = result.pods
    name = named(pods)
    short = {} if wide else short_names(pods)
    rows = [row for pod in pods for row in pod_rows(pod, name(pod), exclusive_cpus=result.exclusive_cpus, short=short)]
    if result.claims is not None:
        from numalign.render.text.claimed import with_verdicts

        rows = with_verdicts(rows, pods, result.claims)
    several = any(len(pod.containers) > 1 for pod in pods)  # a container needs its name only beside others
    droppable = ("QOS", "HINT", *["CONTAINER"] * (not several))
    document: list[Block] = [
        *(Note(text, "dim") for text in header(result.setup, origin, result.reserved_cpus)),
        Paragraph(),
        Table(COLUMNS, tuple(rows), droppable=() if wide else droppable),
    ]
    apart = list(reasons(pods))
    close = list(bus_lines(pods))
    near = list(near_lines(pods))
    if apart or close or near:
        document += [Paragraph(), *(Note(text, "warn") for text in apart), *map(Paragraph, near), *close]
    sums = [summary(pods)] * (len(pods) > 1) + [gang_text(gang) for gang in result.gangs]
    document += [Paragraph()] * bool(sums) + [Title(text) for text in sums]
    document += map(Paragraph, together_lines(result.together))
    for group in result.refusals:
        document += [Paragraph(), *refusal_document(group)]
    if result.claims is not None:
        from numalign.render.text.claimed import claims_document

        document += claims_document(result.claims)
    if any(not pod.admitted or {one.alignment.verdict for one in pod.containers} & FIXABLE for pod in pods):
        document += [Paragraph(), Note("For fixes, run numalign explain with the same arguments.", "dim")]
    return document


def gang_text(gang: Gang) -> str:
    """Say how much of a gang comes up: `MPIJob train: 7 of 8 fit (launcher 1 of 1, worker 6 of 7)`."""
    parts = ", ".join(f"{role or 'others'} {admitted} of {wanted}" for role, admitted, wanted in gang.roles)
    return f"{gang.kind} {gang.name}: {gang.admitted} of {gang.wanted} fit" + (f" ({parts})" if parts else "")


def summary(pods: Sequence[PodResult]) -> str:
    """Count the pods that are admitted, and of these those that are not aligned."""
    admitted = [pod for pod in pods if pod.admitted]
    apart = sum(pod.aligned is False for pod in admitted)
    return f"{len(admitted)} of {len(pods)} pods admitted{f', {apart} of these not aligned' * bool(apart)}."


def drawing(result: AdmitResult, width: int) -> Document:
    """Draw where the containers of the admitted pods sit after the last admission."""
    return [Paragraph(), Picture(tuple(draw(result.setup.machine, result.reserved_cpus, result.occupants, width)))]


def machine_line(machine: Machine, origin: str) -> str:
    """Name the machine, where it comes from and how large it is."""
    nodes, cpus = len(machine.numa_nodes), machine.cpus.bit_count()
    return f"{machine.name} ({origin}): {nodes} NUMA node{'s' * (nodes != 1)}, {cpus} CPUs"


def setup_line(setup: Setup, origin: str, release: str = "") -> str:
    """Name the machine, the kubelet and its base."""
    release = release or head_text(setup.kubelet.version)
    return f"{machine_line(setup.machine, origin)}; kubelet {release}, {setup.base} defaults"


def header(setup: Setup, origin: str, reserved_cpus: int, release: str = "") -> tuple[str, ...]:
    """Name the machine on one line, the base and the settings in force on the next; then what is no kubelet's today."""
    config = setup.config
    settings = [
        f"{config.topology_manager_policy}, scope {config.topology_manager_scope}",
        f"CPU Manager {config.cpu_manager_policy}",
        f"Memory Manager {config.memory_manager_policy}",
    ]
    if reserved_cpus:
        settings.append(f"reserved CPUs {format_set(reserved_cpus)}")
    return (
        setup_line(setup, origin, release),
        ", ".join(settings),
        *labels(setup.kubelet),
    )


def labels(kubelet: Kubelet) -> Iterable[str]:
    """Say in how far this is not today's kubelet."""
    if is_history(kubelet.version):
        yield f"historical: decisions of kubelet {version_text(kubelet.version)}"


def pod_rows(
    pod: PodResult, name: str = "", *, exclusive_cpus: bool, short: Mapping[str, str] = {}
) -> Iterable[tuple[Cell, ...]]:
    """Lay one pod out under `COLUMNS`: a row a container, one for a refusal.

    Args:
        pod: what became of it.
        name: how it is named; empty: by its name alone.
        exclusive_cpus: whether the CPU manager allocates CPUs at all.
        short: resource -> its short name.
    """
    if not pod.admitted:
        failed = pod.refused_at or NOTHING
        yield (name or pod.name, Styled(pod.reason or pod.stage, "bad"), pod.qos, failed, *[NOTHING] * 5)
        return
    for container in pod.containers:
        yield (
            name or pod.name,
            result_cell(pod),
            pod.qos,
            container.name if container.kind == "app" else f"{container.name} ({container.kind})",
            hint_text(container.hint),
            (container.cpus or "shared pool") if exclusive_cpus else "all",
            devices_text(container.holding, short),
            memory_text(container.holding),
            verdict_cell(container.alignment),
        )


def result_cell(pod: PodResult) -> Cell:
    """Say that a pod is admitted, and without what."""
    if pod.missing:
        return Styled(f"admitted, without {', '.join(pod.missing)}", "warn")
    return Styled("admitted", "good")


def hint_text(hint: TopologyHint) -> str:
    """Write the stored hint."""
    if hint.numa_affinity is None and not hint.preferred:
        return NOTHING
    return nodes_text(hint.numa_affinity) + ("" if hint.preferred else ", not preferred")


def short_names(pods: Iterable[PodResult | PodStatus]) -> dict[str, str]:
    """Give each device resource the part behind its slash, where that is unique."""
    holdings = [one.holding for pod in pods for one in pod.containers]
    names = {name for one in holdings for name in (*(held.resource for held in one.devices), *one.missing)}
    ends = [name.rpartition("/")[2] for name in names]
    return {name: end for name in names if ends.count(end := name.rpartition("/")[2]) == 1}


def devices_text(holding: Holding, short: Mapping[str, str] = {}) -> str:
    """Write a container's devices, resource by resource: `nvidia.com/gpu gpu0`, `gpu ×2 (gpu0–1)` with short names."""
    parts = {held.resource: _ids(held.ids) for held in holding.devices}
    parts |= dict.fromkeys(holding.missing, "(none here)")
    return ", ".join(f"{short.get(name, name)} {parts[name]}" for name in sorted(parts)) or NOTHING


def _ids(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"×{len(ids)} ({ids_text(ids, most=len(ids))})"


def memory_text(holding: Holding) -> str:
    """Write a container's pinned memory and huge pages with the nodes they come from."""
    blocks = (
        f"{bytes_text(block.size)}{'' if block.type == 'memory' else ' ' + block.type} on {nodes_text(block.mask)}"
        for block in holding.memory
    )
    return ", ".join(blocks) or NOTHING


def refusal_document(group: RefusedAlike) -> Document:
    """Tell one refusal so that a person can act on it."""
    from numalign.analysis.reasons.order import reasons
    from numalign.render.text.details import numbers_text
    from numalign.render.text.matrix import matrix_notes, matrix_table
    from numalign.render.text.words import lines

    told = group.refusal
    more = f" and {group.number - 1} more" if group.number > 1 else ""
    where = f" at container {told.container}" if told.container else ""
    document: list[Block] = [Note(f"{group.first.name}{more}: {_rejected(told)}{where}", "bad")]
    document += [Paragraph(text, 2) for text in lines(reasons(told))]
    if told.message:
        document.append(Paragraph(f'Kubelet: "{told.message}"' if told.reason else told.message, 2))
    if meaning := numbers_text(told):
        document.append(Paragraph(meaning, 2))
    if told.matrix is not None and told.matrix.rows:
        table = told.matrix.of_parts() if told.odd_cores else told.matrix
        document += [Paragraph(), matrix_table(table), *(Paragraph(text, 2) for text in matrix_notes(table))]
    return document


def _rejected(refusal: Refusal) -> str:
    """Say what becomes of a pod that is not admitted."""
    if refusal.crash is None:
        return "rejected"
    return "hangs the kubelet" if refusal.stage == "hang" else "crashes the kubelet"


def admit_names(pods: Iterable[PodResult]) -> list[str]:
    """Name the admitted pods, as `kubectl -o name` does."""
    pods = tuple(pods)
    name = named(pods)
    return [f"pod/{name(pod)}" for pod in pods if pod.admitted]


def named(pods: Iterable[PodResult]) -> Callable[[PodResult], str]:
    """Say how pods are named: with their namespace as soon as there are two."""
    return attrgetter("full_name" if len({pod.namespace for pod in pods}) > 1 else "name")
