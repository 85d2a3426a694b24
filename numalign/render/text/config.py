"""Views of `config check` and `config suggest`: text for people, JSON for programs, and the configuration itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from numalign.analysis.config.reserve import MemorySum, Part
from numalign.analysis.config.suggest import Suggestion
from numalign.errors import Notice
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.release import version_text
from numalign.model.cpuset import format_set
from numalign.render.escape import guarded, printable
from numalign.render.json import Data, head, warnings
from numalign.render.json.admit import setup_json
from numalign.render.json.status import findings_json
from numalign.render.page.document import Document, Line, Table
from numalign.render.text.status import stopped
from numalign.results.config import ConfigCheckResult, NodeCheck

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup

COMMENT_WIDTH = 80
"""How wide a comment of a written file is: it is read on terminals."""
HEADER = ("apiVersion: kubelet.config.k8s.io/v1beta1", "kind: KubeletConfiguration")
_DEFAULTS = KubeletConfig()


def _head(setup: Setup, origin: str) -> str:
    release = version_text(setup.kubelet.version)
    return f"Machine {setup.machine.name} ({origin}), kubelet {release}, {setup.base} base"


def check_document(result: ConfigCheckResult, origin: str) -> Document:
    """Show whether the kubelet starts; if not, what stops it and the nearest configuration that starts."""
    setup, report, node = result
    parts: list[Line | Table] = [Line(_head(setup, origin), "dim")]
    if report.starts:
        parts.append(Line("The kubelet starts with this configuration.", "good"))
        parts += _node_parts(node) if node else []
    else:
        parts.append(Line("The kubelet would refuse to start:", "bad"))
    for step in report.steps:
        parts.append(Line(f"  {step.error}", "bad"))
        if step.change is None:
            parts.append(Line("    no change of one setting that helps was found"))
        else:
            setting = _flow(step.change.field, step.change.value)
            parts += [Line(f"    change: {setting}", "good"), Line(f"    why:    {step.change.why}")]
    if report.repairable and report.steps:
        parts.append(Line("With " + ("this change" if len(report.steps) == 1 else "these changes") + " it starts."))
    if report.reserved_cpus is not None:
        parts.append(Line(f"Reserved CPUs, never given out exclusively: {format_set(report.reserved_cpus) or 'none'}"))
    if report.memory is not None and (report.memory.given or report.repaired.memory_manager_policy == "Static"):
        parts += _memory_parts(report.memory)
    return [*parts, *(Line(f"Note: {finding.field}: {finding.message}", "warn") for finding in report.findings)]


def _node_parts(node: NodeCheck) -> list[Line | Table]:
    """Show whether it comes up with the files of a node in use."""
    parts: list[Line | Table]
    if node.starts:
        parts = [Line("On this node it would come up again with the files that are there.", "good")]
    else:
        parts = [Line("On this node it would NOT come up again:", "bad"), *stopped(node.start_error, node.remedy)]
    told = (one for one in node.findings if one.severity != "info")
    return [*parts, *(Line(f"{one.severity} {one.code}: {one.file}: {one.message}", "warn") for one in told)]


def _memory_parts(memory: MemorySum) -> list[Line | Table]:
    """Show both sides of the sum of `reservedMemory`."""
    rows = [("kept back", part.source, part.text, str(part.bytes)) for part in memory.wanted]
    rows.append(("kept back", "sum", "", str(memory.total_wanted)))
    rows += [("reservedMemory", part.source, part.text, str(part.bytes)) for part in memory.given]
    rows.append(("reservedMemory", "sum", "", str(memory.total_given)))
    parts: list[Line | Table] = [
        Line(),
        Line("Memory: memoryManagerPolicy Static wants both sums equal, to the byte", "bold"),
        Table(("SIDE", "SETTING", "TEXT", "BYTES"), tuple(rows), frozenset({"BYTES"}), 2),
    ]
    difference = memory.total_given - memory.total_wanted
    if not difference:
        parts.append(Line("  The sums are equal.", "good"))
    else:
        word = "too much" if difference > 0 else "missing"
        parts.append(Line(f"  reservedMemory: {abs(difference)} bytes {word}"))
        if memory.accepted:
            parts.append(Line("  This would be accepted:"))
            parts += [Line(f"    {line}") for line in _yaml_lines("reserved_memory", memory.accepted)]
    return parts


def check_json(result: ConfigCheckResult, notices: tuple[Notice, ...]) -> Data:
    """Write the answer of `config check` for programs."""
    setup, report, node = result
    memory = report.memory
    return {
        **head("ConfigCheckResult"),
        **setup_json(setup),
        "starts": report.starts,
        "startError": report.steps[0].error if report.steps else None,
        "steps": [
            {
                "startError": step.error,
                "change": None
                if step.change is None
                else {
                    "field": FIELD_NAMES[step.change.field],
                    "value": _plain(step.change.value),
                    "why": step.change.why,
                },
            }
            for step in report.steps
        ],
        "suggestion": changed(report.repaired) if report.repairable else None,
        "reservedCPUs": None if report.reserved_cpus is None else format_set(report.reserved_cpus),
        "memory": None if memory is None else _memory_json(memory),
        "findings": [{"code": one.code, "field": one.field, "message": one.message} for one in report.findings],
        "node": node
        and {
            "starts": node.starts,
            "startError": node.start_error or None,
            "remedy": node.remedy or None,
            "findings": findings_json(node.findings),
        },
        "warnings": warnings(notices),
    }


def _memory_json(memory: MemorySum) -> Data:
    def side(parts: tuple[Part, ...]) -> list[Data]:
        return [{"source": part.source, "text": part.text, "bytes": part.bytes} for part in parts]

    return {
        "wanted": side(memory.wanted),
        "wantedBytes": memory.total_wanted,
        "given": side(memory.given),
        "givenBytes": memory.total_given,
        "accepted": None if memory.accepted is None else _plain(memory.accepted),
    }


def changed(config: KubeletConfig) -> Data:
    """Write the settings that are not the kubelet's defaults, under KubeletConfiguration's names."""
    return {
        name: _plain(getattr(config, field))
        for field, name in FIELD_NAMES.items()
        if getattr(config, field) != getattr(_DEFAULTS, field)
    }


def suggestion_yaml(suggestion: Suggestion, machine: str) -> str:
    """Write a suggested configuration as a KubeletConfiguration, a comment on every setting."""
    return file_text((suggestion_head(machine), *HEADER, *suggestion_lines(suggestion)))


def suggestion_head(machine: str) -> str:
    """Say in a comment what a suggested configuration is for."""
    return f"# For {machine}: what can be aligned is aligned; `numalign config check` accepts it."


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
            lines += [f"# {suggestion.reasons[field]}", *_yaml_lines(field, value)]
    return lines


def suggestion_json(suggestion: Suggestion) -> Data:
    """Write a suggested configuration as KubeletConfiguration fields."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        **{
            name: _plain(getattr(suggestion.config, field))
            for field, name in FIELD_NAMES.items()
            if field in suggestion.reasons and getattr(suggestion.config, field) is not None
        },
    }


def _plain(value: object) -> object:
    """Turn a setting into plain data."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [{"numaNode": element.numa_node, "limits": dict(element.limits)} for element in value]
    return value


def _flow(field: str, value: object) -> str:
    """Write a setting on one line of YAML."""
    name = FIELD_NAMES[field]
    return f"{name}: {json.dumps(_plain(value), ensure_ascii=False)}"


def _yaml_lines(field: str, value: object) -> list[str]:
    """Write a setting as YAML. Texts are quoted: a bare number or boolean would stop the kubelet."""
    name = FIELD_NAMES[field]
    if isinstance(value, Mapping) and value:
        return [f"{name}:", *(f"  {key}: {json.dumps(inner)}" for key, inner in value.items())]
    if isinstance(value, tuple) and value:
        return [f"{name}:", *(line for element in value for line in _reservation_lines(element))]
    if isinstance(value, str) and value.replace("-", "").isalpha():
        return [f"{name}: {value}"]
    return [f"{name}: {json.dumps(_plain(value))}"]


def _reservation_lines(element: MemoryReservation) -> list[str]:
    return [
        f"- numaNode: {element.numa_node}",
        "  limits:",
        *(f"    {resource}: {json.dumps(text)}" for resource, text in element.limits.items()),
    ]
