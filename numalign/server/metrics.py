"""Figures for Prometheus, in its text form. No node and no pod is ever named: labels stay few, whatever the cluster.

Where the meaning is that of a metric of the kubelet the name is the kubelet's, with `numalign_` for `kubelet_`:
docs/serve.md says which, and which are left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from numalign.scheduler.extender import FilterAnswer

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds in seconds."""


class Metrics:
    """Counted while the server runs."""

    def __init__(self) -> None:
        """Start at zero."""
        self._requests: Counter[tuple[str, int]] = Counter()
        self._durations: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._nodes: Counter[tuple[str, str]] = Counter()
        self._judged = self._unaligned = self._unknown = 0
        self.reloads = 0
        self.failed_reloads = 0

    def answered(self, verb: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests[verb, status] += 1
        buckets = self._durations.setdefault(verb, [0] * (len(BUCKETS) + 1))
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[verb] += seconds  # type: ignore[assignment]  # a Counter holds fractions as well

    def judged(self, answer: FilterAnswer) -> None:
        """Count the nodes of a filter call."""
        self._nodes["filter", "passed"] += len(answer.passed)
        self._nodes["filter", "failed"] += len(answer.failed)
        self._nodes["filter", "unresolvable"] += len(answer.unresolvable)
        self._judged += answer.judged
        self._unaligned += answer.unaligned
        self._unknown += answer.unknown

    def text(self, nodes: int, age: float, stale: int) -> str:
        """Write all figures.

        Args:
            nodes: how many nodes are known.
            age: seconds since the oldest of the files was written.
            stale: nodes whose data are too old to be trusted.
        """
        return "".join(f"{line}\n" for line in self._lines(nodes, age, stale))

    def _lines(self, nodes: int, age: float, stale: int) -> Iterator[str]:
        yield "# TYPE numalign_extender_requests_total counter"
        for (verb, status), count in sorted(self._requests.items()):
            yield f'numalign_extender_requests_total{{verb="{verb}",code="{status}"}} {count}'
        yield "# TYPE numalign_extender_request_duration_seconds histogram"
        for verb, buckets in sorted(self._durations.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
                total += count
                yield f'numalign_extender_request_duration_seconds_bucket{{verb="{verb}",le="{bound}"}} {total}'
            yield f'numalign_extender_request_duration_seconds_sum{{verb="{verb}"}} {self._seconds[verb]:.6f}'
            yield f'numalign_extender_request_duration_seconds_count{{verb="{verb}"}} {total}'
        yield "# TYPE numalign_extender_nodes_judged_total counter"
        for (verb, answer), count in sorted(self._nodes.items()):
            yield f'numalign_extender_nodes_judged_total{{verb="{verb}",answer="{answer}"}} {count}'
        for name, kind, value in (
            ("numalign_topology_manager_admission_requests_total", "counter", str(self._judged)),
            ("numalign_topology_manager_admission_errors_total", "counter", str(self._unaligned)),
            ("numalign_extender_nodes_unknown_total", "counter", str(self._unknown)),
            ("numalign_nodes", "gauge", str(nodes)),
            ("numalign_nodes_stale", "gauge", str(stale)),
            ("numalign_node_data_age_seconds", "gauge", f"{age:.3f}"),
            ("numalign_reloads_total", "counter", str(self.reloads)),
            ("numalign_reload_failures_total", "counter", str(self.failed_reloads)),
        ):
            yield f"# TYPE {name} {kind}"
            yield f"{name} {value}"
