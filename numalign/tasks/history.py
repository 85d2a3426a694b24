"""Earlier kubelets, and proposals that no kubelet carries out: which one is asked for, and what to say about it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.proposals import FEEDBACK_POLICIES
from numalign.kubelet.proposals.per_pod import choice
from numalign.kubelet.proposals.table import FEEDBACK, PER_POD_POLICY, PREFERRED_SETS, with_proposals
from numalign.kubelet.releases.release import Kubelet, Proposal, version_text
from numalign.kubelet.releases.table import NEWEST, is_history, kubelet, parse_version
from numalign.model.machine import Machine
from numalign.model.pod import Pod

if TYPE_CHECKING:
    from numalign.tasks.requests import KubeletRequest

MANAGER_GATE = "TopologyManager"
"""The gate of the whole Topology Manager, off by default in its alpha, 1.16 and 1.17; gone since 1.29."""

MAX_NODES = 16
"""The proposals list every set of NUMA nodes, 2^n of them."""


def kubelet_beyond(request: KubeletRequest) -> Kubelet:
    """Put what is asked together: a release, and the proposals that it carries out besides.

    Raises:
        InputError: the version is not a release that numalign knows.
    """
    release = kubelet(NEWEST if request.version is None else parse_version(request.version))
    asked = (
        (FEEDBACK, request.settings.get("topology-manager-policy") in FEEDBACK_POLICIES),
        (PREFERRED_SETS, request.preferred_allocation == "proposal"),
        (PER_POD_POLICY, request.per_pod_policy),
    )
    return with_proposals(release, [proposal for proposal, given in asked if given])


def check_pod(pod: Pod, machine: Machine) -> None:
    """Check what a pod chooses by annotations.

    Raises:
        InputError: see `per_pod.choice` and `check_size`.
    """
    chosen = choice(pod)
    policies = {chosen.policy, *(policy for _, policy in chosen.containers)}
    check_size([FEEDBACK] if policies.intersection(FEEDBACK_POLICIES) else [], machine)


def check_size(proposals: Collection[Proposal], machine: Machine) -> None:
    """Refuse what would list too many sets of NUMA nodes.

    Raises:
        InputError: the machine has more than `MAX_NODES` NUMA nodes.
    """
    if (FEEDBACK in proposals or PREFERRED_SETS in proposals) and len(machine.numa_nodes) > MAX_NODES:
        raise InputError(
            f"the proposals of 2019 work on machines of up to {MAX_NODES} NUMA nodes, this one has "
            f"{len(machine.numa_nodes)}"
        )


def notices_of(asked: Kubelet, config: KubeletConfig) -> tuple[Notice, ...]:
    """Say in how far the answer is not one of today's kubelet."""
    found = []
    if is_history(asked.version):
        text = f"history: decided as kubelet {version_text(asked.version)} did, not as {version_text(NEWEST)}"
        found.append(Notice("history-kubelet-version", text, "--kubelet-version"))
    gate = asked.gates.get(MANAGER_GATE)
    if (
        gate
        and not gate.default
        and MANAGER_GATE not in config.feature_gates
        and config.topology_manager_policy != "none"
    ):
        release = version_text(asked.version)
        text = f"history: kubelet {release} had the gate {MANAGER_GATE} off by default; it is taken as on"
        found.append(Notice("history-gate", text, "--feature-gates"))
    if config.topology_manager_policy in FEEDBACK_POLICIES:
        text = f"beyond the kubelet: policy {config.topology_manager_policy} was only proposed, in 2019"
        found.append(Notice("beyond-policy", text, "--topology-manager-policy"))
    if PREFERRED_SETS in asked.proposals:
        text = "beyond the kubelet: devices' preferred sets work as proposed in 2019"
        found.append(Notice("beyond-preferred-allocation", text, "--preferred-allocation"))
    if PER_POD_POLICY in asked.proposals:
        text = "beyond the kubelet: pods choose policy and scope by annotations"
        found.append(Notice("beyond-per-pod-policy", text, "--per-pod-policy"))
    return tuple(found)
