"""Compare two kubelet versions: what an upgrade decides otherwise about the same pods, and which difference does it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis import WORST_FIRST
from numalign.analysis.compare.upgrade import Run, TriedDifference, decision, run, tried_differences
from numalign.analysis.node.restart import Restart, restart_of
from numalign.analysis.situation import Situation, arrivals
from numalign.errors import InputError, Notice, StartError
from numalign.kubelet.admission import Outcome, Session, admit_in_order
from numalign.kubelet.releases.release import Version, version_text
from numalign.kubelet.releases.table import PUBLISHED_NOTE, is_history, is_published, kubelet, parse_version
from numalign.kubelet.start.restart import come_up
from numalign.kubelet.start.restore import settle
from numalign.model.cpuset import format_set
from numalign.results.compare import PodUpgrade, UpgradeResult, VersionResult
from numalign.worlds.pod_result import pod_result

if TYPE_CHECKING:
    from numalign.kubelet.memory.state import Block
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.model.pod import Pod
    from numalign.results.admit import ContainerResult, PodResult
    from numalign.tasks.loaded_pods import Terms


def compare_versions(setup: Setup, versions: str, pods: Sequence[Pod], terms: Terms) -> UpgradeResult:
    """Admit pods as two kubelet versions, and find out which of their differences decides.

    Args:
        setup: machine and settings.
        versions: two versions joined by a comma, in any order.
        pods: in the order in which they come up.
        terms: what is there before them, and how they come. Both versions begin with an empty node; `there` is the one
            whose kubelet the upgrade restarts, or None: as the older version leaves it.

    Raises:
        InputError: not two versions.
    """
    releases = sorted({parse_version(text) for text in versions.split(",")})
    if len(releases) != 2:
        raise InputError(f"expected two different versions like 1.23,1.24, got {versions!r}", "--kubelet-version")
    started, there = terms.started, terms.there
    situation = Situation(setup, past=arrivals(terms.beside, started=started))
    older, newer = (run(situation, pods, kubelet(release), started=started) for release in releases)
    differences = tried_differences(situation, pods, older, newer, started=started)
    return UpgradeResult(
        setup=setup,
        older=_version(older),
        newer=_version(newer),
        same=tuple(decision(before) == decision(after) for before, after in _both(older, newer)),
        upgrades=tuple(
            _upgrade(place, pod_result(before), pod_result(after), differences)
            for place, (before, after) in enumerate(_both(older, newer))
        ),
        differences=differences,
        restart=_restart(older, newer, situation.setup, _last(there, pods) if there else None),
        notices=tuple(_notices(releases)),
    )


def _last(there: Session, pods: Sequence[Pod]) -> Session:
    """Return a node after some more pods."""
    for outcome in admit_in_order(there, pods):
        there = outcome.then
    return there


def _restart(older: Run, newer: Run, setup: Setup, there: Session | None) -> Restart | None:
    """Say what becomes of pods that run while the kubelet is upgraded: it restarts, with what the older one wrote."""
    if older.session is None or newer.session is None or is_history(older.kubelet.version):
        return None
    unsure = there is not None and sum(not pod.created for pod in there.pods) > 1
    if there is None:
        there = older.outcomes[-1].then if older.outcomes else older.session
    try:
        up = come_up(setup._replace(kubelet=newer.kubelet), there.node, there.state)
    except StartError as error:
        return Restart(start_error=error.message)
    seen = {pod.uid: up.node.read_pod(pod)[1] for pod in there.pods}
    up = up._replace(state=settle(up.state, seen), pods=there.pods)
    return restart_of(up, order="unknown" if unsure else "known")


def _notices(releases: Sequence[Version]) -> Iterator[Notice]:
    if is_history(releases[0]):
        text = f"history: kubelet {' and '.join(map(version_text, releases))} as they decided"
        yield Notice("history-kubelet-version", text, "--kubelet-version")
    for release in filter(is_published, releases):
        yield Notice("published-release", PUBLISHED_NOTE.format(version_text(release)), "--kubelet-version")


def _upgrade(place: int, before: PodResult, after: PodResult, differences: Sequence[TriedDifference]) -> PodUpgrade:
    """Say what changed for a pod, and which changes of the kubelet made it so."""
    changes, worse = _changes(before, after)
    causes = [tried.difference for tried in differences if place in tried.pods] if changes else []
    return PodUpgrade(after.full_name, tuple(changes), worse, tuple(causes))


def _changes(before: PodResult, after: PodResult) -> tuple[list[str], bool]:
    if before.admitted != after.admitted:
        if after.admitted:
            return ["rejected before, admitted now"], False
        return [f"admitted before, rejected now ({after.reason or after.stage})"], True
    if not after.admitted:
        alike = (before.reason, before.message) == (after.reason, after.message)
        return [] if alike else ["rejected by both, with different messages"], False
    changes: list[str] = []
    worse = False
    for old, new in zip(before.containers, after.containers, strict=True):
        for what, was, now in _held(old, new):
            changes.append(f"{new.name}: {what} {was or 'none'} before, {now or 'none'} now")
            worse = worse or (what != "hint" and bool(was) and not now)
    if WORST_FIRST.index(after.verdict) < WORST_FIRST.index(before.verdict):
        changes.append(f"{before.verdict} before, {after.verdict} now")
        worse = True
    return changes, worse


def _held(old: ContainerResult, new: ContainerResult) -> Iterator[tuple[str, str, str]]:
    """Yield (what, before, now) for all that a container holds otherwise."""
    if old.cpus != new.cpus:
        yield "CPUs", old.cpus or "", new.cpus or ""
    for resource in sorted({*old.devices, *new.devices}):
        was, now = (",".join(one.devices.get(resource, ())) for one in (old, new))
        if was != now:
            yield resource, was, now
    was, now = (", ".join(map(_block, one.holding.memory)) for one in (old, new))
    if was != now:
        yield "memory", was, now
    elif old.hint != new.hint:
        yield "hint", _hint(old.hint), _hint(new.hint)


def _block(block: Block) -> str:
    return f"{block.size} bytes of {block.type} on {_nodes(block.mask)}"


def _hint(hint: TopologyHint) -> str:
    mask = "no mask" if hint.numa_affinity is None else _nodes(hint.numa_affinity)
    return mask if hint.preferred else f"{mask} (not preferred)"


def _nodes(mask: int) -> str:
    return f"NUMA {format_set(mask)}"


def _both(older: Run, newer: Run) -> Iterable[tuple[Outcome, Outcome]]:
    if older.session is None or newer.session is None:
        return ()
    return zip(older.outcomes, newer.outcomes, strict=False)


def _version(one: Run) -> VersionResult:
    cpu = one.session.node.cpu if one.session else None
    return VersionResult(
        version_text(one.kubelet.version),
        one.error,
        bool(cpu and cpu.static),
        cpu.reserved if cpu else 0,
        tuple(pod_result(outcome) for outcome in one.outcomes),
    )
