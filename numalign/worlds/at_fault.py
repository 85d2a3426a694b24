"""Which field of a manifest an answer is about: the line at which a pull request shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.model.path import child
from numalign.model.pod import Pod, container_paths
from numalign.model.resources import CPU

if TYPE_CHECKING:
    from numalign.results.admit import ContainerResult, PodResult
    from numalign.results.explain import ExplainedPod

Suspect = tuple[str | None, str]
"""A container (None: any) and a resource."""


def field_at_fault(pod: Pod, result: PodResult, told: ExplainedPod | None, container: str) -> str:
    """Return the path of what the first fix changes, else of what is in the way; the container's where none is known.

    Args:
        pod: what came up.
        result: what became of it.
        told: the explanation, if there is one.
        container: the container that the answer is about; empty: the whole pod.
    """
    if told is not None and not told.changes:
        blamed = [blame.path for one in told.unpinned if one.container == container for blame in one.blame]
        if blamed:
            return blamed[0]
    paths = container_paths(pod)
    for name, resource in _suspects(result, told, container):
        for path, one in zip(paths, pod.containers, strict=True):
            if name in (None, one.name) and resource in one.requests:
                which = "limits" if resource in one.limits else "requests"
                return child(f"{path}.resources.{which}", resource)
    own = (path for path, one in zip(paths, pod.containers, strict=True) if one.name == container)
    return next((f"{path}.resources" for path in own), "")


def _suspects(result: PodResult, told: ExplainedPod | None, container: str) -> Iterator[Suspect]:
    """Name what may be at fault, the likeliest first."""
    if told is not None:
        yield from (key for change in told.changes[:1] for key in change.amounts)
        if told.refusal is not None:
            yield from ((told.refusal.at, name) for name in told.refusal.resources)
    for one in result.containers:
        if one.name == container:
            yield from ((container, name) for name in _apart(one))


def _apart(container: ContainerResult) -> Iterator[str]:
    """Name what a container lacks, what lies elsewhere, and what needs most NUMA nodes."""
    judged = container.alignment
    yield from judged.missing
    yield from (one.resource for one in judged.remote)
    yield from (one.resource for one in judged.too_large)
    yield from (CPU,) if judged.cpus_float else (*judged.widest, *(one.resource for one in judged.unknown))
