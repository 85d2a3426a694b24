"""What a restart of the kubelet does to the pods that run: whom it rejects, in which order, and who should go first.

docs/rules/kubelet-files.md 70 to 76. Pods of the API server come in the order of their creation, static pods in the
order of a Go map, so that they are tried in both directions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from numalign.kubelet import node as twin
from numalign.kubelet.admission import Outcome, Session
from numalign.kubelet.fit.check import exceeded
from numalign.kubelet.memory.state import STATIC
from numalign.kubelet.start.restart import readmit, running_of
from numalign.model.pod import Pod
from numalign.values import NamedTuple

When = Literal["", "order", "plugins"]
"""Rejected in any case; or only where others come before; or only where a device plugin registers later."""

Order = Literal["known", "random", "unknown"]
"""Whether it is known in which order pods come again; `random`: several of them are static."""


class Rejection(NamedTuple):
    """A running pod that a restart rejects."""

    name: str
    uid: str
    place: int
    """Which pod it is, from 1, in the order in which they come again."""
    reason: str
    message: str
    when: When


class Restart(NamedTuple):
    """What comes of a restart."""

    pods: int = 0
    """How many pods run."""
    order: Order = "known"
    rejected: tuple[Rejection, ...] = ()
    """In that order."""
    first: tuple[str, ...] = ()
    """Pods without which it rejects nobody."""
    memory_may_move: bool = False
    """A reboot can change the memory of NUMA nodes, and then the kubelet does not start (63)."""
    devices: tuple[str, ...] = ()
    """Pods that need their devices anew after a reboot (76)."""
    start_error: str = ""
    """Why the kubelet does not come up, in its words; empty: it does."""


def restart_of(up: Session, coming: Sequence[Pod] = (), order: Order = "known") -> Restart:
    """Say what happens to the pods of a node when its kubelet restarts.

    Args:
        up: the kubelet after its start, with what its files say; its pods are those that run.
        coming: all that come again, in order, with static pods that were rejected before; empty: those that run.
        order: whether that is their order.
    """
    pods = coming or up.pods
    found = Restart(
        len(up.pods),
        order,
        memory_may_move=up.node.memory.policy == STATIC,
        devices=tuple([pod.full_name for pod in up.pods if pod.uid in up.state.device.holdings]),
    )
    trial = _Trial(up, pods, unsure=order != "known")
    rejected = tuple(trial.rejections())
    return found._replace(rejected=rejected, first=tuple(trial.to_move({one.uid for one in rejected})))


class _Trial:
    """Restarts of one node, in all the ways that matter."""

    def __init__(self, up: Session, pods: Sequence[Pod], *, unsure: bool) -> None:
        misread = up.view is not None and any(exceeded(up.pods, up.view))
        self._up = up._replace(view=None) if misread else up
        self._pods = pods
        self._unsure = unsure
        self._running = running_of(up.pods)
        self._anew = any(
            name not in {one for of, one in self._running if of == uid}
            for uid, held in up.state.device.holdings.items()
            if uid in up.state.pods
            for name in held
        )

    def rejections(self) -> Iterable[Rejection]:
        """Yield who is rejected, in the order in which pods come."""
        listed = self._rejected(self._up, self._pods)
        turned = self._rejected(self._up, self._pods[::-1]) if self._unsure else listed
        late = self._rejected(self._up, self._pods, ()) if self._anew else listed
        for place, pod in enumerate(self._pods, start=1):
            outcome = listed.get(pod.uid) or turned.get(pod.uid) or late.get(pod.uid)
            if outcome is not None and pod.uid in self._up.state.pods:
                sure = pod.uid in listed and pod.uid in turned
                when: When = "" if sure else "order" if pod.uid in listed or pod.uid in turned else "plugins"
                reason = outcome.reason or outcome.stage
                yield Rejection(
                    name=pod.full_name, uid=pod.uid, place=place, reason=reason, message=outcome.message, when=when
                )

    def to_move(self, moved: set[str]) -> Iterable[str]:
        """Yield the pods that have to go before the restart: those that it rejects, and whoever it rejects then."""
        more = moved
        while more:
            pods = [pod for pod in self._pods if pod.uid not in moved]
            up = self._up
            for uid in moved:
                up = up._replace(state=twin.remove(up.node, up.state, uid))
            found = self._rejected(up, pods, () if self._anew else None)
            if self._unsure:
                found = {**found, **self._rejected(up, pods[::-1])}
            more = {uid for uid in found if uid in up.state.pods}
            moved = moved | more
        return (pod.full_name for pod in self._pods if pod.uid in moved)

    def _rejected(
        self, up: Session, pods: Sequence[Pod], registered: Collection[str] | None = None
    ) -> Mapping[str, Outcome]:
        come = readmit(up, pods, registered=registered, running=self._running)
        return {one.pod.uid: one for one in come if not one.admit}
