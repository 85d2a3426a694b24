"""The flags of the commands that look at a whole cluster."""

from __future__ import annotations

import click

from numalign.cli.options import NAMES_OF_PODS, Command, Decorator, Given, flag, with_options
from numalign.tasks.cluster import ClusterRequest

allow_outside_option: Decorator = flag(
    "--allow-outside", is_flag=True, help="Let a cluster file name files outside of its folder."
)


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
                help="How many of each template come one after another; without it one.",
            )
        )

    return lambda function: with_options(function, options, lambda _: None)
