"""Feature gates that a kubelet does not survive: unknown, locked, or without the gates they need.

docs/rules/kubelet-versions.md 2, "Bad gates". It does not report them but crashes while it reads its configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.errors import StartError
from numalign.kubelet.releases.gate_names import has_gate
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import exact_kubelets
from numalign.kubelet.releases.v1_32 import V1_32


class StartPanicError(StartError):
    """The kubelet crashes at its start."""


def check_feature_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> None:
    """Check the gates of a configuration; of several problems all are told, sorted by gate.

    Raises:
        StartPanicError: the kubelet would crash; the text is its own.
    """
    problems = [*bad_gates(kubelet, given).values()] or [*_unmet(kubelet, given)]
    if problems:
        cause = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise StartPanicError(
            f"failed to merge global and in-flight KubeletConfiguration while setting defaults, error: {cause}"
        )


def doubtful_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> list[str]:
    """List gates of a configuration that the kubelet may or may not know, by name."""
    return sorted(name for name in given if name not in kubelet.gates and _has(kubelet, name) is None)


def bad_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> dict[str, str]:
    """Judge each gate by itself: the name of each that the kubelet does not survive -> its own text, by name."""
    return dict(_each(kubelet, given))


def _each(kubelet: Kubelet, given: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    for name, value in sorted(given.items()):
        gate = kubelet.gates.get(name)
        if gate is None:
            if _has(kubelet, name) is False:
                yield name, f"unrecognized feature gate: {name}"
        elif gate.locked and gate.default != value:
            default = str(gate.default).lower()
            yield name, f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {default}"


def _has(kubelet: Kubelet, name: str) -> bool | None:
    """Tell whether the kubelet has a gate that does not matter here; None: that is not certain.

    Before 1.32 nothing about other gates is.
    """
    if kubelet.version < V1_32.version:
        return None
    if any(name in other.gates for other in exact_kubelets()):
        return False
    return has_gate(kubelet.version, name)


def _unmet(kubelet: Kubelet, given: Mapping[str, bool]) -> Iterator[str]:
    """Judge the gates together; what the defaults alone leave unmet is none of the configuration's doing."""
    default, now = kubelet.gates_with({}), kubelet.gates_with(given)
    for name, needed in sorted(kubelet.needs.items()):
        off = [other for other in needed if not now(other)]
        if now(name) and off and not (default(name) and off == [other for other in needed if not default(other)]):
            yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
