"""The active pods of a node, and what they request together.

docs/rules/admission-fit.md 3.2 adds up every pod that is there for each that comes. Here the sums go along from pod to
pod, so that the thousandth costs what the first one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from numalign.kubelet.demand import of_node
from numalign.model.pod import Pod
from numalign.model.resources import whole


class ActivePods(tuple[Pod, ...]):
    """Pods in order of admission; what they request is added up when it is first asked for."""

    @cached_property
    def used(self) -> Mapping[str, int]:
        """Every resource that they request -> how much, each pod rounded by itself. Copies are worked out once."""
        total: dict[str, int] = {}
        known: dict[tuple[int, ...], list[tuple[str, int]]] = {}
        for pod in self:
            alike = id(pod.containers), id(pod.overhead), id(pod.level), id(pod.status)
            amounts = known.get(alike)
            if amounts is None:
                amounts = known[alike] = requested(pod)
            _add(total, amounts, 1)
        return total

    def plus(self, pod: Pod) -> ActivePods:
        """Return these and one more."""
        return self._changed((*self, pod), (pod,), 1)

    def without(self, uid: str) -> ActivePods:
        """Return these but those of a UID."""
        return self._changed(
            tuple([pod for pod in self if pod.uid != uid]), [pod for pod in self if pod.uid == uid], -1
        )

    def _changed(self, pods: tuple[Pod, ...], difference: Iterable[Pod], sign: int) -> ActivePods:
        """Return other pods; what they request is known if that of these is."""
        result = ActivePods(pods)
        if "used" in self.__dict__:
            total = dict(self.used)
            for pod in difference:
                _add(total, requested(pod), sign)
            result.__dict__["used"] = total
        return result


def requested(pod: Pod) -> list[tuple[str, int]]:
    """Return all that a pod requests, overhead included, in the units of the fit check."""
    nano = of_node(pod)
    for resource, quantity in pod.overhead.items():
        nano[resource] = nano.get(resource, 0) + quantity.nano
    return [(resource, whole(resource, amount)) for resource, amount in nano.items()]


def _add(total: dict[str, int], amounts: Iterable[tuple[str, int]], sign: int) -> None:
    for resource, amount in amounts:
        total[resource] = total.get(resource, 0) + sign * amount
