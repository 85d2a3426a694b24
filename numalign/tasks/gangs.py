"""Objects whose pods are tried together: how many of each come up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.results.admit import Gang

if TYPE_CHECKING:
    from numalign.results.admit import PodResult
    from numalign.sources.pods.manifest import PodSource


def gangs_of(sources: Sequence[PodSource], pods: Iterable[PodResult]) -> tuple[Gang, ...]:
    """Count the pods of each object, and those that were admitted.

    Args:
        sources: where the pods that were tried come from.
        pods: what became of them, in the same order; the last may be missing where the kubelet did not survive.
    """
    admitted = [pod.admitted for pod in pods]
    admitted += [False] * (len(sources) - len(admitted))
    tried = [one for one in zip(sources, admitted, strict=True) if one[0].kind != "Pod"]
    return tuple(_gang(list(members)) for _, members in groupby(tried, key=lambda one: _object(one[0])))


def _object(source: PodSource) -> tuple[str, int, str, str]:
    return source.document.name, source.document.first_line, source.kind, source.owner


def _gang(members: Sequence[tuple[PodSource, bool]]) -> Gang:
    first = members[0][0]
    by_role = [(role, [fits for _, fits in each]) for role, each in groupby(members, key=lambda one: one[0].role)]
    return Gang(
        kind=first.kind,
        name=first.owner,
        wanted=len(members),
        admitted=sum(fits for _, fits in members),
        roles=tuple((role, sum(fits), len(fits)) for role, fits in by_role) if len(by_role) > 1 else (),
    )
