"""The flags of the commands that look at a whole cluster."""

from __future__ import annotations

from functools import wraps

import click

from numalign.cli.options import Command, Decorator, complete_files, flag
from numalign.tasks.cluster import ClusterRequest

CLUSTER_OPTIONS: tuple[Decorator, ...] = (
    flag(
        "--cluster",
        metavar="CLUSTER",
        help="A cluster file, a folder of snapshots or machine files, a state, or what `kubectl get "
        "nodes,noderesourcetopologies,pods -A -o json` printed; - is standard input.",
    ),
    flag(
        "--state",
        metavar="FILE",
        help="Keep the cluster in this file: read it from there, and write back what changed.",
    ),
    flag(
        "--machine-of",
        metavar="LABEL=VALUE:MACHINE",
        multiple=True,
        help="What nodes with a label are made of, where no object says so.",
    ),
)


def cluster_request(kwargs: dict[str, object]) -> ClusterRequest | None:
    """Take the flags of `CLUSTER_OPTIONS` out of a command's arguments; None: no cluster is named."""
    cluster, state, machines = (kwargs.pop(name) for name in ("cluster", "state", "machine_of"))
    if cluster is None and state is None:
        return None
    return ClusterRequest(
        cluster if isinstance(cluster, str) else None,
        state if isinstance(state, str) else None,
        machines if isinstance(machines, tuple) else (),
    )


def cluster_options(function: Command) -> Command:
    """Add the flags that name a cluster; the command gets them as one argument, `request`."""

    @wraps(function)
    def wrapped(*args: object, **kwargs: object) -> object:
        request = cluster_request(kwargs)
        if request is None:
            raise click.UsageError("name a cluster: --cluster FILE, or --state FILE")
        kwargs["request"] = request
        return function(*args, **kwargs)

    result: Command = wrapped
    for option in reversed(CLUSTER_OPTIONS):
        result = option(result)
    return result


def pods_of_cluster(*, counted: bool) -> Decorator:
    """Add POD…; the command gets `pod` and `files`, and if `counted` how many copies of each, `copies`."""
    options: list[Decorator] = [
        click.argument("pod", nargs=-1, metavar="POD…", shell_complete=complete_files),
        flag("-f", "--filename", "files", multiple=True, metavar="POD", help="The same as POD."),
    ]
    if counted:
        options.append(
            flag(
                "--pods",
                "--replicas",
                "copies",
                type=click.IntRange(1, 10_000),
                metavar="N",
                help="How many of each template come one after another; without it one.",
            )
        )

    def add(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
        return function

    return add
