"""A simulation for programs: JSON, and a row a pod."""

from __future__ import annotations

from numalign.render.json import Data, head, plain, warnings
from numalign.render.page.table_csv import Rows
from numalign.results.cluster import NamedRun, SimulateResult
from numalign.scheduler.simulate.report import PodRow


def simulate_json(result: SimulateResult) -> Data:
    """Write the runs as data; times are seconds, shares go from 0 to 1."""
    return {
        **head("SimulateResult"),
        "cluster": result.cluster,
        "trace": result.trace,
        "seed": result.seed,
        "runs": [_run(one) for one in result.runs],
        "warnings": warnings(result.notices),
    }


def _run(run: NamedRun) -> Data:
    if run.report is None:
        return {"name": run.name, "error": run.error}
    rest = plain(run.report._replace(pods=(), moments=()))
    return {"name": run.name, **{key: value for key, value in rest.items() if key not in ("pods", "moments")}}


def simulate_rows(result: SimulateResult) -> Rows:
    """Give a row a pod of every run."""
    rows = ((run.name, *row) for run in result.runs if run.report is not None for row in run.report.pods)
    return ("run", *PodRow._fields), rows
