"""What `verify` says to Prometheus: of containers that hold something, of NUMA nodes, and of the reading itself.

Namespace, pod and container are labels only where the figure is of one container, so that it joins with what others say
of the same container. A kubelet has so many pods at most, and containers with nothing to align are only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from numalign.analysis.verify.compare import VERDICTS, Judged, pages
from numalign.render.prometheus import Family, Sample, exposition, single

if TYPE_CHECKING:
    from numalign.results.node import Outlook, VerifyResult


def verify_metrics(result: VerifyResult | None, *, last: float = 0.0, errors: int = 0) -> str:
    """Write one reading of a node.

    Args:
        result: what was read; None: the reading failed, and nothing of the node is known now.
        last: when the last reading succeeded that did not give `result`, in seconds of the epoch.
        errors: how many readings have failed.
    """
    families = [] if result is None else [*_counted(result), *_containers(_one_each(result.containers))]
    outlook = result.outlook if result else None
    families += _outlook(outlook) if outlook else ()
    families += _reading(result is not None, result.at if result else last, errors)
    return exposition(families)


def _reading(success: bool, last: float, errors: int) -> Iterator[Family]:
    name = "numalign_verify"
    yield single(f"{name}_success", "gauge", "Whether the last reading of the node succeeded.", int(success))
    text = "When the last reading of the node succeeded, in seconds of the epoch."
    yield single(f"{name}_timestamp_seconds", "gauge", text, f"{last:.3f}")
    yield single(f"{name}_errors_total", "counter", "Readings of the node that failed.", errors)


def _one_each(containers: Iterable[Judged]) -> list[Judged]:
    """Choose one container for each name: what a dead pod left over may have the name of one that runs."""
    found: dict[tuple[str, str], Judged] = {}
    for one in containers:
        key = (one.plan.pod, one.plan.container)
        if one.verdict != "none" and (key not in found or found[key].group is None):
            found[key] = one
    return list(found.values())


def _counted(result: VerifyResult) -> Iterator[Family]:
    counts = Counter(one.verdict for one in result.containers)
    yield Family(
        "numalign_containers",
        "gauge",
        "Containers by verdict.",
        [Sample(counts[verdict], {"verdict": verdict}) for verdict in VERDICTS],
    )


Figure = Callable[["Judged"], int | None]
"""Of one container; None: it has no such figure."""


def _pinned(figure: Callable[[Judged], int]) -> Figure:
    return lambda one: figure(one) if one.plan.exclusive else None


_FIGURES: Final[tuple[tuple[str, str, Figure], ...]] = (
    (
        "drifted",
        "Whether what a container uses differs from the plan of the kubelet.",
        lambda one: int(one.verdict == "drifted"),
    ),
    (
        "cpus_floating",
        "Whether the CPUs of a container are not pinned, although it holds devices or requests whole CPUs.",
        lambda one: int(one.plan.alignment.cpus_float),
    ),
    (
        "remote_devices",
        "Devices of a container on NUMA nodes where it has no exclusive CPU.",
        _pinned(lambda one: len(one.remote_devices)),
    ),
    (
        "remote_memory_bytes",
        "Memory of a container on other NUMA nodes than planned, or than those of its exclusive CPUs.",
        lambda one: None if one.remote is None else sum(one.remote.values()),
    ),
    (
        "intruders",
        "Processes of the host or of other containers that run on exclusive CPUs of a container.",
        _pinned(lambda one: sum(found.code == "intruder" for found in one.findings)),
    ),
)
"""What follows `numalign_container_`, the help, and the figure."""


def _containers(containers: list[Judged]) -> Iterator[Family]:
    text = "Whether all that a container holds is on as few NUMA nodes as possible, and as planned; 0 if unknown."
    within = {"boundary": "numa_node"}
    aligned = [Sample(int(one.verdict == "aligned"), {**within, **_labels(one)}) for one in containers]
    yield Family("numalign_container_aligned", "gauge", text, aligned)
    for name, text, figure in _FIGURES:
        figures = ((figure(one), one) for one in containers)
        samples = [Sample(value, _labels(one)) for value, one in figures if value is not None]
        yield Family(f"numalign_container_{name}", "gauge", text, samples)
    memory = [
        Sample(size, {"numa_node": node, **_labels(one)})
        for one in containers
        for node, size in sorted((pages(one.group) or {}).items() if one.group else ())
    ]
    text = "Anonymous and shared memory and huge pages of a container by NUMA node."
    yield Family("numalign_container_memory_bytes", "gauge", text, memory)


def _outlook(outlook: Outlook) -> Iterator[Family]:
    """Say of the node what free CPUs and devices are good for, and what a restart of its kubelet does."""
    if outlook.exclusive_cpus:
        yield Family(
            "numalign_stranded_cpus",
            "gauge",
            "Free CPUs of a NUMA node that no aligned container can get.",
            [Sample(room.cpus.bit_count() - room.largest, {"numa_node": room.node}) for room in outlook.rooms],
        )
        yield Family(
            "numalign_stranded_devices",
            "gauge",
            "Free devices of a NUMA node on which no aligned container can get a CPU.",
            [
                Sample(0 if room.largest else free, {"numa_node": room.node, "resource": resource})
                for room in outlook.rooms
                for resource, (free, _) in room.devices.items()
            ],
        )
    text = "Whether the kubelet would restart with its state files, configuration and machine."
    yield single("numalign_kubelet_would_restart", "gauge", text, int(outlook.would_restart))
    if outlook.rejected is not None:
        text = "Running pods that a restart of the kubelet rejects, or can reject."
        yield single("numalign_restart_rejected_pods", "gauge", text, outlook.rejected)


def _labels(one: Judged) -> dict[str, object]:
    namespace, _, name = one.plan.pod.rpartition("/")
    return {"namespace": namespace, "pod": name, "container": one.plan.container}
