"""The result of a comparison: the same pods under other settings and on other machines, a row a variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis import Verdict, is_aligned, worst
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.compare.table import Left
    from numalign.analysis.compare.upgrade import TriedDifference
    from numalign.analysis.node.restart import Restart
    from numalign.analysis.refusal import Refusal
    from numalign.errors import Notice
    from numalign.kubelet.releases.release import Change
    from numalign.kubelet.setup import Setup
    from numalign.results.admit import AdmitResult, PodResult
    from numalign.results.dra import NodeClaims


class ComparedRow(NamedTuple):
    """What one variant does with the pods."""

    setup: Setup
    option: str
    """The policy option that is on here beside those of the configuration; empty: none."""
    present: bool
    """It is the configuration as given."""
    error: str
    """Why the kubelet would not start; empty: it starts."""
    pods: tuple[PodResult, ...]
    """The pods as given; none after one that the kubelet does not survive."""
    refused: PodResult | None
    """The first of them that is refused, or the pod there already at which the kubelet fails."""
    refusal: Refusal | None
    """Why, if that was asked."""
    replicas: int
    """How many whole sets fit."""
    aligned_replicas: int
    """How many of them have nothing that is not aligned."""
    ended: PodResult | None
    """What ended the count: a refused pod, or an admitted one that evicts another; None: nothing did, or no start."""
    stranded: tuple[Left, ...]
    """What the last pod found free, by ascending NUMA node id; last, what has no node."""
    exclusive: frozenset[str]
    """Resources that the pods take exclusively: `cpu`, memory, huge pages, devices."""
    claims: NodeClaims | None = None
    """What the admitted pods hold by claim, if that was asked."""

    @property
    def admit(self) -> bool:
        """Tell whether all pods as given are admitted."""
        return bool(self.pods) and self.refused is None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the admitted pods as given."""
        return worst(pod.verdict for pod in self.pods if pod.admitted)

    @property
    def aligned(self) -> bool | None:
        """Tell whether the admitted pods as given are aligned; None: there is nothing to align, or nobody knows."""
        return is_aligned(self.verdict)

    @property
    def missing(self) -> tuple[str, ...]:
        """Device resources that admitted pods run without."""
        return tuple(dict.fromkeys(name for pod in self.pods for name in pod.missing))


class Scene(NamedTuple):
    """A node after the pods have come up, to be drawn beside others."""

    title: str
    result: AdmitResult | None
    """With its occupants; None: the kubelet does not start."""
    error: str = ""
    """Why the kubelet would not start."""


class ComparedMachine(NamedTuple):
    """All that was tried on one machine."""

    setup: Setup
    """As given."""
    rows: tuple[ComparedRow, ...]


class CompareResult(NamedTuple):
    """The whole comparison."""

    machines: tuple[ComparedMachine, ...]
    notices: tuple[Notice, ...]

    @property
    def rows(self) -> tuple[ComparedRow, ...]:
        """The rows of all machines."""
        return tuple(row for machine in self.machines for row in machine.rows)

    @property
    def best(self) -> tuple[ComparedRow, ...]:
        """The rows with most aligned replicas, or most replicas where none is aligned; empty: no row admits all pods.

        Those without a device that is asked for count only where all are without one.
        """
        if not any(one.replicas for one in self.rows):
            return ()
        whole = [one for one in self.rows if one.replicas and not one.missing] or self.rows
        if not any(one.aligned_replicas for one in whole) or all(one.aligned is None for one in self.rows):
            most = max(one.replicas for one in whole)
            return tuple(one for one in whole if one.replicas == most)
        most = max(one.aligned_replicas for one in whole)
        return tuple(one for one in whole if one.aligned_replicas == most)


class VersionResult(NamedTuple):
    """One kubelet version's decisions."""

    version: str
    error: str
    """Why it does not start; empty: it starts."""
    exclusive_cpus: bool
    """Whether the CPU manager gives out CPUs at all."""
    reserved_cpus: int
    """CPUs that are never given out exclusively, as a set."""
    pods: tuple[PodResult, ...]


class PodUpgrade(NamedTuple):
    """What an upgrade changes for one pod."""

    name: str
    changes: tuple[str, ...]
    """What is otherwise, a phrase each; empty: nothing."""
    worse: bool
    """It is refused now, or has lost CPUs or memory of its own, or is aligned no more."""
    causes: tuple[Change, ...]
    """Changes of the kubelet without which the newer version would decide otherwise about it; may be empty where only
    several together make the difference."""


class UpgradeResult(NamedTuple):
    """What another kubelet version decides about the same pods, and which difference makes it so."""

    setup: Setup
    older: VersionResult
    newer: VersionResult
    same: tuple[bool, ...]
    """Pod by pod, whether both versions decide alike; empty where one of them does not start."""
    upgrades: tuple[PodUpgrade, ...]
    """Pod by pod, what the newer version changes; empty where one of them does not start."""
    differences: tuple[TriedDifference, ...]
    restart: Restart | None
    """What the upgrade of a node where these pods run does to them; None: a version does not start, or is history."""
    notices: tuple[Notice, ...]

    @property
    def worse(self) -> bool:
        """Tell whether the newer version is worse for anybody: it does not start, or a pod gets less or is rejected."""
        stops = bool(self.newer.error) and not self.older.error
        rejects = self.restart is not None and (
            bool(self.restart.start_error) or not all(one.when for one in self.restart.rejected)
        )
        return stops or rejects or any(upgrade.worse for upgrade in self.upgrades)
