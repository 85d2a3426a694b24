"""Other settings of the kubelet worth a try, each as its flags: policies, scopes, options.

Flags are named as the kubelet names them; `apply` puts one into a configuration, so that what is tried here and what a
person types is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.releases.release import OPTIONS as POLICY_OPTIONS
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod

Flags = Mapping[str, str]
"""Flag without dashes -> value."""

POLICY = "topology-manager-policy"
SCOPE = "topology-manager-scope"
CPU_POLICY = "cpu-manager-policy"
RESERVED_CPUS = "reserved-system-cpus"
TOPOLOGY_POLICY_OPTIONS = "topology-manager-policy-options"
CPU_POLICY_OPTIONS = "cpu-manager-policy-options"
MEMORY_POLICY = "memory-manager-policy"
GATES = "feature-gates"

STRICTEST_FIRST = ("single-numa-node", "restricted", "best-effort", "none")

OPTIONS = tuple(sorted(name for name, row in POLICY_OPTIONS.items() if not row.number))
"""The options that are on or off, in any release."""


def apply(config: KubeletConfig, flags: Flags) -> KubeletConfig:
    """Lay flags over a configuration: each replaces its setting as a whole."""
    changed: dict[str, Any] = {}
    for flag, text in flags.items():
        if flag == GATES:
            changed["feature_gates"] = {name: on == "true" for name, on in _pairs(text).items()}
        else:
            options = flag in (TOPOLOGY_POLICY_OPTIONS, CPU_POLICY_OPTIONS)
            changed[flag.replace("-", "_")] = _pairs(text) if options else text
    return config._replace(**changed)


def switched(flag: str, text: str, config: KubeletConfig) -> list[tuple[str, str]]:
    """List what a flag changes: itself, or the options that it turns on or off; it has those that stay, too."""
    if flag not in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
        return [(flag, text)]
    old = _options(config, topology=flag == TOPOLOGY_POLICY_OPTIONS)
    return [(name, value) for name, value in _pairs(text).items() if old.get(name) != value]


def _options(config: KubeletConfig, *, topology: bool) -> Mapping[str, str]:
    """Give the options that are set of the Topology Manager, or of the CPU Manager."""
    return (config.topology_manager_policy_options if topology else config.cpu_manager_policy_options) or {}


def _pairs(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (pair.partition("=") for pair in text.split(",") if pair)}


def options_of(kubelet: Kubelet) -> tuple[str, ...]:
    """List the options of a release that are on or off."""
    return tuple([name for name in OPTIONS if name in kubelet.options])


def with_option(setup: Setup, name: str, on: bool) -> Flags:
    """Write the flags that turn one option on or off, with the feature gate it needs."""
    config, kubelet = setup.config, setup.kubelet
    level, topology = kubelet.options[name], POLICY_OPTIONS[name].manager == "topology"
    flag = TOPOLOGY_POLICY_OPTIONS if topology else CPU_POLICY_OPTIONS
    old = _options(config, topology=topology)
    options = {other: text for other, text in old.items() if other != name or not on}
    options[name] = "true" if on else "false"
    flags = {flag: ",".join(f"{key}={text}" for key, text in options.items())}
    gate = f"{'TopologyManager' if topology else 'CPUManager'}Policy{level}Options"
    if on and level != "Stable" and not kubelet.gates_with(config.feature_gates)(gate):
        gates = {**config.feature_gates, gate: True}
        flags[GATES] = ",".join(f"{key}={str(state).lower()}" for key, state in gates.items())
    return flags


def options_on(config: KubeletConfig) -> tuple[str, ...]:
    """Name the options that are on."""
    given = {**_options(config, topology=True), **_options(config, topology=False)}
    return tuple(name for name in OPTIONS if given.get(name, "").lower() in ("1", "t", "true"))


def other_settings(setup: Setup, pod: Pod, *, aligning: bool) -> Iterator[Flags]:
    """Yield settings one step away: the least intrusive first, then policies that are laxer, then stricter ones.

    Where a pod is to be aligned the strictest policy comes first: what a laxer one aligns may be so by chance.

    The scope is nothing to a pod of one container: it would only put other pods elsewhere.
    """
    config, kubelet = setup.config, setup.kubelet
    if config.topology_manager_policy != "none" and len(pod.containers) > 1:
        yield from ({SCOPE: scope} for scope in kubelet.scopes if scope != config.topology_manager_scope)
    on = options_on(config)
    yield from (with_option(setup, name, False) for name in on if name in kubelet.options)
    yield from (with_option(setup, name, True) for name in options_of(kubelet) if name not in on)
    if config.memory_manager_policy != "None":
        yield {MEMORY_POLICY: "None"}
    now = place_of(config.topology_manager_policy)
    stricter, laxer = STRICTEST_FIRST[: max(now, 0)], STRICTEST_FIRST[now + 1 :]
    yield from ({POLICY: policy} for policy in ((*stricter, *laxer) if aligning else (*laxer, *stricter)))


def place_of(policy: str) -> int:
    """Give the place of a policy in `STRICTEST_FIRST`; -1: it is a proposed one."""
    return STRICTEST_FIRST.index(policy) if policy in STRICTEST_FIRST else -1
