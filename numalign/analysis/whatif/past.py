"""What a change of settings does to the pods before: they are admitted anew under it, and may get something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.kubelet.admission import Session
from numalign.model.pod import Pod
from numalign.values import NamedTuple


class Held(NamedTuple):
    """What a pod holds."""

    name: str
    amounts: tuple[tuple[str, int], ...]
    """(resource, amount) pairs of CPUs of its own, devices and pinned bytes."""


class Anew(NamedTuple):
    """How the pods before a refused one fare under other settings. None of those that are there now is refused then."""

    newcomers: tuple[Held, ...]
    """Pods that were refused before, and are admitted under the other settings."""
    moved: tuple[str, ...]
    """Names of pods that get other CPUs, other devices or memory of other nodes."""


def anew(now: Session, then: Session) -> Anew:
    """Compare what pods hold with what they would hold."""
    there = {pod.uid for pod in now.pods}
    newcomers = held_by(then, [pod for pod in then.pods if pod.uid not in there])
    moved = [pod.name for pod in then.pods if pod.uid in there and _differs(now, then, pod)]
    return Anew(newcomers, tuple(moved))


def held_by(session: Session, pods: Sequence[Pod]) -> tuple[Held, ...]:
    """Read what pods hold."""
    return tuple([Held(pod.name, tuple(_held(session, pod).items())) for pod in pods])


def _differs(now: Session, then: Session, pod: Pod) -> bool:
    """Tell whether a pod has something else of what it holds in both."""
    both = zip(_places(now, pod), _places(then, pod), strict=True)
    return any(old and new and old != new for old, new in both)


def _places(session: Session, pod: Pod) -> Iterator[object]:
    device, cpu, memory = session.state.states
    for container in pod.containers:
        yield cpu.assigned(pod.uid, container.name)
        yield device.holdings.get(pod.uid, {}).get(container.name)
        yield {block.mask for block in memory.blocks(pod.uid, container.name) or ()}


def _held(session: Session, pod: Pod) -> dict[str, int]:
    """Add up what a pod holds; CPUs and devices that init containers leave to later ones count once."""
    device, cpu, memory = session.state.states
    sets: dict[str, int] = {}
    held: dict[str, int] = {}
    for container in pod.containers:
        sets["cpu"] = sets.get("cpu", 0) | (cpu.assigned(pod.uid, container.name) or 0)
        for name, members in device.holdings.get(pod.uid, {}).get(container.name, {}).items():
            sets[name] = sets.get(name, 0) | members
        for block in memory.blocks(pod.uid, container.name) or ():
            held[block.type] = held.get(block.type, 0) + block.size
    amounts = {**{name: members.bit_count() for name, members in sets.items()}, **held}
    return {name: amount for name, amount in amounts.items() if amount}
