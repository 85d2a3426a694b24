"""`numalign simulate`: a cluster over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from numalign.cli.cluster_options import allow_outside_option
from numalign.cli.engine_options import engine_options
from numalign.cli.flags import flag
from numalign.cli.options import answer_options
from numalign.cli.stderr import Progress, say, tell
from numalign.cli.view import Output, View, command_line, faces_of, late_imports, show
from numalign.exit_status import ExitStatus
from numalign.results.cluster import SimulateResult
from numalign.tasks.parallel import Engine
from numalign.tasks.simulate import SimulateRequest, TraceForm, simulate, sweep
from numalign.tasks.sweeps import RUNS, read_columns, read_runs, read_sweep

with late_imports():
    from numalign.render.json import simulate as json
    from numalign.render.picture import simulate as picture
    from numalign.render.text import simulate as text


if TYPE_CHECKING:
    from numalign.scheduler.simulate.settings import ReplicaSetBackoff


VIEW = View[SimulateResult](
    document=lambda result: text.simulate_document(result),
    data=lambda result: json.simulate_json(result),
    rows=lambda result: json.simulate_rows(result),
    own={"html": lambda result: picture.simulate_html(result, text.simulate_document(result), command_line())},
)


@click.command("simulate")
@flag("--cluster", required=True, metavar="FILE", help="cluster file: groups of nodes, scheduler, times")
@allow_outside_option
@flag(
    "--trace",
    required=True,
    metavar="FILE",
    help="workloads, one JSON object a line, or YAML",
)
@flag(
    "--trace-form",
    type=click.Choice(["numalign", "openb", "dlrm", "csv"]),
    default="numalign",
    show_default=True,
    help="format of the trace",
)
@flag("--columns", metavar="t=COLUMN,…", help="columns of a CSV trace")
@flag("--runs", default=",".join(RUNS), show_default=True, metavar="NAME,…", help="schedulers to run side by side")
@flag("--sweep", "swept", metavar="NAME=A|B,…", help="run every combination, policy=none|restricted")
@flag("--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="seed [default: that of the cluster file]")
@flag(
    "--audit",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="compare filter and kubelet for N attempts",
)
@flag("--retry-on-resync", is_flag=True, help="let a resync of the cache wake waiting pods")
@flag(
    "--replicaset-backoff",
    type=click.Choice(["none", "per_minute"]),
    default="none",
    show_default=True,
    help="proposed brake on ReplicaSets whose pods fail",
)
@engine_options
@answer_options(VIEW)
def command(
    cluster: str,
    allow_outside: bool,
    trace: str,
    trace_form: TraceForm,
    columns: str | None,
    runs: str,
    swept: str | None,
    seed: int | None,
    audit: int,
    retry_on_resync: bool,
    replicaset_backoff: ReplicaSetBackoff,
    engine: Engine,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Run a trace of pods on a cluster over time, with several schedulers side by side.

    \b
    Examples:
      numalign simulate --cluster cluster.yaml --trace trace.jsonl
      numalign simulate --cluster cluster.yaml --trace arrivals.yaml --seed 7 -o html > report.html
      numalign simulate --cluster cluster.yaml --trace trace.jsonl --sweep 'policy=none|restricted,seed=1..5' --jobs 4
    """
    request = SimulateRequest(
        cluster=cluster,
        trace=trace,
        form=trace_form,
        columns=None if columns is None else read_columns(columns),
        seed=seed,
        retry_on_resync=retry_on_resync,
        replicaset_backoff=replicaset_backoff,
        audit=audit,
        pods="rows" in faces_of(VIEW, output),
        allow_outside=allow_outside,
    )
    with Progress() as progress:
        if swept is None:
            result = simulate(request, read_runs(runs), progress=progress.show)
        else:
            result = sweep(request, read_sweep(swept), engine, progress=progress.show)
    tell(result.notices)
    if not quiet:
        show(VIEW, result, output)
        if request.pods:
            _tell_unfinished(result)
    if result.interrupted:
        return ExitStatus.INTERRUPTED
    return ExitStatus.DONE


def _tell_unfinished(result: SimulateResult) -> None:
    """Say what a table of pods has no place for."""
    for run in result.runs:
        if run.report is None:
            say(f"{run.name}: failed: {run.error}")
        elif run.report.ended_by == "interrupted":
            say(f"{run.name}: interrupted: the result shows the pods until then", "warning: ")
