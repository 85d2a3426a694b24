"""The Topology Manager's own checks at start (docs/rules/topology-manager.md 2) and the options it then works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig, Level, Option
from numalign.model.gotext import ConversionError, parse_bool, parse_int, quote
from numalign.model.machine import Machine
from numalign.values import NamedTuple

POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
SCOPES = ("container", "pod")
PREFER_CLOSEST = "prefer-closest-numa-nodes"
MAX_NODES = "max-allowable-numa-nodes"
LEAST_MAX_NODES = 8
"""The default of `max-allowable-numa-nodes`, and the least it may be."""


class TopologyOptions(NamedTuple):
    """The policy options as the Topology Manager holds them; names as in the kubelet, `-` as `_`."""

    max_allowable_numa_nodes: int = LEAST_MAX_NODES
    prefer_closest_numa_nodes: bool = False


def _all_nodes(machine: Machine) -> tuple[str, str] | None:
    count = len(machine.numa_nodes)
    why = f"this machine has {count} NUMA nodes, {LEAST_MAX_NODES} are allowed by default"
    return (str(count), why) if count > LEAST_MAX_NODES else None


def _closest(machine: Machine) -> tuple[str, str] | None:
    """The kubelet reads rows by node id: with gaps in the ids it would read past them."""
    ids = [node.id for node in machine.numa_nodes]
    known = all(node.distances is not None and max(ids) < len(node.distances) for node in machine.numa_nodes)
    return ("true", "of several nodes it takes those next to each other") if len(ids) > 2 and known else None


OPTIONS = (
    Option(
        MAX_NODES,
        "topology",
        {(1, 31): "Beta", (1, 35): "Stable"},
        number=True,
        appeared=("unknown; 8 NUMA nodes are the limit", "beta; more than 8 NUMA nodes can be allowed"),
        suggested=_all_nodes,
    ),
    Option(
        PREFER_CLOSEST,
        "topology",
        {(1, 26): "Alpha", (1, 28): "Beta", (1, 32): "Stable"},
        on="Among equal sets the kubelet then takes the NUMA nodes closest to each other.",
        off="The kubelet then ignores distances between NUMA nodes.",
        appeared=("unknown; of masks of equal width the lowest wins", "alpha; the closest mask wins"),
        unfit="the distances of the NUMA nodes of this machine are unknown",
        suggested=_closest,
    ),
)
"""All of them (2.2)."""


def start(
    config: KubeletConfig,
    machine: Machine,
    *,
    gates: Callable[[str], bool],
    policies: Sequence[str] = POLICIES,
    levels: Mapping[str, Level],
    refusal: Callable[[Level, str], str],
) -> TopologyOptions:
    """Check policy, options, node count and scope, in the order of topology-manager.md 2.

    Args:
        config: the settings.
        machine: the machine.
        gates: tells whether a feature gate is on.
        policies: the policies that exist.
        levels: the options that exist, and their levels.
        refusal: (level, option) -> the text where the gate of the level is off.

    Raises:
        StartError: with the kubelet's text.
    """
    if config.topology_manager_policy == "none":
        return TopologyOptions()
    options = read_options(config, gates, levels, refusal)
    if options.prefer_closest_numa_nodes and any(node.distances is None for node in machine.numa_nodes):
        raise StartError("cannot discover NUMA topology: error getting NUMA distances from cadvisor")
    if len(machine.numa_nodes) > options.max_allowable_numa_nodes:
        raise StartError(f"unsupported on machines with more than {options.max_allowable_numa_nodes} NUMA Nodes")
    if config.topology_manager_policy not in policies:
        raise StartError(f"unknown policy: {quote(config.topology_manager_policy)}")
    if config.topology_manager_scope not in SCOPES:
        raise StartError(f"unknown scope: {quote(config.topology_manager_scope)}")
    return options


def read_options(
    config: KubeletConfig,
    gates: Callable[[str], bool],
    levels: Mapping[str, Level],
    refusal: Callable[[Level, str], str],
) -> TopologyOptions:
    """Read `topologyManagerPolicyOptions`; of several bad ones the first by name is reported (2.2).

    Raises:
        StartError: an unknown or gated option, or a bad value.
    """
    values: dict[str, Any] = {}
    given: Mapping[str, str] = config.topology_manager_policy_options or {}
    for name, text in sorted(given.items()):
        level = levels.get(name)
        if level is None:
            raise StartError(f"unknown Topology Manager Policy option: {quote(name)}")
        if level != "Stable" and not gates(f"TopologyManagerPolicy{level}Options"):
            raise StartError(refusal(level, name))
        values[name.replace("-", "_")] = _max_nodes(text) if name == MAX_NODES else _switch(name, text)
    return TopologyOptions(**values)


def not_enabled(level: Level, option: str) -> str:
    """Word the refusal of an option whose gate is off, as from 1.33 on (docs/rules/kubelet-versions.md 3)."""
    return f"topology manager policy {level.lower()}-level options not enabled, but option {quote(option)} provided"


def not_enabled_until_1_32(level: Level, option: str) -> str:
    """Word the refusal of an option whose gate is off, as up to 1.32."""
    return f"Topology Manager Policy {level}-level Options not enabled, but option {quote(option)} provided"


def _switch(name: str, text: str) -> bool:
    try:
        return parse_bool(text)
    except ConversionError as error:
        raise StartError(f"bad value for option {quote(name)}: {error}") from None


def _max_nodes(text: str) -> int:
    try:
        value = parse_int(text)
    except ConversionError as error:
        raise StartError(f"unable to convert policy option to integer {quote(MAX_NODES)}: {error}") from None
    if value < LEAST_MAX_NODES:
        raise StartError(f"the minimum value of {quote(MAX_NODES)} should not be less than {LEAST_MAX_NODES}")
    return value
