"""What the shell may complete: names of machines, policies, options, pods of the files given; else files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from numalign.kubelet.config import Manager

Values = Callable[[click.Context], Iterable[str]]


def complete(name: str, context: click.Context, incomplete: str) -> list[CompletionItem] | None:
    """Complete the value of a flag; None: nothing is known of it."""
    if name in _FILES:
        return [CompletionItem(incomplete, type="file")]
    if name in _LISTS:
        return _listed(_LISTS[name], context, incomplete)
    values = _VALUES.get(name)
    if values is None:
        return None
    found = [CompletionItem(value) for value in values(context) if value.startswith(incomplete)]
    if name == "machine" and not found:
        return [CompletionItem(incomplete, type="file")]
    return found


def _listed(values: Values, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of `a=true,b=…`."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{value}=true") for value in values(context) if value.startswith(last)]


def _machines(_: click.Context) -> Iterable[str]:
    from numalign.sources.machine import bundled

    return bundled.names()


def _policies(_: click.Context) -> Iterable[str]:
    from numalign.kubelet.topology.options import POLICIES

    return POLICIES


def _options(manager: Manager) -> Values:
    """Name the policy options that the newest kubelet has."""

    def names(_: click.Context) -> Iterable[str]:
        from numalign.kubelet.releases.table import LATEST

        return sorted(LATEST.levels(manager))

    return names


def _pods(context: click.Context) -> Iterable[str]:
    """Name the pods of the files on the command line; files that cannot be read have none."""
    from numalign.errors import NumalignError
    from numalign.sources.pods.manifest import read_pods

    # Before the flag whose value is completed, click has the files among the words it could not place yet.
    given = (*context.params.get("pod", ()), *context.args, *context.params.get("files", ()))
    try:
        return [pod.name for pod in read_pods([name for name in given if not name.startswith("-")]).pods]
    except NumalignError:
        return ()


_FILES = ("filename", "files", "beside", "kubelet_config", "config_dir", "trace", "cluster", "state", "node", "slices")
_LISTS: Mapping[str, Values] = {
    "topology_manager_policy_options": _options("topology"),
    "cpu_manager_policy_options": _options("cpu"),
}
_VALUES: Mapping[str, Values] = {
    "machine": _machines,
    "topology_manager_policy": _policies,
    "topology_manager_scope": lambda _: ("container", "pod"),
    "cpu_manager_policy": lambda _: ("none", "static"),
    "memory_manager_policy": lambda _: ("None", "Static"),
    "pod_name": _pods,
    "without": _pods,
}
"""Parameter -> what it may be."""
