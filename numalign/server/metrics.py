"""Figures for Prometheus, in its text form. No node and no pod is ever named: labels stay few, whatever the cluster.

Where the meaning is that of a metric of the kubelet the name is the kubelet's, with `numalign_` for `kubelet_`:
docs/serve.md says which, and which are left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from numalign.render.prometheus import Family, Sample, exposition, single

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
        return exposition(self._families(nodes, age, stale))

    def _families(self, nodes: int, age: float, stale: int) -> Iterator[Family]:
        name = "numalign_extender"
        calls = [Sample(n, {"verb": verb, "code": status}) for (verb, status), n in sorted(self._requests.items())]
        yield Family(f"{name}_requests_total", "counter", "Calls, by HTTP status.", calls)
        text = "Time of a call, with the arrival of its body."
        yield Family(f"{name}_request_duration_seconds", "histogram", text, self._histograms())
        judged = [Sample(n, {"verb": verb, "answer": word}) for (verb, word), n in sorted(self._nodes.items())]
        yield Family(f"{name}_nodes_judged_total", "counter", "Nodes of filter calls, by answer.", judged)
        yield from (single(f"numalign_{name}", "counter", text, value) for name, text, value in self._totals())
        yield single("numalign_nodes", "gauge", "Nodes that are known.", nodes)
        yield single("numalign_nodes_stale", "gauge", "Nodes whose data are too old to be trusted.", stale)
        text = "Age of the oldest file, or of the data of the cluster."
        yield single("numalign_node_data_age_seconds", "gauge", text, f"{age:.3f}")

    def _totals(self) -> Iterator[tuple[str, str, int]]:
        manager = "topology_manager_admission"
        yield f"{manager}_requests_total", "Nodes of filter calls with topology data.", self._judged
        yield f"{manager}_errors_total", "Nodes of filter calls that cannot align the pod.", self._unaligned
        text = "Nodes of filter calls that passed because they are unknown."
        yield "extender_nodes_unknown_total", text, self._unknown
        yield "reloads_total", "Changes of the nodes that were read.", self.reloads
        yield "reload_failures_total", "Changes of the nodes that could not be read.", self.failed_reloads

    def _histograms(self) -> Iterator[Sample]:
        for verb, buckets in sorted(self._durations.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
                total += count
                yield Sample(total, {"verb": verb, "le": bound}, "_bucket")
            yield Sample(f"{self._seconds[verb]:.6f}", {"verb": verb}, "_sum")
            yield Sample(total, {"verb": verb}, "_count")
