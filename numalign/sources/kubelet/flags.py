"""The kubelet's command-line flags over a configuration, in the syntax the kubelet itself reads.

A flag replaces its field as a whole; only feature gates are added to those of the file, as the kubelet does. What can
be seen to be wrong without a machine is refused here; the rest is for `kubelet.start.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numalign.errors import InputError
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.topology.options import POLICIES, SCOPES
from numalign.model import cpuset, quantity
from numalign.model.cpuset import CPUSetError
from numalign.model.gotext import ConversionError, parse_bool, parse_int
from numalign.model.quantity import QuantityError

CPU_POLICIES = ("none", "static")
MEMORY_POLICIES = ("None", "Static", "BestEffort")
"""`BestEffort` is for Windows: a name the kubelet knows, and refuses to start with."""


def apply_flags(config: KubeletConfig, flags: Mapping[str, str]) -> KubeletConfig:
    """Lay flags over a configuration.

    Args:
        config: the configuration of file or base.
        flags: flag name without dashes -> text as given.

    Raises:
        InputError: an unknown flag, or one that cannot be read; `where` is the flag.
    """
    settings = read_flags(flags)
    if "feature_gates" in settings:
        settings["feature_gates"] = {**config.feature_gates, **settings["feature_gates"]}
    return config._replace(**settings)


def read_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """Read flags into fields of KubeletConfig; an empty text counts as not given, as in the file.

    Raises:
        InputError: an unknown flag, or one that cannot be read; `where` is the flag.
    """
    settings = {}
    for flag, text in flags.items():
        if flag not in _FLAGS:
            raise InputError(f"unknown kubelet flag; allowed: {', '.join(_FLAGS)}", f"--{flag}")
        field, read = _FLAGS[flag]
        value = read(text, f"--{flag}")
        if value != "":
            settings[field] = value
    return settings


def known_flags(flags: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Pick the flags that numalign reads out of a kubelet's command line; returns them, and what cannot be read."""
    known: dict[str, str] = {}
    problems = []
    for flag, text in flags.items():
        if flag in _FLAGS:
            try:
                read_flags({flag: text})
            except InputError as error:
                problems.append(str(error))
            else:
                known[flag] = text
    return known, problems


def _choice(*known: str) -> Callable[[str, str], str]:
    """Accept the kubelet's own values."""

    def read(text: str, where: str) -> str:
        if text and text not in known:
            from numalign.model.words import nearest

            near = nearest(text, known) if len(text) > 4 else None
            if near:
                raise InputError(f'unknown value "{text}"; hint: similar: {near}', where)
            raise InputError(f'expected one of {", ".join(known)}, got "{text}"', where)
        return text

    return read


def _pairs(text: str, where: str, sign: str, example: str) -> dict[str, str]:
    """Split `a=1,b=2`; of a name given twice the last counts."""
    pairs = {}
    for part in text.split(",") if text.strip() else ():
        name, found, value = part.partition(sign)
        if not found or not name.strip() or not value.strip():
            raise InputError(f'expected NAME{sign}VALUE, several joined by commas ({example}), got "{part}"', where)
        pairs[name.strip()] = value.strip()
    return pairs


def _options(example: str) -> Callable[[str, str], dict[str, str]]:
    return lambda text, where: _pairs(text, where, "=", example)


def _amounts(text: str, where: str, example: str = "cpu=1,memory=1Gi") -> dict[str, str]:
    amounts = _pairs(text, where, "=", example)
    for name, amount in amounts.items():
        _check_quantity(name, amount, where)
    return amounts


def _thresholds(text: str, where: str) -> dict[str, str]:
    thresholds = _pairs(text, where, "<", "memory.available<100Mi,nodefs.available<10%")
    for signal, threshold in thresholds.items():
        if not threshold.endswith("%"):
            _check_quantity(signal, threshold, where)
    return thresholds


def _check_quantity(name: str, text: str, where: str) -> None:
    try:
        quantity.parse(text)
    except QuantityError:
        fix = quantity.fix_of(text)
        raise InputError(f'{name}: expected a quantity like "500m" or "2Gi", got "{text}"{fix}', where) from None


def _cpus(text: str, where: str) -> str:
    try:
        cpuset.parse(text)
    except CPUSetError as error:
        raise InputError(f'expected a CPU list like "0-3,8", got "{text}": {error}', where) from None
    return text


def _gates(text: str, where: str) -> dict[str, bool]:
    gates = {}
    for name, value in _pairs(text, where, "=", "CPUManagerPolicyAlphaOptions=true").items():
        try:
            gates[name] = parse_bool(value)
        except ConversionError:
            raise InputError(f'{name}: expected true or false, got "{value}"', where) from None
    return gates


def _number(text: str, where: str) -> int:
    try:
        return parse_int(text)
    except ConversionError:
        raise InputError(f'expected a number, got "{text}"', where) from None


def is_flag(name: str) -> bool:
    """Tell whether numalign reads a flag of the kubelet."""
    return name in _FLAGS


def _reserved_memory(text: str, where: str) -> tuple[MemoryReservation, ...]:
    """Read `0:memory=1Gi,hugepages-1Gi=2Gi;1:memory=2Gi`."""
    reservations = []
    for part in text.split(";") if text.strip() else ():
        node, found, limits = part.partition(":")
        try:
            number = parse_int(node.strip()) if found else -1
        except ConversionError:
            number = -1
        amounts = _amounts(limits, where, "memory=1Gi,hugepages-1Gi=2Gi")
        if not 0 <= number < 2**31 or not amounts:
            message = f'expected NODE:RESOURCE=AMOUNT, nodes joined by ; (0:memory=1Gi;1:memory=1Gi), got "{part}"'
            raise InputError(message, where)
        reservations.append(MemoryReservation(number, amounts))
    return tuple(reservations)


_FLAGS: Mapping[str, tuple[str, Callable[[str, str], Any]]] = {
    "topology-manager-policy": ("topology_manager_policy", _choice(*POLICIES)),
    "topology-manager-scope": ("topology_manager_scope", _choice(*SCOPES)),
    "topology-manager-policy-options": (
        "topology_manager_policy_options",
        _options("prefer-closest-numa-nodes=true,max-allowable-numa-nodes=16"),
    ),
    "cpu-manager-policy": ("cpu_manager_policy", _choice(*CPU_POLICIES)),
    "cpu-manager-policy-options": ("cpu_manager_policy_options", _options("full-pcpus-only=true")),
    "memory-manager-policy": ("memory_manager_policy", _choice(*MEMORY_POLICIES)),
    "reserved-memory": ("reserved_memory", _reserved_memory),
    "reserved-cpus": ("reserved_system_cpus", _cpus),
    "kube-reserved": ("kube_reserved", _amounts),
    "system-reserved": ("system_reserved", _amounts),
    "eviction-hard": ("eviction_hard", _thresholds),
    "feature-gates": ("feature_gates", _gates),
    "max-pods": ("max_pods", _number),
}
"""Flag -> field of KubeletConfig and its reader."""
