"""The flags of the commands that look at a whole cluster."""

from __future__ import annotations

import click

from numalign.cli.options import NAMES_OF_PODS, Command, Decorator, Given, flag, with_options
from numalign.tasks.cluster import ClusterRequest

allow_outside_option: Decorator = flag(
    "--allow-outside", is_flag=True, help="let a cluster file name files outside its folder"
)


CLUSTER_OPTIONS: tuple[Decorator, ...] = (
    flag(
        "--cluster",
        metavar="CLUSTER",
        help="cluster file, kubectl dump, or folder of snapshots",
    ),
    flag(
        "--state",
        metavar="FILE",
        help="keep the cluster in FILE between commands",
    ),
    flag(
        "--machine-of",
        metavar="LABEL=VALUE:MACHINE",
        multiple=True,
        help="machine of the nodes with a label",
    ),
    allow_outside_option,
)


def cluster_request(kwargs: dict[str, object]) -> ClusterRequest | None:
    """Take the flags of `CLUSTER_OPTIONS` out of a command's arguments; None: no cluster is named."""
    cluster, state, machines, outside = (
        kwargs.pop(name) for name in ("cluster", "state", "machine_of", "allow_outside")
    )
    if cluster is None and state is None:
        return None
    return ClusterRequest(
        cluster if isinstance(cluster, str) else None,
        state if isinstance(state, str) else None,
        machines if isinstance(machines, tuple) else (),
        allow_outside=outside is True,
    )


def cluster_options(function: Command) -> Command:
    """Add the flags that name a cluster; the command gets them as one argument, `request`."""

    def gather(given: Given) -> None:
        given["request"] = cluster_request(given)
        if given["request"] is None:
            raise click.UsageError("no cluster given; fix: add --cluster FILE or --state FILE")

    return with_options(function, CLUSTER_OPTIONS, gather)


def pods_of_cluster(*, counted: bool) -> Decorator:
    """Add POD…; the command gets `pod` and `files`, and if `counted` how many copies of each, `copies`."""
    options: list[Decorator] = [*NAMES_OF_PODS]
    if counted:
        options.append(
            flag(
                "--pods",
                "--replicas",
                "copies",
                type=click.IntRange(1, 10_000),
                metavar="N",
                help="copies of each pod template [default: 1]",
            )
        )

    return lambda function: with_options(function, options, lambda _: None)
