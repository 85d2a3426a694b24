"""What `compare` shows: a row a variant, and below it why some reject; of equal machines one stands for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.render.page.document import NOTHING, Block, Cell, Document, Note, Paragraph, Styled, Table, Title
from numalign.render.text.admit import hint_text, labels, setup_line, verdict_word
from numalign.render.text.alignment import reasons as apart
from numalign.render.text.amounts import listed
from numalign.render.text.stranded import MAX_NODES_ADDED, on_numbered_nodes, per_node_text, stranded_sum, stranded_text
from numalign.render.text.variants import MAX_HINTS_SHOWN, variant_names
from numalign.render.text.words import why
from numalign.results.compare import ComparedMachine, ComparedRow, CompareResult
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.results.admit import PodResult

COLUMNS = (
    *("", "MACHINE", "POLICY", "SCOPES", "OPTION", "RESULT", "HINT", "ALIGNED", "COPIES", "THEN", "STRANDED"),
    "WITH CLAIMS",
)


def compare_document(result: CompareResult, origins: Sequence[str], *, wide: bool = False) -> Document:
    """Build the header, the table, and below it what the rows have no room for.

    Args:
        result: the comparison, with refusals taken apart.
        origins: where each machine came from.
        wide: leave nothing out of a row.
    """
    nodes, (result, origins) = result, _grouped(result, origins)
    rows = result.rows
    document: list[Block] = [Note(text, "dim") for text in _header(result, origins)]
    document += [Paragraph(), _table(rows, wide=wide, machines=len(result.machines) > 1)]
    document += _legend(rows)
    document += _told(rows)
    document += [Paragraph(), Title(compare_verdict(result))]
    if len(nodes.machines) > 1:
        document.append(Title(sum_text(most_aligned(nodes), len(nodes.machines))))
    document += [] if wide else map(Paragraph, _stranded_apart(rows))
    if any(one.claims is not None for one in rows):
        document.append(Paragraph(_with_claims(rows)))
    return document


def _grouped(result: CompareResult, origins: Sequence[str]) -> tuple[CompareResult, Sequence[str]]:
    """Let one machine stand for all that show the same: `node-1 and 11 more`."""
    groups: dict[object, list[int]] = {}
    for place, machine in enumerate(result.machines):
        unnamed = machine.setup.machine._replace(name="")
        head = tuple(_header(result._replace(machines=(_named(machine, unnamed),)), ("",)))
        rows = tuple((one.option, one.present, *_row(one, wide=True)) for one in machine.rows)
        groups.setdefault((head, rows), []).append(place)
    machines = []
    for first, *others in groups.values():
        one = result.machines[first]
        name = f"{one.setup.machine.name}{f' and {len(others)} more' * bool(others)}"
        machines.append(_named(one, one.setup.machine._replace(name=name)))
    return result._replace(machines=tuple(machines)), [origins[first] for first, *_ in groups.values()]


def _named(compared: ComparedMachine, machine: Machine) -> ComparedMachine:
    """Show another machine in its place."""
    rows = [one._replace(setup=one.setup._replace(machine=machine)) for one in compared.rows]
    return compared._replace(setup=compared.setup._replace(machine=machine), rows=tuple(rows))


def alike(documents: Iterable[Document]) -> Iterator[Document]:
    """Let one node stand for all whose documents differ in name and place alone: `node-1 and 11 more`."""
    groups: dict[str, list[tuple[Note, Document]]] = {}
    for document in documents:
        head, rest = document[0], document[1:]
        if isinstance(head, Note):
            groups.setdefault(repr((head.text.partition("): ")[2], rest)), []).append((head, rest))
    for (head, rest), *others in groups.values():
        name, _, tail = head.text.partition(" (")
        yield [head._replace(text=f"{name}{f' and {len(others)} more' * bool(others)} ({tail}"), *rest]


def most_aligned(result: CompareResult) -> dict[str, int]:
    """Add up the aligned copies of all machines by policy; other options are left out."""
    sums = Counter[str]()
    for machine in result.machines:
        best: dict[str, int] = {}
        for one in machine.rows:
            policy = one.setup.config.topology_manager_policy
            if not one.option:
                best[policy] = max(best.get(policy, 0), one.aligned_replicas)
        sums.update(best)
    return sums


def sum_text(sums: Mapping[str, int], nodes: int) -> str:
    """Say how many copies are aligned on all nodes, under the policy that has the most."""
    most = max(sums.values())
    names = listed([policy for policy, count in sums.items() if count == most])
    return f"Over all {nodes} nodes: at most {most} aligned copies, under {names}."


def _legend(rows: Sequence[ComparedRow]) -> Iterator[Block]:
    """Say what the signs of the table mean."""
    present = next((one for one in rows if one.present), None)
    apart = next((one for one in rows if one.aligned_replicas != one.replicas and not one.error), None)
    texts = []
    if present is not None:
        policy, scope = present.setup.config.topology_manager_policy, present.setup.config.topology_manager_scope
        texts.append(f"* current settings{f', scope {scope}' * (policy != 'none')}")
    if apart is not None:
        number = f"{apart.replicas}{'' if apart.ended else ' or more'} ({apart.aligned_replicas})"
        texts.append(f"{number}: {apart.aligned_replicas} of {apart.replicas} copies are aligned")
    if texts:
        yield Note("   ".join(texts), "dim")


def _merged(rows: Sequence[ComparedRow], *, wide: bool) -> Iterator[tuple[ComparedRow, str, bool]]:
    """Merge rows that differ in scope alone: the first, the scopes, and whether one has the current settings."""

    def key(one: ComparedRow) -> tuple[object, ...]:
        policy, _, *cells = _row(one, wide=wide)
        claims = one.claims and repr([(pod.pod, pod.containers) for pod in one.claims.pods])
        return one.setup.machine.name, one.option, policy, *cells, claims

    for group in grouped((key(one), one) for one in rows).values():
        config = group[0].setup.config
        scopes = ", ".join(dict.fromkeys(one.setup.config.topology_manager_scope for one in group))
        yield group[0], NOTHING if config.topology_manager_policy == "none" else scopes, any(x.present for x in group)


def _header(result: CompareResult, origins: Sequence[str]) -> Iterator[str]:
    found: dict[str, None] = {}
    for machine, origin in zip(result.machines, origins, strict=True):
        config = machine.rows[0].setup.config
        yield setup_line(machine.setup, origin)
        settings = [f"CPU Manager {config.cpu_manager_policy}", f"Memory Manager {config.memory_manager_policy}"]
        if config.reserved_system_cpus:
            settings.append(f"reserved CPUs {config.reserved_system_cpus}")
        given = {**(config.topology_manager_policy_options or {}), **(config.cpu_manager_policy_options or {})}
        settings += [f"{name}={value}" for name, value in given.items()]
        yield ", ".join(settings)
        if any(one.pods for one in machine.rows):
            found.update(dict.fromkeys(labels(machine.setup.kubelet)))
    yield from found


def _table(rows: Sequence[ComparedRow], *, wide: bool, machines: bool) -> Table:
    options = any(one.option for one in rows)
    claims = any(one.claims is not None for one in rows)
    shown = {"MACHINE": machines, "OPTION": options, "WITH CLAIMS": claims}
    places = [place for place, title in enumerate(COLUMNS) if shown.get(title, True)]
    laid_out = []
    for one, scopes, present in _merged(rows, wide=wide):
        policy, _, *rest = _row(one, wide=wide)
        row = ["*" * present, one.setup.machine.name, policy, scopes, one.option or NOTHING, *rest]
        if claims:
            from numalign.render.text.claimed import claims_cell

            row.append(claims_cell(one.claims))
        laid_out.append(tuple([row[place] for place in places]))
    droppable = () if wide else ("THEN", "HINT", *["STRANDED"] * (options or machines))
    titles = tuple([COLUMNS[place] for place in places])
    return Table(titles, tuple(laid_out), droppable=droppable, headings=("MACHINE", "OPTION"))


def _row(one: ComparedRow, *, wide: bool) -> Iterator[Cell]:
    config = one.setup.config
    yield config.topology_manager_policy
    yield NOTHING if config.topology_manager_policy == "none" else config.topology_manager_scope
    if one.error:
        yield Styled("does not start", "bad")
        yield from [NOTHING] * 5
        return
    yield _result(one)
    yield _hints(one.pods, wide=wide)
    yield verdict_word(one.verdict)
    yield _replicas(one)
    yield _then(one)
    yield stranded_text(one, wide=wide) if wide else stranded_sum(one)


def _result(one: ComparedRow) -> Cell:
    admitted, pods = sum(pod.admitted for pod in one.pods), len(one.pods)
    if one.refused is None:
        text = "admitted" if pods == 1 else f"all {pods} admitted"
        missing = ", ".join(one.missing)
        return Styled(f"{text} without {missing}", "warn") if missing else Styled(text, "good")
    reason = reason_text(one.refused)
    return Styled(reason if pods <= 1 else f"{admitted} of {pods}, {reason}", "bad")


def reason_text(pod: PodResult) -> str:
    """Name a refusal: the kubelet's reason, or that the kubelet itself fails."""
    return pod.reason or {"panic": "kubelet crashes", "hang": "kubelet hangs"}[pod.stage]


def _hints(pods: Iterable[PodResult], *, wide: bool) -> str:
    texts = list(dict.fromkeys(hint_text(container.hint) for pod in pods for container in pod.containers))
    more = len(texts) - MAX_HINTS_SHOWN
    shown = texts if wide or more <= 0 else [*texts[:MAX_HINTS_SHOWN], f"{more} more"]
    return "; ".join(shown) or NOTHING


def _replicas(one: ComparedRow) -> Cell:
    number = f"{one.replicas}{'' if one.ended else ' or more'}"
    if one.aligned_replicas == one.replicas:
        return number
    return Styled(f"{number} ({one.aligned_replicas})", "warn")


def _then(one: ComparedRow) -> str:
    """Say what ends the count, where RESULT does not say it."""
    if one.ended is None or not one.replicas:
        return NOTHING
    return "evicts a pod" if one.ended.admitted else reason_text(one.ended)


def _stranded_apart(rows: Sequence[ComparedRow]) -> Iterator[str]:
    """Say where that is, where variants with equal sums differ."""
    groups = grouped((text, one) for one in rows if (text := stranded_text(one)) not in (NOTHING, "nothing"))
    if not 1 < len(groups) <= MAX_HINTS_SHOWN:
        return
    names = [variant_names(some, rows) for some in groups.values()]
    if len(names[-1]) > len("the others") and sum(map(len, groups.values())) == len(rows):
        names[-1] = "the others"
    few = all(len(one.stranded) <= MAX_NODES_ADDED and on_numbered_nodes(one) for one in rows)
    texts = [per_node_text(some[0]) if few else f"({text})" for text, some in groups.items()]
    each = (f"under {name} {text}" for name, text in zip(names, texts, strict=True))
    yield f"Stranded per NUMA node: {', '.join(each)}."


def _start_error(one: ComparedRow) -> tuple[str, ...]:
    return ("The kubelet does not start", one.error) if one.error else ()


def _refusal(one: ComparedRow) -> tuple[str, ...]:
    if one.refused is None or one.refusal is None:
        return ()
    # Briefly: variants that refuse for the same reason stand together.
    return f"{one.refused.name}: rejected", *(list(why(one.refusal._replace(also=()))) or [one.refused.message])


def _unaligned(one: ComparedRow) -> tuple[str, ...]:
    """Say why a variant that admits all pods does not align them."""
    texts = list(apart(one.pods)) if one.refused is None and one.aligned is False else []
    return ("NOT aligned", *texts) if texts else ()


def _told(rows: Sequence[ComparedRow]) -> Iterator[Block]:
    """Say what goes wrong under which variants, those of which the same is said together."""
    for say in (_start_error, _refusal, _unaligned):
        for (title, *lines), some in grouped((said, one) for one in rows if (said := say(one))).items():
            yield Paragraph()
            yield Note(f"{title} under {variant_names(some, rows)}:", "bad")
            yield from (Paragraph(text, 2) for text in lines)


def compare_verdict(result: CompareResult) -> str:
    """Say which variants are best."""
    rows, best = result.rows, result.best
    if not best:
        return "No variant admits every pod."
    if best[0].aligned_replicas and any(one.aligned is not None for one in rows):
        return f"Most aligned copies: {best[0].aligned_replicas}, under {variant_names(best, rows)}."
    nothing = "" if all(one.aligned is not False for one in rows) else "No variant aligns the pods. "
    return f"{nothing}Most copies: {best[0].replicas}, under {variant_names(best, rows)}."


def _with_claims(rows: Sequence[ComparedRow]) -> str:
    """Say which variants are aligned when claimed devices count, too, which ALIGNED and REPLICAS leave aside."""
    aligned = [
        one
        for one in rows
        if one.claims is not None and one.claims.pods and all(pod.aligned for pod in one.claims.pods)
    ]
    if not aligned:
        return "Without claims. With claims, no variant is aligned."
    return f"Without claims. With claims, aligned under {variant_names(aligned, rows)}."
