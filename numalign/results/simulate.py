"""The result of a simulation: one run, or several of the same trace side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.errors import Notice
from numalign.scheduler.simulate.report import Report
from numalign.values import NamedTuple

NOT_DONE: Final = "interrupted before it was done"
"""The error of a run that nobody waited for."""


class NamedRun(NamedTuple):
    """One run of a trace."""

    name: str
    """`unaware`, `aware`, `instant`, or the settings of a sweep: `policy=restricted, seed=3`."""
    report: Report | None
    """None: the run failed."""
    error: str = ""
    """Why it failed."""


class SimulateResult(NamedTuple):
    """Runs of one trace on one cluster."""

    cluster: str
    """The name of the cluster's file."""
    trace: str
    seed: int
    runs: tuple[NamedRun, ...]
    causes: Mapping[str, str]
    """Cause of a disagreement (`X-1` …) -> words, for those that occur."""
    notices: tuple[Notice, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether a run was ended before its time: its report, if there is one, is the one so far."""
        return any(
            one.error == NOT_DONE if one.report is None else one.report.ended_by == "interrupted" for one in self.runs
        )
