"""Compare two kubelet versions: what an upgrade decides otherwise about the same pods, and which difference does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.compare.upgrade import Run, decision, run, tried_differences
from numalign.analysis.whatif.situation import Situation, arrivals
from numalign.errors import InputError, Notice
from numalign.kubelet.proposals.table import with_proposals
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.results.compare import UpgradeResult, VersionResult
from numalign.tasks.pod_result import pod_result
from numalign.tasks.setup import check_choices

if TYPE_CHECKING:
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod


def compare_versions(
    setup: Setup, versions: str, pods: Sequence[Pod], *, beside: Sequence[Pod] = (), started: bool = False
) -> UpgradeResult:
    """Admit pods as two kubelet versions, and find out which of their differences decides.

    Args:
        setup: machine and settings; its kubelet says what is beyond any kubelet.
        versions: two versions joined by a comma, in any order.
        pods: in the order in which they come up.
        beside: pods that are there already, admitted first.
        started: the containers of an admitted pod start before the next pod comes.

    Raises:
        InputError: not two versions, or a pod chooses its policy by an annotation that is wrong.
    """
    check_choices(setup, (*beside, *pods))
    releases = sorted({parse_version(text) for text in versions.split(",")})
    if len(releases) != 2:
        raise InputError(f"--kubelet-version: expected two different versions like 1.23,1.24, got {versions!r}")
    situation = Situation(setup, past=arrivals(beside, started=started))
    older, newer = (
        run(situation, pods, with_proposals(kubelet(release), setup.kubelet.proposals), started=started)
        for release in releases
    )
    label = Notice("history-kubelet-version", f"history: kubelet {versions} as they decided", "--kubelet-version")
    return UpgradeResult(
        setup=setup,
        older=_version(older),
        newer=_version(newer),
        same=tuple(decision(before) == decision(after) for before, after in _both(older, newer)),
        differences=tried_differences(situation, pods, older, newer, started=started),
        notices=(label,),
    )


def _both(older: Run, newer: Run) -> Iterable[tuple[Outcome, Outcome]]:
    if older.session is None or newer.session is None:
        return ()
    return zip(older.outcomes, newer.outcomes, strict=True)


def _version(one: Run) -> VersionResult:
    cpu = one.session.node.cpu if one.session else None
    return VersionResult(
        version_text(one.kubelet.version),
        one.error,
        bool(cpu and cpu.static),
        cpu.reserved if cpu else 0,
        tuple(pod_result(outcome) for outcome in one.outcomes),
    )
