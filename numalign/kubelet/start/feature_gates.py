"""Feature gates that a kubelet does not survive: unknown, locked, or without the gates they need.

docs/rules/kubelet-versions.md 2, "Bad gates". It does not report them but crashes while it reads its configuration.
Gates that decide what numalign replays stand in the releases, all others in `gate_table`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from numalign.errors import StartPanicError
from numalign.kubelet.releases import NEWEST
from numalign.kubelet.releases.release import Gate, Kubelet, Version, switched
from numalign.kubelet.releases.table import known_kubelets
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.start.gate_table import is_told_of, table

_GROUPS = ("AllAlpha", "AllBeta")
_CERTAIN: tuple[Version, Version] = ((1, 33), NEWEST)
"""In these releases a name that stands nowhere is no gate."""
_NEEDS_SINCE: Version = (1, 35)
"""From here on the kubelet checks the gates that others need."""


def check_feature_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> None:
    """Check the gates of a configuration; of several problems all are told, sorted by gate.

    Raises:
        StartPanicError: the kubelet would crash; the text is its own.
    """
    problems = [*bad_gates(kubelet, given).values()] or [
        f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
        for name, off in unmet_gates(kubelet, given).items()
    ]
    if problems:
        told = ", ".join(problems)
        cause = told if len(problems) == 1 else f"[{told}]"
        raise StartPanicError(
            f"failed to merge global and in-flight KubeletConfiguration while setting defaults, error: {cause}"
        )


def doubtful_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> list[str]:
    """List gates of a configuration of which it is not certain that the kubelet takes them so, by name."""
    return sorted([name for name, value in given.items() if _is_doubtful(kubelet, name, value)])


def _is_doubtful(kubelet: Kubelet, name: str, value: bool) -> bool:
    if name in kubelet.gates or name in _GROUPS:
        return False
    if kubelet.version < V1_32.version:
        return True
    row = table().get(name)
    if row is None:
        certain = _CERTAIN[0] <= kubelet.version <= _CERTAIN[1]
        return not certain and not any(name in other.gates for other in known_kubelets())
    gate = row.at(kubelet.version)
    return row.is_doubtful(kubelet.version) and (gate is None or gate.default != value)


def bad_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> dict[str, str]:
    """Judge each gate by itself: the name of each that the kubelet does not survive -> its own text, by name."""
    return dict(_each(kubelet, given))


def _each(kubelet: Kubelet, given: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    for name, value in sorted(given.items()):
        gate = gate_of(kubelet, name)
        if gate is None:
            if name not in _GROUPS and not _is_doubtful(kubelet, name, value):
                yield name, f"unrecognized feature gate: {name}"
        elif gate.locked and gate.default != value:
            default = str(gate.default).lower()
            yield name, f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {default}"


def gate_of(kubelet: Kubelet, name: str) -> Gate | None:
    """Return what a gate is to a kubelet; None: it does not know it, as far as is known."""
    if name in kubelet.gates or kubelet.version < V1_32.version:
        return kubelet.gates.get(name)
    row = table().get(name)
    return row.at(kubelet.version) if row else None


def unmet_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> dict[str, list[str]]:
    """Judge the gates together: each that is on -> those that it needs and that are off, by name.

    What the defaults alone leave unmet is none of the configuration's doing.
    """
    own = {*kubelet.needs, *chain.from_iterable(kubelet.needs.values()), *_GROUPS}
    if kubelet.version < _NEEDS_SINCE or not any(name in own or is_told_of(name) for name in given):
        return {}
    rows = table()
    others = {name: gate for name, row in rows.items() if (gate := row.at(kubelet.version))}
    gates = {**others, **kubelet.gates}
    needs = {**{name: rows[name].needs for name in others}, **kubelet.needs}
    default, now = switched(gates, {}), switched(gates, given)
    found = {}
    for name, needed in sorted(needs.items()):
        off = [other for other in needed if not now(other)]
        if now(name) and off and not (default(name) and off == [other for other in needed if not default(other)]):
            found[name] = off
    return found
