"""Policy options that a machine's file suggests: how a configuration would look with them."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine

_FLAGS: Mapping[str, str] = {
    "topologyManagerPolicyOptions": "--topology-manager-policy-options",
    "cpuManagerPolicyOptions": "--cpu-manager-policy-options",
}
"""What a file may suggest -> the flag that sets it."""


def suggested(setup: Setup) -> KubeletConfig:
    """Return the configuration with the suggested options that it does not set itself."""
    config, options = setup.config, setup.machine.suggests
    topology, cpu = options.get("topologyManagerPolicyOptions"), options.get("cpuManagerPolicyOptions")
    if topology:
        with_topology = {**topology, **(config.topology_manager_policy_options or {})}
        config = config._replace(topology_manager_policy_options=with_topology)
    if cpu:
        config = config._replace(cpu_manager_policy_options={**cpu, **(config.cpu_manager_policy_options or {})})
    return config


def suggestion(machine: Machine) -> str:
    """Write the suggested options: `max-allowable-numa-nodes=34`; empty where there are none."""
    return ",".join(_pairs(options) for options in machine.suggests.values())


def suggested_flags(machine: Machine) -> str:
    """Write the suggested options as flags of the command line; empty where there are none."""
    return " ".join(f"{_FLAGS[field]} {_pairs(options)}" for field, options in machine.suggests.items())


def _pairs(options: Mapping[str, str]) -> str:
    return ",".join(f"{name}={text}" for name, text in options.items())
