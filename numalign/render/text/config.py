"""What `config check` shows, and the configuration that `config suggest` writes, as the file in which it is wanted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from numalign.analysis.config.reserve import MemorySum
from numalign.analysis.config.suggest import Suggestion
from numalign.kubelet.config import FIELD_NAMES, MemoryReservation
from numalign.kubelet.releases.release import version_text
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine
from numalign.render.escape import guarded, printable
from numalign.render.json import Data
from numalign.render.json.node import plain_setting, suggestion_json
from numalign.render.page.document import Block, Document, Note, Paragraph, Table, Title
from numalign.render.text.status import stopped
from numalign.results.node import ConfigCheckResult, NodeCheck

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup


COMMENT_WIDTH = 80
"""How wide a comment of a written file is: it is read on terminals."""
HEADER = ("apiVersion: kubelet.config.k8s.io/v1beta1", "kind: KubeletConfiguration")


def _head(setup: Setup, origin: str) -> str:
    release = version_text(setup.kubelet.version)
    return f"Machine {setup.machine.name} ({origin}), kubelet {release}, {setup.base} base"


def check_document(result: ConfigCheckResult, origin: str) -> Document:
    """Show whether the kubelet starts; if not, what stops it and the nearest configuration that starts."""
    setup, report, node = result
    parts: list[Block] = [Note(_head(setup, origin), "dim")]
    if report.starts:
        parts.append(Note("The kubelet starts with this configuration.", "good"))
        parts += _node_parts(node) if node else []
    else:
        parts.append(Note("The kubelet would refuse to start:", "bad"))
    for step in report.steps:
        parts.append(Note(step.error, "bad", 2))
        if step.change is None:
            parts.append(Paragraph("no change of one setting that helps was found", 4))
        else:
            setting = _flow(step.change.field, step.change.value)
            parts += [Note(f"change: {setting}", "good", 4), Paragraph(f"why:    {step.change.why}", 4)]
    if report.repairable and report.steps:
        parts.append(
            Paragraph("With " + ("this change" if len(report.steps) == 1 else "these changes") + " it starts.")
        )
    if report.reserved_cpus is not None:
        parts.append(
            Paragraph(f"Reserved CPUs, never given out exclusively: {format_set(report.reserved_cpus) or 'none'}")
        )
    if report.memory is not None and (report.memory.given or report.repaired.memory_manager_policy == "Static"):
        parts += _memory_parts(report.memory)
    return [*parts, *(Note(f"Note: {finding.field}: {finding.message}", "warn") for finding in report.findings)]


def _node_parts(node: NodeCheck) -> list[Block]:
    """Show whether it comes up with the files of a node in use."""
    parts: list[Block]
    if node.starts:
        parts = [Note("On this node it would come up again with the files that are there.", "good")]
    else:
        parts = [Note("On this node it would NOT come up again:", "bad"), *stopped(node.start_error, node.remedy)]
    told = (one for one in node.findings if one.severity != "info")
    return [*parts, *(Note(f"{one.severity} {one.code}: {one.file}: {one.message}", "warn") for one in told)]


def _memory_parts(memory: MemorySum) -> list[Block]:
    """Show both sides of the sum of `reservedMemory`."""
    rows = [("kept back", part.source, part.text, str(part.bytes)) for part in memory.wanted]
    rows.append(("kept back", "sum", "", str(memory.total_wanted)))
    rows += [("reservedMemory", part.source, part.text, str(part.bytes)) for part in memory.given]
    rows.append(("reservedMemory", "sum", "", str(memory.total_given)))
    parts: list[Block] = [
        Paragraph(),
        Title("Memory: memoryManagerPolicy Static wants both sums equal, to the byte"),
        Table(("SIDE", "SETTING", "TEXT", "BYTES"), tuple(rows), frozenset({"BYTES"}), 2),
    ]
    difference = memory.total_given - memory.total_wanted
    if not difference:
        parts.append(Note("The sums are equal.", "good", 2))
    else:
        word = "too much" if difference > 0 else "missing"
        parts.append(Paragraph(f"reservedMemory: {abs(difference)} bytes {word}", 2))
        if memory.accepted:
            parts.append(Paragraph("This would be accepted:", 2))
            parts += [Paragraph(line, 4) for line in _yaml_lines("reserved_memory", memory.accepted)]
    return parts


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


def _flow(field: str, value: object) -> str:
    """Write a setting on one line of YAML."""
    name = FIELD_NAMES[field]
    return f"{name}: {json.dumps(plain_setting(value), ensure_ascii=False)}"


def _yaml_lines(field: str, value: object) -> list[str]:
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


_OWN: Final = ("cpuManagerPolicy", "topologyManagerPolicy", "reservedSystemCPUs", "apiVersion", "kind")
"""Fields that a PerformanceProfile has by itself, or that its operator sets."""


def suggestion_file(form: str, suggestion: Suggestion, machine: Machine) -> str:
    """Write a suggestion as `kubeletconfig`, `performanceprofile` or `kubeadm`."""
    return file_text(_FORMS[form](suggestion, machine))


def _kubelet_config(suggestion: Suggestion, machine: Machine) -> list[str]:
    """OpenShift's KubeletConfig; the pool that it is for is yours to name."""
    return [
        suggestion_head(machine.name),
        "apiVersion: machineconfiguration.openshift.io/v1",
        "kind: KubeletConfig",
        "metadata:",
        "  name: numa-aligned",
        "spec:",
        "  machineConfigPoolSelector:",
        "    matchLabels:",
        "      # the label of your pool",
        '      pools.operator.machineconfiguration.openshift.io/worker: ""',
        "  kubeletConfig:",
        *(f"    {line}" for line in suggestion_lines(suggestion)),
    ]


def _kubeadm(suggestion: Suggestion, machine: Machine) -> list[str]:
    return [
        suggestion_head(machine.name),
        "apiVersion: kubeadm.k8s.io/v1beta4",
        "kind: ClusterConfiguration",
        "---",
        "apiVersion: kubelet.config.k8s.io/v1beta1",
        "kind: KubeletConfiguration",
        *suggestion_lines(suggestion),
    ]


def _performance_profile(suggestion: Suggestion, machine: Machine) -> list[str]:
    """OpenShift's PerformanceProfile: CPU sets and policy, and the rest in the annotation that goes to the kubelet."""
    config = suggestion.config
    reserved = parse(config.reserved_system_cpus)
    rest = {name: value for name, value in suggestion_json(suggestion).items() if name not in _OWN}
    # The operator would add memory of its own to what is not said, and the sum of reservedMemory would be another.
    rest["systemReserved"] = {"memory": "0", **_texts(rest.get("systemReserved"))}
    rest["kubeReserved"] = {"memory": "0", **_texts(rest.get("kubeReserved"))}
    return [
        suggestion_head(machine.name),
        *(
            f"# {name}: {suggestion.reasons[field]}"
            for field, name in FIELD_NAMES.items()
            if field in suggestion.reasons
        ),
        "apiVersion: performance.openshift.io/v2",
        "kind: PerformanceProfile",
        "metadata:",
        "  name: numa-aligned",
        "  annotations:",
        f"    kubeletconfig.experimental: {json.dumps(json.dumps(rest))}",
        "spec:",
        "  cpu:",
        f"    reserved: {json.dumps(format_set(reserved))}",
        f"    isolated: {json.dumps(format_set(machine.cpus & ~reserved))}",
        "  numa:",
        f"    topologyPolicy: {config.topology_manager_policy}",
        "  nodeSelector:",
        "    # the label of your nodes",
        '    node-role.kubernetes.io/worker: ""',
    ]


def _texts(value: object) -> Data:
    return dict(value) if isinstance(value, Mapping) else {}


_FORMS: Final[Mapping[str, Callable[[Suggestion, Machine], list[str]]]] = {
    "kubeletconfig": _kubelet_config,
    "performanceprofile": _performance_profile,
    "kubeadm": _kubeadm,
}
