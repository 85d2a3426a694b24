"""The text of --help: a sentence, examples, twelve options at most in groups; of --help-all: every option."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import cleandoc

import click

from numalign.values import NamedTuple

EXAMPLES = ("  numalign ", "  kubectl ", "  eval ")
"""How command lines begin in the text of a command."""

OTHER = "Options"
MOST = 12
"""Options in --help; --help-all has the others."""

GROUPS: Mapping[str, Sequence[str]] = {
    "Pods": (
        *("files", "beside", "replicas", "gang", "started", "started_pods", "static", "allow_missing"),
        *("slices", "pod_name", "without", "amounts", "copies"),
    ),
    "Machine and node": (
        *("machine", "devices", "hugepages", "memory", "nps", "snc"),
        *("node", "fleet", "ignore_checksums", "state", "sysfs_root", "device_rules", "requested"),
        *("cluster", "clusters", "machine_of", "kubelet_config_of", "allow_outside", "host_root", "node_name", "nodes"),
    ),
    "Kubelet": (
        *("kubelet_config", "config_dir", "topology_manager_policy", "topology_manager_scope"),
        *("topology_manager_policy_options", "cpu_manager_policy", "cpu_manager_policy_options"),
        *("memory_manager_policy", "reserved_memory", "reserved_cpus", "kube_reserved", "system_reserved"),
        *("eviction_hard", "feature_gates", "gates", "kubelet_version", "release"),
        *("max_pods", "instance_type", "pool"),
    ),
    OTHER: (),
    "Output": ("details", "alternatives", "fail_on", "need", "output", "save", "snapshot", "quiet"),
}
"""Heading -> parameters, in the order of --help; `OTHER` has what is named nowhere."""

RARE: Sequence[str] = """
    instance_type pool max_pods recursive devices hugepages memory nps snc ignore_checksums config_dir feature_gates
    eviction_hard system_reserved kube_reserved files topology_manager_policy_options cpu_manager_policy_options
    node_name reserved_cpus reserved_memory allow_outside machine_of kubelet_config_of gang started_pods static
    started allow_missing without address where columns replicaset_backoff retry_on_resync host_root pid every
    only_exclusive prefix insecure_listen slices alternatives only jobs memory_manager_policy cpu_manager_policy
    placement fingerprint like topology_manager_scope beside topology_manager_policy replicas state client_names
    client_ca tls_key tls_cert
    """.split()  # noqa: SIM905 (one a line would be a page)
"""Parameters that --help leaves out until `MOST` remain, in this order."""


class Parts(NamedTuple):
    """The text of a command, as its docstring has it."""

    prose: tuple[str, ...]
    """Paragraphs, each on one line."""
    examples: tuple[str, ...]
    """Command lines."""
    status: str
    """What the exit status says; empty: nothing of this command alone."""


def parts(text: str) -> Parts:
    """Cut a docstring; click's backspace mark stands before the examples, `Exit status:` begins the last paragraph."""
    prose: list[str] = []
    examples: tuple[str, ...] = ()
    status = ""
    for paragraph in re.split(r"\n\s*\n", cleandoc(text).partition("\f")[0]):
        if paragraph.lstrip().startswith("\b"):
            examples = tuple(line.strip() for line in paragraph.strip("\b\n ").splitlines()[1:])
        elif paragraph.startswith("Exit status: "):
            status = " ".join(paragraph.split())
        else:
            prose.append(" ".join(paragraph.split()))
    return Parts(tuple(prose), examples, status)


def grouped(command: click.Command, *, every: bool = False) -> click.Command:
    """Let a command, and each command below it, show its options in groups: twelve at most, or `every` one."""
    text = parts(command.help or "")

    def format_help_text(ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG001 (click's signature)
        with formatter.indentation():
            for paragraph in (" ".join(text.prose[:2]), *text.prose[2:]):
                formatter.write_paragraph()
                formatter.write_text(paragraph)
        if text.examples:
            with formatter.section("Examples" if len(text.examples) > 1 else "Example"):
                for example in text.examples:
                    formatter.write("".join(f"{line}\n" for line in broken_example(f"  {example}", formatter.width)))

    def format_options(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        count = len(_options(command, ctx)) - 1
        groups = flags(command, ctx, every=every)
        if count > MOST and not every:
            groups[next(reversed(groups))].append(("--help-all", f"show all {count} options"))
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)
        if text.status:
            formatter.write_paragraph()
            formatter.write_text(text.status)

    command.format_help_text = format_help_text  # type: ignore[method-assign]  # click offers no other place for one command
    if isinstance(command, click.Group):
        for below in command.commands.values():
            grouped(below, every=every)
    else:
        command.format_options = format_options  # type: ignore[method-assign]  # as above
    return command


def broken_example(line: str, width: int) -> list[str]:
    """Break a command line that is too long where a shell lets it go on; a flag keeps its value beside it."""
    if not line.startswith(EXAMPLES):
        return [line]
    shown, lines = line[: len(line) - len(line.lstrip())], []
    margin = f"{shown}    "
    for piece in re.findall(r"(?:-\S+|[|>]) (?:'[^']*'|[^-\s]\S*)|'[^']*'|\S+", line):
        if shown.strip() and len(shown) + len(piece) + len("  \\") > width:
            lines.append(f"{shown} \\")
            shown = margin + piece
        else:
            shown += f" {piece}" if shown.strip() else piece
    return [*lines, shown]


def flags(command: click.Command, ctx: click.Context, *, every: bool = True) -> dict[str, list[tuple[str, str]]]:
    """Return a command's flags: heading -> flag and what it does; of two names the shorter, unless `every`."""
    options = _options(command, ctx)
    rare = [name for name in RARE if name in options]
    left_out = () if every else {"help", *rare[: max(0, len(options) - 1 - MOST)]}
    records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in GROUPS}
    for name, (names, text) in options.items():
        if name not in left_out:
            records[_heading(name)].append((names if every else re.sub(r"--[\w-]+, (?=--)", "", names), text))
    return {heading: rows for heading, rows in records.items() if rows}


def _options(command: click.Command, ctx: click.Context) -> dict[str, tuple[str, str]]:
    """Return parameter -> names and text of each option; an argument has no text."""
    records = ((one.name or "", one.get_help_record(ctx)) for one in command.get_params(ctx))
    return {name: record for name, record in records if record is not None and record[1]}


def _heading(name: str) -> str:
    return next((heading for heading, names in GROUPS.items() if name in names), OTHER)
