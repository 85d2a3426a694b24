"""`numalign schedule`: which node of a cluster a scheduler takes, and whether its kubelet agrees."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, get_args

import click

from numalign.cli.cluster_options import cluster_options, pods_of_cluster
from numalign.cli.flags import flag
from numalign.cli.options import answer_options, slices_option
from numalign.cli.stderr import but_claims, counted, report
from numalign.cli.view import Output, View, answering, late_imports, tell_and_show
from numalign.dra.features import RELEASES
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.kubelet.releases import NEWEST
from numalign.kubelet.releases.release import version_text
from numalign.results.cluster import ScheduleResult
from numalign.scheduler.config import Kind
from numalign.scheduler.node import Fleet
from numalign.tasks.cluster import ClusterRequest, changing_cluster, load_pods_for
from numalign.tasks.requests import ClaimsRequest
from numalign.tasks.schedule import schedule
from numalign.values import NamedTuple

with late_imports():
    from numalign.dra import features
    from numalign.render.json import cluster as json
    from numalign.render.text import schedule as text
    from numalign.tasks import claimed
    from numalign.worlds import claim_desk


if TYPE_CHECKING:
    from numalign.tasks.loaded_pods import LoadedPods
    from numalign.worlds.claim_desk import ClaimDesk


class Shown(NamedTuple):
    """An answer, and what is told beside it."""

    result: ScheduleResult
    fleet: Fleet
    origin: str
    notices: Sequence[Notice]


VIEW = View[Shown](
    document=lambda shown: text.schedule_document(shown.result, shown.fleet, shown.origin),
    wide=lambda shown: text.schedule_document(shown.result, shown.fleet, shown.origin, wide=True),
    data=lambda shown: json.schedule_json(shown.result, shown.origin, shown.notices),
    rows=lambda shown: text.schedule_rows(shown.result),
    names=lambda shown: text.schedule_names(shown.result),
)


@click.command("schedule")
@pods_of_cluster(counted=True)
@cluster_options
@slices_option
@flag(
    "--scheduler",
    type=click.Choice(get_args(Kind)),
    help="who chooses the node [default: cluster file, or nrt]",
)
@flag(
    "--scheduler-version",
    metavar="1.N",
    help=f"with --slices: its release, {RELEASES[0]} to {RELEASES[-1]}",
)
@answer_options(VIEW)
def command(
    pod: tuple[str, ...],
    files: tuple[str, ...],
    copies: int | None,
    request: ClusterRequest,
    slices: str | None,
    scheduler: Kind | None,
    scheduler_version: str | None,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Predict which node a scheduler chooses for each POD, and whether its kubelet admits it.

    \b
    Examples:
      numalign schedule pod.yaml --cluster cluster.yaml --scheduler unaware
      numalign schedule web.yaml --replicas 8 --cluster c.yaml --state now.json
      kubectl get nodes,noderesourcetopologies,pods -A -o json | numalign schedule pod.yaml --cluster -

    Exit status: 0 all run, 1 a pod has no node or is rejected, 2 wrong input.
    """
    names = (*pod, *files)
    if not names:
        raise click.UsageError("no POD given; fix: name a file, a folder, or - for standard input")
    with ExitStack() as changed:
        loaded, writing = changed.enter_context(changing_cluster(request))
        up = load_pods_for(names, loaded.fleet, copies)
        config = loaded.fleet.scheduler
        desk = None if slices is None else _claims(slices, names, up, scheduler_version or _newest(loaded.fleet))
        config = config._replace(kind=scheduler or config.kind)
        done = schedule(loaded.fleet, counted(up.tried, "pods"), config, desk)
        notices = (*loaded.notices, *but_claims(up.notices, slices), *done.result.notices)
        notices += () if up.broken else changed.enter_context(writing(done.fleet))
        with answering(changed):
            tell_and_show(VIEW, Shown(done.result, loaded.fleet, loaded.origin, notices), output, notices, quiet=quiet)
    return report(up.broken, ExitStatus.DONE if done.result.runs else ExitStatus.NO)


def _newest(fleet: Fleet) -> str:
    """Return the release of the newest kubelet that is known: no scheduler is older than a kubelet of its cluster."""
    versions = [node.session.node.kubelet.version for node in fleet.nodes if node.session is not None]
    return version_text(max(versions, default=NEWEST))


def _claims(slices: str, names: tuple[str, ...], up: LoadedPods, release: str) -> ClaimDesk:
    asked = features.asked_features(release, "", "--scheduler-version")
    return claim_desk.ClaimDesk(claimed.load_claims(ClaimsRequest(slices, None, names, up.claims)), up.files, asked)
