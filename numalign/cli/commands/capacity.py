"""`numalign capacity`: how many more of a pod a cluster holds, aligned, and what is stranded."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from numalign.cli.cluster_options import CLUSTER_OPTIONS, cluster_request, pods_of_cluster, with_kubelet
from numalign.cli.flags import Given, flag, gathered
from numalign.cli.options import answer_options, kubelet_options, machine_option, node_options
from numalign.cli.pod_options import MAX_JOBS
from numalign.cli.stderr import report
from numalign.cli.view import Output, View, late_imports, tell_and_show
from numalign.errors import InputError, Notice
from numalign.exit_status import ExitStatus
from numalign.model.pod import Pod
from numalign.results.capacity import CapacityResult
from numalign.scheduler.node import Fleet
from numalign.tasks.capacity import capacity
from numalign.tasks.cluster import LoadedCluster, load_cluster, load_one_node, load_pods_for
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.values import NamedTuple
from numalign.worlds.copies import Probe

with late_imports():
    from numalign.render.json import cluster as json
    from numalign.render.picture import cluster
    from numalign.render.text import capacity as text


class Shown(NamedTuple):
    """An answer, and what is told beside it."""

    result: CapacityResult
    on: LoadedCluster
    notices: Sequence[Notice]


VIEW = View[Shown](
    document=lambda shown: text.capacity_document(shown.result, shown.on.fleet, shown.on.origin, shown.on.setup),
    wide=lambda shown: text.capacity_document(shown.result, shown.on.fleet, shown.on.origin, shown.on.setup, wide=True),
    data=lambda shown: json.capacity_json(shown.result, shown.on.origin, shown.notices),
    rows=lambda shown: text.capacity_rows(shown.result),
    picture=lambda shown: cluster.heat_map(shown.result, shown.on.origin),
)


@gathered(
    *CLUSTER_OPTIONS,
    flag("--node-name", metavar="NAME", help="node to use, if a file has several"),
    flag("--beside", metavar="FILE", help="pods already on the node"),
    node_options,
    machine_option(without="that of the node"),
    kubelet_options,
)
def _place_options(given: Given) -> None:
    """Add the flags that name a cluster, or one node; the command gets them as one argument, `loaded`."""
    cluster = cluster_request(given)
    kubelet: KubeletRequest = given.pop("kubelet")
    node, machine, name, beside = (given.pop(one) for one in ("node", "machine", "node_name", "beside"))
    if cluster is not None and any((node, machine, name, beside)):
        raise click.UsageError("--cluster and --state cannot be used with --node and --machine; fix: remove one kind")
    if cluster is None and node is None and machine is None:
        raise click.UsageError("no node given; fix: add --cluster FILE, --state FILE or --node SOURCE")
    pods = PodsRequest((), beside=beside, node_name=name)
    given["loaded"] = (
        load_cluster(with_kubelet(cluster, kubelet)) if cluster else load_one_node(node, machine, kubelet, pods)
    )


@click.command("capacity")
@pods_of_cluster(counted=False)
@_place_options
@flag("--mix", metavar="POD=N,…", help="count several pods together, such as a=3,b=1")
@flag(
    "--right-size",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="find the largest size of which N copies align",
)
@flag(
    "--jobs",
    type=click.IntRange(1, MAX_JOBS),
    metavar="N",
    default=os.cpu_count() or 1,
    help="processes [default: all cores]",
)
@answer_options(VIEW)
def command(
    pod: tuple[str, ...],
    files: tuple[str, ...],
    loaded: LoadedCluster,
    mix: str | None,
    right_size: int | None,
    jobs: int,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Count how many more copies of each POD fit on a cluster or a node, now and empty.

    \b
    Examples:
      numalign capacity pod.yaml --cluster cluster.yaml
      numalign capacity pod.yaml --node /var/lib/kubelet
      numalign capacity train.yaml infer.yaml --mix train=1,infer=3 --cluster cluster.yaml

    Exit status: 0 a copy fits, 1 no copy fits, 2 wrong input.
    """
    names = (*pod, *files)
    if not names:
        raise click.UsageError("no POD given; fix: name a file, a folder, or - for standard input")
    if mix is not None and right_size is not None:
        raise click.UsageError("--right-size cannot be used with --mix; fix: remove one")
    up = load_pods_for(names, Fleet(()))
    shapes = ["-".join(filter(None, (source.owner, source.template.role))) for source in up.sources]
    result = capacity(loaded.fleet, _probes(up.tried, shapes, mix), right_size=right_size, jobs=jobs)
    notices = (*loaded.notices, *up.notices, *result.notices)
    tell_and_show(VIEW, Shown(result, loaded, notices), output, notices, quiet=quiet)
    return report(up.broken, ExitStatus.DONE if result.fits else ExitStatus.NO)


def _probes(pods: Sequence[Pod], shapes: Sequence[str], mix: str | None) -> list[Probe]:
    """Make what is tried: each pod by itself, or one round of a mix; a shape is called as its pods are."""
    if mix is None:
        return [Probe(f"{pod.namespace}/{name}", (pod,)) for pod, name in zip(pods, shapes, strict=True)]
    known = dict(zip(shapes, pods, strict=True))
    together: list[Pod] = []
    for part in mix.split(","):
        name, _, text = part.strip().partition("=")
        if name not in known:
            raise InputError(f'no POD has the name "{name}"; allowed: {", ".join(known)}', "--mix")
        if not (text.isascii() and text.isdigit() and 0 < int(text) <= 1000):
            raise InputError(f'expected {name}=N with N from 1 to 1000, got "{part.strip()}"', "--mix")
        together += [known[name]] * int(text)
    return [Probe(f"rounds of {mix}", tuple(together))]
