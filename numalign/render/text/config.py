"""What `config check` shows, and the configuration that `config suggest` writes, as the file in which it is wanted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from textwrap import wrap
from typing import TYPE_CHECKING

from numalign.analysis.config.reserve import MemorySum
from numalign.analysis.config.suggest import Suggestion
from numalign.errors import parted
from numalign.kubelet.config import FIELD_NAMES, MemoryReservation
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import head_text
from numalign.kubelet.start.feature_gates import doubtful_gates
from numalign.model.cpuset import format_set
from numalign.model.words import sentence
from numalign.render.escape import guarded, printable
from numalign.render.json.admit import plain_setting
from numalign.render.page.document import Block, Document, Item, Note, Paragraph, Picture
from numalign.render.text.amounts import bytes_text, listed
from numalign.render.text.restart import node_parts
from numalign.render.text.status import findings_parts, stopped
from numalign.results.node import ConfigCheckResult, NodeCheck

if TYPE_CHECKING:
    from numalign.analysis.config.check import ConfigFinding
    from numalign.kubelet.setup import Setup


COMMENT_WIDTH = 80
"""How wide a comment of a written file is: it is read on terminals."""
HEADER = ("apiVersion: kubelet.config.k8s.io/v1beta1", "kind: KubeletConfiguration")


def _head(setup: Setup, origin: str) -> str:
    release = head_text(setup.kubelet.version)
    return f"{setup.machine.name} ({origin}); kubelet {release}, {setup.base} defaults"


def check_document(result: ConfigCheckResult, origin: str) -> Document:
    """Show whether the kubelet starts; if not, each error with its fix."""
    setup, report, node = result
    parts: list[Block] = [Note(_head(setup, origin), "dim")]
    if report.starts is None:
        parts.append(Note(f"Unknown whether the kubelet starts: it depends on {', '.join(report.unknown)}.", "warn"))
    elif report.starts:
        gates = doubtful_gates(setup.kubelet, setup.config.feature_gates)
        release = version_text(setup.kubelet.version)
        if_known = f", if kubelet {release} has the feature gate {listed(gates)}" * bool(gates)
        starts = f"The kubelet starts with this configuration{if_known}."
        parts += _node_parts(node) if node else [Note(starts, "warn" if gates else "good")]
    else:
        parts.append(Note(f"The kubelet does NOT start: {_counted(len(report.steps), report.repairable)}", "bad"))
    memory, static = report.memory, report.repaired.memory_manager_policy == "Static"
    sums = memory_lines(memory) if memory is not None and (memory.given or static) else ()
    for number, step in enumerate(report.steps, start=1):
        parts += [Paragraph(), Item(number, f'"{step.error}"')]
        if step.change is None:
            parts.append(Paragraph("No single setting fixes this.", 3))
            continue
        for label, (field, value) in zip(chain(["fix:"], repeat("and ")), step.change.values.items(), strict=False):
            setting = f"{FIELD_NAMES[field]}: {_flow(plain_setting(value))}"
            parts.append(Note(f"{label} {setting}", "good", 3))
        if step.change.field == "reserved_memory" and sums:
            parts += _memory_parts(sums, 3) if _differ(sums) else ()
            sums = ()
        elif step.change.why.split()[-1] not in setting or step.change.why.startswith("allowed"):
            why = step.change.why
            parts.append(Paragraph(why if why.startswith("allowed") else sentence(why), 3))
    parts += _memory_parts(sums, 0) if sums else []
    if report.reserved_cpus is not None:
        parts += [Paragraph(), Paragraph(f"reserved CPUs: {format_set(report.reserved_cpus) or 'none'}")]
    return [*parts, *(note for finding in report.findings for note in _finding_notes(finding))]


def _counted(errors: int, repairable: bool) -> str:
    """Count errors, and say what their fixes do."""
    fixes = {1: "this fix", 2: "both fixes"}.get(errors, "all fixes")
    with_them = f" With {fixes} it starts." if repairable and errors else ""
    return f"{errors} error{'s' * (errors != 1)}.{with_them}"


def _finding_notes(finding: ConfigFinding) -> Iterable[Block]:
    first, *rest = parted(f"note: {finding.field}: {finding.message}")
    return [Note(first, "warn"), *(Paragraph(text, 2) for text in rest)]


def _node_parts(node: NodeCheck) -> list[Block]:
    """Show whether it restarts with the files of a node in use."""
    parts: list[Block]
    if node.starts:
        parts = [Note("The kubelet starts with this configuration, on this node with the existing files.", "good")]
        parts += node_parts(node.restart) if node.restart else ()
    else:
        parts = [
            Note("On this node the kubelet would NOT restart:", "bad"),
            *stopped(node.start_error, node.remedy),
            Note("The configuration alone starts.", "dim"),
        ]
    return [*parts, *findings_parts([one for one in node.findings if one.severity != "info"], node.remedy)]


def memory_lines(memory: MemorySum) -> tuple[tuple[str, str, int], ...]:
    """Lay out both sides of the sum of `reservedMemory`, and their difference: a name, a text and bytes a line."""
    rows: list[tuple[str, str, int]] = []
    for name, side in (("sum", memory.wanted), ("sum of reservedMemory", memory.given)):
        rows += [(part.source, part.text, part.bytes) for part in side]
        rows += [(name, "", sum(part.bytes for part in side))] if len(side) > 1 else []
    difference = memory.total_given - memory.total_wanted
    if difference:
        rows.append(("too much" if difference > 0 else "missing", "", abs(difference)))
    for part in memory.pages:
        rows += [(part.source, part.text, part.bytes), ("too much", "", part.bytes)]
    return tuple((name, text or bytes_text(amount), amount) for name, text, amount in rows)


def _differ(rows: tuple[tuple[str, str, int], ...]) -> bool:
    return any(name in ("too much", "missing") for name, _, _ in rows)


def _memory_parts(rows: tuple[tuple[str, str, int], ...], indent: int) -> Iterable[Block]:
    verb = "must be" if _differ(rows) else "are"
    text = f"With memoryManagerPolicy Static both sums {verb} equal, to the byte:"
    wide = [max(len(str(row[place])) for row in rows) for place in range(3)]
    margin = " " * (indent + 2)
    lines = (f"{margin}{name:{wide[0]}}  {text:>{wide[1]}}  {amount:>{wide[2]}}" for name, text, amount in rows)
    return [*([] if indent else [Paragraph()]), Paragraph(text, indent), Picture(tuple(lines))]


def suggestion_yaml(suggestion: Suggestion, machine: str) -> str:
    """Write a suggested configuration as a KubeletConfiguration, a comment on every setting."""
    return file_text((suggestion_head(machine), *HEADER, *suggestion_lines(suggestion)))


def suggestion_head(machine: str) -> str:
    """Say in a comment what a suggested configuration is for."""
    return f"# KubeletConfiguration for {machine}; checked: the kubelet starts."


def file_text(lines: Iterable[str]) -> str:
    """Join the lines of a YAML file; comments too long for a terminal break at words."""
    return guarded("".join(f"{piece}\n" for line in lines for piece in _pieces(printable(line))))


def _pieces(line: str) -> list[str]:
    text = line.lstrip()
    if not text.startswith("# "):
        return [line]
    margin = line[: len(line) - len(text)] + "# "
    return wrap(text[2:], COMMENT_WIDTH, initial_indent=margin, subsequent_indent=margin, break_long_words=False) or [
        line
    ]


def suggestion_lines(suggestion: Suggestion) -> list[str]:
    """Write the fields of a suggested configuration as YAML, a comment on every setting."""
    lines = []
    for field in FIELD_NAMES:
        value = getattr(suggestion.config, field)
        if field in suggestion.reasons and value is not None:
            lines += [f"# {suggestion.reasons[field]}", *yaml_lines(field, value)]
    return lines


def _flow(value: object) -> str:
    """Write a setting on one line of YAML; only what YAML would take for something else is quoted."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_flow(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_flow, value))}]"
    plain = isinstance(value, str) and re.fullmatch(r"[0-9]+[KMGT]i|[A-Za-z]{5,}(-[a-z]+)*", value)
    return str(value) if plain and value != "false" else json.dumps(value, ensure_ascii=False)


def yaml_lines(field: str, value: object) -> list[str]:
    """Write a setting as YAML. Texts are quoted: a bare number or boolean would stop the kubelet."""
    name = FIELD_NAMES[field]
    if isinstance(value, Mapping) and value:
        return [f"{name}:", *(f"  {key}: {json.dumps(inner)}" for key, inner in value.items())]
    if isinstance(value, tuple) and value:
        return [f"{name}:", *(line for element in value for line in _reservation_lines(element))]
    if isinstance(value, str) and value.replace("-", "").isalpha():
        return [f"{name}: {value}"]
    return [f"{name}: {json.dumps(plain_setting(value))}"]


def _reservation_lines(element: MemoryReservation) -> list[str]:
    return [
        f"- numaNode: {element.numa_node}",
        "  limits:",
        *(f"    {resource}: {json.dumps(text)}" for resource, text in element.limits.items()),
    ]
