"""The flags of the commands that look at a whole cluster."""

from __future__ import annotations

import click

from numalign.cli.flags import Command, Decorator, Given, flag, gathered, with_options
from numalign.cli.options import kubelet_options
from numalign.cli.pod_options import NAMES_OF_PODS
from numalign.tasks.cluster import ClusterRequest
from numalign.tasks.requests import KubeletRequest

allow_outside_option: Decorator = flag(
    "--allow-outside", is_flag=True, help="let a cluster file name files outside its folder"
)

POOL_OPTIONS: tuple[Decorator, ...] = (
    flag(
        "--machine-of",
        metavar="LABEL=VALUE:MACHINE",
        multiple=True,
        help="machine of the nodes with a label",
    ),
    flag(
        "--kubelet-config-of",
        metavar="LABEL=VALUE:FILE",
        multiple=True,
        help="KubeletConfiguration of the nodes with a label",
    ),
)


def pool_options(function: Command) -> Command:
    """Add what says what the nodes with a label are, as an argument for each flag."""
    return with_options(function, POOL_OPTIONS)


CLUSTER_OPTIONS: tuple[Decorator, ...] = (
    flag(
        "--cluster",
        metavar="CLUSTER",
        multiple=True,
        help="cluster files, kubectl dumps, folders of snapshots",
    ),
    flag(
        "--state",
        metavar="FILE",
        help="keep the cluster in FILE between commands",
    ),
    *POOL_OPTIONS,
    allow_outside_option,
)


def cluster_request(given: Given) -> ClusterRequest | None:
    """Take the flags of `CLUSTER_OPTIONS` out of a command's arguments; None: no cluster is named."""
    names = ("cluster", "state", "machine_of", "kubelet_config_of", "allow_outside")
    cluster, state, *others = (given.pop(name) for name in names)
    return ClusterRequest(cluster, state, *others) if cluster or state is not None else None


def with_kubelet(request: ClusterRequest, kubelet: KubeletRequest) -> ClusterRequest:
    """Give the machines of `--machine-of` their kubelets' settings."""
    if kubelet != KubeletRequest() and not request.machine_of:
        raise click.UsageError(
            "kubelet settings are for the machines of --machine-of; fix: add --machine-of LABEL=VALUE:MACHINE"
        )
    return request._replace(kubelet=kubelet)


@gathered(*CLUSTER_OPTIONS, kubelet_options)
def cluster_options(given: Given) -> None:
    """Add the flags that name a cluster; the command gets them as one argument, `request`."""
    request = cluster_request(given)
    if request is None:
        raise click.UsageError("no cluster given; fix: add --cluster FILE or --state FILE")
    given["request"] = with_kubelet(request, given.pop("kubelet"))


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

    return lambda function: with_options(function, options)
