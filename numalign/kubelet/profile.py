"""How kubelets differ: earlier releases, and behaviours that were only proposed. The reference release is v1.32.

A `Profile` travels with a node. Each field is read in one place, where the kubelets differ; which release has which
value is the table in `releases`. Nobody who does not ask for it gets another profile than `REFERENCE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from numalign.kubelet.cpu.options import LEVELS as CPU_LEVELS
from numalign.kubelet.topology.options import LEVELS as TOPOLOGY_LEVELS

Release = tuple[int, int]
"""Major and minor version."""

REFERENCE_RELEASE: Release = (1, 32)

FEEDBACK_POLICIES = ("preferred", "strict", "proposed-strict")
"""Policies of "Topology Manager Feedback, round 2" that no kubelet offers (docs/rules/topology-manager.md 14)."""

Merge = Literal["equal masks", "narrowest", "2019"]
Allocation = Literal["kubelet", "proposal"]

_LEVELS: Mapping[str, str] = {**TOPOLOGY_LEVELS, **CPU_LEVELS}


class Profile(NamedTuple):
    """What a kubelet does differently; the defaults are v1.32."""

    release: Release = REFERENCE_RELEASE

    # What changed with a release.
    merge: Merge = "equal masks"
    single_filter: bool = True
    """`single-numa-node` keeps only preferred hints of one node, and stores "no mask" for the full one."""
    refusal: tuple[str, str] = ("TopologyAffinityError", "Resources cannot be allocated with Topology locality")
    """Reason and message where the policy refuses."""
    hints_first: bool = False
    """Hints of all containers are merged before anything is allocated."""
    devices_merged: bool = False
    """The Device Manager merges the hints of its resources itself."""
    reuse_in_hints: bool = True
    """What ended init containers leave counts in hints."""
    sidecars: bool = True
    """Init containers with `restartPolicy: Always` run on and keep what they have."""
    asks_plugin: bool = True
    """GetPreferredAllocation exists."""
    pod_scope: bool = True
    memory_manager: bool = True
    topology_options: bool = True
    """The setting `topologyManagerPolicyOptions` exists."""
    cpu_options: bool = True
    """The setting `cpuManagerPolicyOptions` exists."""
    gates: Mapping[str, bool] = {}
    """Feature gates whose default was another."""
    levels: Mapping[str, str] = _LEVELS
    """Option -> `Alpha`, `Beta` or `Stable`; an option that is not here does not exist."""

    # Beyond any kubelet, whatever the release.
    policies: tuple[str, ...] = ()
    """Policies that are accepted beside the kubelet's."""
    preferred_allocation: Allocation = "kubelet"
    """Whether plugins' preferred sets work as the feedback document proposes."""
    per_pod_policy: bool = False
    """Whether pods choose policy and scope by annotations."""


REFERENCE = Profile()


def version(release: Release) -> str:
    """Write a release: `1.23`."""
    return f"{release[0]}.{release[1]}"
