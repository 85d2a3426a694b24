"""Whether a published object speaks of the pods on its node (docs/rules/scheduling.md 3.4, podresources.md 27)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.scheduler import fingerprint
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.request import exclusive_containers, read
from numalign.sources.cluster.objects import PodRead

Names = list[tuple[str, str]]
"""(namespace, name) pairs."""


def is_stale(nrt: NodeResourceTopology, pods: Sequence[PodRead], ended: Sequence[tuple[str, str]]) -> bool:
    """Tell whether an object was written when other pods were on its node; one without fingerprint never is.

    Args:
        nrt: the object.
        pods: the pods that are bound to the node and have not ended.
        ended: those that have ended, each (namespace, name): a kubelet may list them a while longer.
    """
    said = fingerprint.published(nrt)
    if not said.text:
        return False
    return all(
        fingerprint.check(said.text, names) == "mismatch" for names in _sets(nrt, pods, ended, said.only_exclusive)
    )


def _sets(
    nrt: NodeResourceTopology, pods: Sequence[PodRead], ended: Sequence[tuple[str, str]], only_exclusive: bool
) -> Iterator[Names]:
    """Return the sets of pods that a kubelet may have listed, the likeliest first."""
    if only_exclusive:
        listed = nrt.listed
        pods = [one for one in pods if exclusive_containers(read(one.pod), listed)]
    names = [(one.pod.namespace, one.pod.name) for one in pods]
    yield names
    started = [(one.pod.namespace, one.pod.name) for one in pods if one.phase != "Pending"]
    if len(started) < len(names):
        yield started
    if ended and not only_exclusive:
        yield [*names, *ended]
