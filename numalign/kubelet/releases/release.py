"""A kubelet as a value, and what may change it: a release, or a proposal that no release carries out.

A release is its predecessor with parts replaced. Nothing that decides asks which release it is: the right function is
already in place. Which release changed what is in `table`; what was only ever proposed in `kubelet/proposals`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from numalign.kubelet.config import Level
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.device.state import DeviceManager, DeviceState
from numalign.kubelet.memory.state import MemoryManager, MemoryState
from numalign.kubelet.reading import PodReading
from numalign.kubelet.topology.hints import HintList, TopologyHint
from numalign.kubelet.topology.manager import Merge, Refusal, Scope, TopologyManager
from numalign.kubelet.topology.provider import HintProvider
from numalign.model.pod import Pod
from numalign.values import NamedTuple

Version = tuple[int, int]
"""Major and minor version of a release."""

Manager = Literal["cpu", "topology"]
"""A manager that has policy options."""

Stage = Literal["alpha", "beta", "GA", "deprecated"]


def version_text(version: Version) -> str:
    """Write a version: `1.23`."""
    return f"{version[0]}.{version[1]}"


class Option(NamedTuple):
    """A policy option of the CPU or the Topology Manager."""

    manager: Manager
    level: Level


class Gate(NamedTuple):
    """A feature gate."""

    default: bool
    stage: Stage
    locked: bool = False
    """It cannot be set to anything but its default."""


Combine = Callable[[str, Sequence[TopologyHint], int], TopologyHint]


class MergeRules(NamedTuple):
    """How hints become one, and the same step by step for people who check it."""

    merge: Merge
    combine: Combine
    """(policy, one combination of hints, mask of all nodes) -> what the combination merges to."""
    single_filter: Callable[[Sequence[HintList]], Sequence[HintList]]
    """What `single-numa-node` does to the lists before they are combined."""
    ranked: bool
    """Candidates compare by docs/rules/topology-manager.md 6.4, so the runner-up and what beat it can be told."""


class Kubelet(NamedTuple):
    """A kubelet: which release, and what each of its parts does."""

    version: Version
    device: HintProvider[DeviceManager, DeviceState]
    cpu: HintProvider[CPUManager, CPUState]
    memory: HintProvider[MemoryManager, MemoryState]
    merging: MergeRules
    scopes: Mapping[str, Scope]
    """Name -> how a pod is admitted there."""
    policies: tuple[str, ...]
    """Policies of the Topology Manager."""
    options: Mapping[str, Option]
    """The policy options that exist."""
    gates: Mapping[str, Gate]
    """The feature gates that matter here."""
    settings: frozenset[str]
    """Fields of KubeletConfiguration that exist, of those that some release lacks."""
    reading: PodReading
    """How a pod is read."""
    refusal: Refusal
    option_not_enabled: Callable[[str, str], str]
    """(level, option) -> the Topology Manager's text where the gate of an option's level is off."""
    fail_cgroup_v1: bool
    """The default of `failCgroupV1`."""
    needs: Mapping[str, tuple[str, ...]] = {}
    """Feature gate -> the gates that must be on where it is; empty: nothing checks that."""
    choose: Callable[[TopologyManager, Pod], TopologyManager] | None = None
    """What lets a pod choose policy and scope; None, as in every release: nothing does."""
    proposals: tuple[Proposal, ...] = ()
    """What it does that no release does."""

    def gates_with(self, given: Mapping[str, bool]) -> Callable[[str], bool]:
        """Return what tells whether a feature gate is on, where some are set by hand."""
        gates = {name: gate.default for name, gate in self.gates.items()}
        for group, stage in (("AllAlpha", "alpha"), ("AllBeta", "beta")):
            if group in given:
                gates |= {name: given[group] for name, gate in self.gates.items() if gate.stage == stage}
        gates |= given
        return lambda name: gates.get(name, False)

    def levels(self, manager: Manager) -> dict[str, str]:
        """Return the options of a manager that exist, and their levels."""
        return {name: option.level for name, option in self.options.items() if option.manager == manager}


class Change(NamedTuple):
    """One thing that changed with a release."""

    topic: str
    since: Version
    older: str
    """What was before, for people."""
    newer: str
    apply: Callable[[Kubelet], Kubelet]
    """Replace the part that changed."""
    remedy: str = ""
    """What somebody can do for whom it makes things worse; empty: nothing special."""
    concerns: str = "anybody"
    """Whom it concerns, for people."""


class Proposal(NamedTuple):
    """One thing that was only ever proposed."""

    label: str
    """What it is, in a few words for people."""
    apply: Callable[[Kubelet], Kubelet]
