"""The flags of a command in --help: in groups, what is history or beyond the kubelet last, with their variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from numalign.cli.options import SharedOption, variables

OTHER, OUTPUT, HISTORY = "Options", "Output", "History, and beyond the kubelet"

GROUPS: Mapping[str, Sequence[str]] = {
    "Pods": (
        *("files", "beside", "replicas", "gang", "node_name", "started", "started_pods", "allow_missing", "slices"),
        *("only", "without", "amounts"),
    ),
    "Machine and node": (
        *("machine", "devices", "hugepages", "memory"),
        *("node", "ignore_checksums", "state", "sysfs_root", "device_rules", "requested"),
    ),
    "Kubelet": (
        *("kubelet_config", "config_dir", "topology_manager_policy", "topology_manager_scope"),
        *("topology_manager_policy_options", "cpu_manager_policy", "cpu_manager_policy_options"),
        *("memory_manager_policy", "reserved_memory", "reserved_cpus", "kube_reserved", "system_reserved"),
        *("eviction_hard", "feature_gates"),
    ),
    OTHER: (),
    OUTPUT: ("fail_on", "need", "details", "alternatives", "output", "save", "snapshot", "quiet", "help"),
    HISTORY: ("kubelet_version", "preferred_allocation", "per_pod_policy", "hints", "preferred_sets"),
}
"""Heading -> parameters, in the order of --help; `OTHER` has what is named nowhere."""


def grouped(command: click.Command) -> click.Command:
    """Let a command, and each command below it, tell its flags in groups."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            grouped(below)
        return command

    def format_options(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, rows in flags(command, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    command.format_options = format_options  # type: ignore[method-assign]  # click offers no other place for one command
    return command


def flags(command: click.Command, ctx: click.Context) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Tell a command's flags: heading -> flag and what it does, headings without a flag left out."""
    records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in GROUPS}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and record[1]:  # an argument has no text: the usage line and the first sentence name it
            records[_heading(parameter)].append(_with_variable(parameter, record))
    return {heading: rows for heading, rows in records.items() if rows}


def _heading(parameter: click.Parameter) -> str:
    if "--only" in parameter.opts:  # --pod of other commands comes as `only`, too
        return OTHER
    return next((heading for heading, names in GROUPS.items() if parameter.name in names), OTHER)


def _with_variable(parameter: click.Parameter, record: tuple[str, str]) -> tuple[str, str]:
    if not isinstance(parameter, SharedOption):
        return record
    return record[0], f"{record[1]} [{variables(parameter)[-1]}]"
