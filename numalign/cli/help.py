"""The flags of a command in --help: in groups, what is history last, with their variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc

import click

from numalign.cli.options import Flag, variables

EXAMPLES = ("  numalign ", "  kubectl ", "  eval ")
"""How command lines begin in the text of a command."""

OTHER, OUTPUT, HISTORY = "Options", "Output", "History"

GROUPS: Mapping[str, Sequence[str]] = {
    "Pods": (
        *("files", "beside", "replicas", "gang", "node_name", "started", "started_pods", "allow_missing", "slices"),
        *("only", "without", "amounts"),
    ),
    "Machine and node": (
        *("machine", "devices", "hugepages", "memory"),
        *("node", "fleet", "ignore_checksums", "state", "sysfs_root", "device_rules", "requested"),
    ),
    "Kubelet": (
        *("kubelet_config", "config_dir", "topology_manager_policy", "topology_manager_scope"),
        *("topology_manager_policy_options", "cpu_manager_policy", "cpu_manager_policy_options"),
        *("memory_manager_policy", "reserved_memory", "reserved_cpus", "kube_reserved", "system_reserved"),
        *("eviction_hard", "feature_gates"),
    ),
    OTHER: (),
    OUTPUT: ("fail_on", "need", "details", "alternatives", "output", "save", "snapshot", "quiet"),
    HISTORY: ("kubelet_version",),
}
"""Heading -> parameters, in the order of --help; `OTHER` has what is named nowhere."""


def grouped(command: click.Command) -> click.Command:
    """Let a command, and each command below it, tell its flags in groups, and examples that fit the width."""

    def format_help_text(ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG001 (click's signature)
        text = cleandoc(command.help or "").partition("\f")[0]
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(with_broken_examples(text, formatter.width - formatter.current_indent))

    def format_options(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, rows in flags(command, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    command.format_help_text = format_help_text  # type: ignore[method-assign]  # click offers no other place for one command
    if isinstance(command, click.Group):
        for below in command.commands.values():
            grouped(below)
    else:
        command.format_options = format_options  # type: ignore[method-assign]  # as above
    return command


def with_broken_examples(text: str, width: int) -> str:
    """Break command lines that are too long where a shell lets them go on; a flag keeps its value beside it."""
    return "\n".join(
        "\n".join(_broken(line, width)) if line.startswith(EXAMPLES) else line for line in text.split("\n")
    )


def _broken(line: str, width: int) -> Iterator[str]:
    shown = line[: len(line) - len(line.lstrip())]
    margin = f"{shown}    "
    for piece in re.findall(r"(?:-\S+|[|>]) [^-\s]\S*|\S+", line):
        if shown.strip() and len(shown) + len(piece) + len("  \\") > width:
            yield f"{shown} \\"
            shown = margin + piece
        else:
            shown += f" {piece}" if shown.strip() else piece
    yield shown


def flags(command: click.Command, ctx: click.Context) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Tell a command's flags: heading -> flag and what it does, headings without a flag left out."""
    records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in GROUPS}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and record[1]:  # an argument has no text: the usage line and the first sentence name it
            records[_heading(parameter)].append(_with_variable(parameter, record, ctx))
    return {heading: rows for heading, rows in records.items() if rows}


def _heading(parameter: click.Parameter) -> str:
    if "--only" in parameter.opts:  # --pod of other commands comes as `only`, too
        return OTHER
    return next((heading for heading, names in GROUPS.items() if parameter.name in names), OTHER)


def _with_variable(parameter: click.Parameter, record: tuple[str, str], ctx: click.Context) -> tuple[str, str]:
    if not isinstance(parameter, Flag):
        return record
    return record[0], f"{record[1]} [{variables(parameter, parameter.prefixes(ctx)[-1])[-1]}]"
