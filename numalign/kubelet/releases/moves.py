"""The changes that releases make again and again: an option moves up; a gate appears, is switched on, locked, gone.

What a release changed otherwise stands in its own module, with its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from numalign.kubelet.config import Level
from numalign.kubelet.reading import PodReading
from numalign.kubelet.releases.release import Change, Gate, Kubelet, Manager, Option, Stage, Version

_LEVEL_GATES: Final[Mapping[Manager, str]] = {"cpu": "CPUManagerPolicy", "topology": "TopologyManagerPolicy"}
"""How the names of the gates begin that let a manager's alpha and beta options through."""


def with_option(name: str, manager: Manager, level: Level) -> Callable[[Kubelet], Kubelet]:
    """Make a change: an option appears, or moves to another level."""
    return lambda kubelet: kubelet._replace(options={**kubelet.options, name: Option(manager, level)})


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


def option_to_beta(since: Version, name: str, manager: Manager) -> Change:
    """Say that an alpha option is beta, and make it so."""
    return Change(
        topic=f"option {name}",
        since=since,
        older=f"alpha: it needs {_LEVEL_GATES[manager]}AlphaOptions",
        newer="beta: on without a feature gate",
        concerns="you set it",
        apply=with_option(name, manager, "Beta"),
    )


def option_to_stable(since: Version, name: str, manager: Manager) -> Change:
    """Say that a beta option is stable, and make it so."""
    return Change(
        topic=f"option {name}",
        since=since,
        older="beta",
        newer="stable: it needs no feature gate",
        concerns=f"you set it and switch {_LEVEL_GATES[manager]}BetaOptions off",
        apply=with_option(name, manager, "Stable"),
    )


def gate_appears(since: Version, name: str) -> Change:
    """Say that there is a new feature gate, alpha and off, and add it."""
    return Change(
        topic=f"gate {name}",
        since=since,
        older="unknown",
        newer="alpha, off",
        concerns="your configuration names the gate",
        apply=with_gate(name, Gate(default=False, stage="alpha")),
    )


def gate_switched_on(since: Version, name: str, concerns: str = "anybody", *, stage: Stage = "beta") -> Change:
    """Say that a feature gate is on by default, and switch it on."""
    return Change(
        topic=f"gate {name}",
        since=since,
        older="off unless asked for",
        newer="on by default",
        concerns=concerns,
        apply=with_gate(name, Gate(default=True, stage=stage)),
    )


def gate_locked(since: Version, name: str, older: str) -> Change:
    """Say that a feature gate can no longer be switched off, and lock it."""
    return Change(
        topic=f"gate {name}",
        since=since,
        older=older,
        newer="locked on; setting it to false stops the kubelet",
        concerns="your configuration sets the gate to false",
        apply=with_gate(name, Gate(default=True, stage="GA", locked=True)),
    )


def gate_gone(since: Version, name: str) -> Change:
    """Say that a locked feature gate is gone, and take it out."""
    return Change(
        topic=f"gate {name}",
        since=since,
        older="locked on",
        newer="gone; naming it stops the kubelet",
        concerns="your configuration names the gate",
        apply=without_gate(name),
    )
