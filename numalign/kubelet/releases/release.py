"""A kubelet as a value, and what may change it: a release.

A release is its predecessor with parts replaced. Nothing that decides asks which release it is: the right function is
already in place. Which release changed what is in `table`. What releases do again and again is said here once:
options move up; a gate appears, is switched on, locked, gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from numalign.kubelet.config import Level, Manager, Option
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.options import OPTIONS as CPU_OPTIONS
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.device.state import DeviceManager, DeviceState
from numalign.kubelet.memory.state import MemoryManager, MemoryState
from numalign.kubelet.reading import PodReading
from numalign.kubelet.topology.hints import HintList, TopologyHint
from numalign.kubelet.topology.manager import Merge, Refusal, Scope
from numalign.kubelet.topology.options import OPTIONS as TOPOLOGY_OPTIONS
from numalign.kubelet.topology.provider import HintProvider
from numalign.values import NamedTuple

Version = tuple[int, int]
"""Major and minor version of a release."""

Stage = Literal["alpha", "beta", "GA", "deprecated"]

STAGES: Final[Mapping[str, Stage]] = {"a": "alpha", "b": "beta", "g": "GA", "d": "deprecated"}
"""A stage by its letter."""

OPTIONS: Final[Mapping[str, Option]] = {row.name: row for row in (*CPU_OPTIONS, *TOPOLOGY_OPTIONS)}
"""The policy options of every release."""


def version_text(version: Version) -> str:
    """Write a version: `1.23`."""
    return f"{version[0]}.{version[1]}"


class Gate(NamedTuple):
    """A feature gate."""

    default: bool
    stage: Stage
    locked: bool = False
    """It cannot be set to anything but its default."""


def switched(gates: Mapping[str, Gate], given: Mapping[str, bool]) -> Callable[[str], bool]:
    """Return what tells whether a feature gate is on, where some are set by hand."""
    on = {name: gate.default for name, gate in gates.items()}
    for group, stage in (("AllAlpha", "alpha"), ("AllBeta", "beta")):
        if group in given:
            on |= {name: given[group] for name, gate in gates.items() if gate.stage == stage}
    on |= given
    return lambda name: on.get(name, False)


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
    options: Mapping[str, Level]
    """The policy options that exist, and their levels."""
    gates: Mapping[str, Gate]
    """The feature gates that matter here."""
    settings: frozenset[str]
    """Fields of KubeletConfiguration that exist, of those that some release lacks."""
    reading: PodReading
    """How a pod is read."""
    refusal: Refusal
    option_not_enabled: Callable[[Level, str], str]
    """(level, option) -> the Topology Manager's text where the gate of an option's level is off."""
    fail_cgroup_v1: bool
    """The default of `failCgroupV1`."""
    needs: Mapping[str, tuple[str, ...]] = {}
    """Feature gate -> the gates that must be on where it is; empty: nothing checks that."""

    def gates_with(self, given: Mapping[str, bool]) -> Callable[[str], bool]:
        """Return what tells whether a feature gate is on, where some are set by hand."""
        return switched(self.gates, given)

    def levels(self, manager: Manager) -> dict[str, Level]:
        """Return the options of a manager that exist, and their levels."""
        return {name: level for name, level in self.options.items() if OPTIONS[name].manager == manager}


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
    sure: Literal["", "A", "B", "C"] = ""
    """How sure it is where it was not recorded (docs/rules/kubelet-1.37.md): read, merged, concluded."""


def with_option(name: str, level: Level) -> Callable[[Kubelet], Kubelet]:
    """Make a change: an option appears, or moves to another level."""
    return lambda kubelet: kubelet._replace(options={**kubelet.options, name: level})


def with_gate(name: str, gate: Gate) -> Callable[[Kubelet], Kubelet]:
    """Make a change: a feature gate appears, or gets another default, stage or lock."""
    return lambda kubelet: kubelet._replace(gates={**kubelet.gates, name: gate})


def without_gate(name: str) -> Callable[[Kubelet], Kubelet]:
    """Make a change: a feature gate is gone."""
    return lambda kubelet: kubelet._replace(
        gates={other: gate for other, gate in kubelet.gates.items() if other != name}
    )


def with_needs(needs: Mapping[str, tuple[str, ...]]) -> Callable[[Kubelet], Kubelet]:
    """Make a change: feature gates need others."""
    return lambda kubelet: kubelet._replace(needs={**kubelet.needs, **needs})


def with_reading(replace: Callable[[PodReading], PodReading]) -> Callable[[Kubelet], Kubelet]:
    """Make a change: a part of reading a pod is another."""
    return lambda kubelet: kubelet._replace(reading=replace(kubelet.reading))


def with_settings(*names: str) -> Callable[[Kubelet], Kubelet]:
    """Make a change: fields of KubeletConfiguration appear."""
    return lambda kubelet: kubelet._replace(settings=kubelet.settings | set(names))


_LEVEL_GATES: Final[Mapping[Manager, str]] = {"cpu": "CPUManagerPolicy", "topology": "TopologyManagerPolicy"}
"""How the names of the gates begin that let a manager's alpha and beta options through."""


def option_changes(since: Version) -> tuple[Change, ...]:
    """Say which options a release brought or moved up, and make it so."""
    return tuple([_option_change(since, row) for row in OPTIONS.values() if since in row.levels])


def _option_change(since: Version, row: Option) -> Change:
    level, gates = row.levels[since], _LEVEL_GATES[row.manager]
    alpha = f"alpha: it needs {gates}AlphaOptions"
    older, newer, concerns = {
        "Alpha": ("unknown", alpha, "you set it"),
        "Beta": (alpha, "beta: on without a feature gate", "you set it"),
        "Stable": (
            "beta",
            "stable: it needs no feature gate",
            f"you set it and switch {gates}BetaOptions off",
        ),
    }[level]
    if since == min(row.levels):
        older = "unknown"
    return Change(f"option {row.name}", since, older, newer, with_option(row.name, level), concerns=concerns)


def _gate_becomes(since: Version, name: str, gate: Gate, older: str, newer: str, concerns: str) -> Change:
    """Say that there is a new feature gate, or that one is otherwise now, and make it so."""
    return Change(f"gate {name}", since, older, newer, with_gate(name, gate), concerns=concerns)


def gate_appears(since: Version, name: str) -> Change:
    """Say that there is a new feature gate, alpha and off, and add it."""
    gate = Gate(default=False, stage="alpha")
    return _gate_becomes(since, name, gate, "unknown", "alpha, off", "your configuration names the gate")


def gate_switched_on(since: Version, name: str, concerns: str = "anybody", *, stage: Stage = "beta") -> Change:
    """Say that a feature gate is on by default, and switch it on."""
    gate = Gate(default=True, stage=stage)
    return _gate_becomes(since, name, gate, "off by default", "on by default", concerns)


def gate_locked(since: Version, name: str, older: str) -> Change:
    """Say that a feature gate can no longer be switched off, and lock it."""
    gate = Gate(default=True, stage="GA", locked=True)
    newer = "locked on; setting it to false stops the kubelet"
    return _gate_becomes(since, name, gate, older, newer, "your configuration sets the gate to false")


def gate_gone(since: Version, name: str) -> Change:
    """Say that a locked feature gate is gone, and take it out."""
    newer, concerns = "gone; naming it stops the kubelet", "your configuration names the gate"
    return Change(f"gate {name}", since, "locked on", newer, without_gate(name), concerns=concerns)
