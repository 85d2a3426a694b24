"""Earlier kubelets, and proposals that no kubelet carries out: which one is asked for, and what to say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.profile import FEEDBACK_POLICIES, REFERENCE, REFERENCE_RELEASE, Profile, version
from numalign.kubelet.proposals.per_pod import choice
from numalign.kubelet.releases import parse_release, profile_of
from numalign.model.machine import Machine
from numalign.model.pod import Pod

if TYPE_CHECKING:
    from numalign.tasks.requests import KubeletRequest

MOST_NODES = 16
"""The proposals list every set of NUMA nodes, 2^n of them."""


def profile_asked(request: KubeletRequest) -> Profile:
    """Put what is asked together.

    Raises:
        InputError: the version is not a release that numalign knows.
    """
    profile = REFERENCE if request.version is None else profile_of(parse_release(request.version))
    beyond = profile._replace(
        policies=FEEDBACK_POLICIES if request.settings.get("topology-manager-policy") in FEEDBACK_POLICIES else (),
        preferred_allocation=request.preferred_allocation,
        per_pod_policy=request.per_pod_policy,
    )
    return REFERENCE if beyond == REFERENCE else beyond


def check_pod(pod: Pod, machine: Machine) -> None:
    """Check what a pod chooses by annotations.

    Raises:
        InputError: see `per_pod.choice` and `check_size`.
    """
    chosen = choice(pod)
    policies = {chosen.policy, *(policy for _, policy in chosen.containers)}
    check_size(
        REFERENCE._replace(policies=tuple(policy for policy in FEEDBACK_POLICIES if policy in policies)), machine
    )


def check_size(profile: Profile, machine: Machine) -> None:
    """Refuse what would list too many sets of NUMA nodes.

    Raises:
        InputError: the machine has more than `MOST_NODES` NUMA nodes.
    """
    lists = profile.preferred_allocation == "proposal" or profile.policies
    if lists and len(machine.numa_nodes) > MOST_NODES:
        raise InputError(
            f"the proposals of 2019 work on machines of up to {MOST_NODES} NUMA nodes, this one has "
            f"{len(machine.numa_nodes)}"
        )


def notices_of(profile: Profile, config: KubeletConfig) -> tuple[Notice, ...]:
    """Say in how far the answer is not one of today's kubelet."""
    found = []
    if profile.release != REFERENCE_RELEASE:
        text = f"history: decided as kubelet {version(profile.release)} did, not as {version(REFERENCE_RELEASE)}"
        found.append(Notice("history-kubelet-version", text, "--kubelet-version"))
    if config.topology_manager_policy in FEEDBACK_POLICIES:
        text = f"beyond the kubelet: policy {config.topology_manager_policy} was only proposed, in 2019"
        found.append(Notice("beyond-policy", text, "--topology-manager-policy"))
    if profile.preferred_allocation == "proposal":
        text = "beyond the kubelet: devices' preferred sets change hints and choice as proposed in 2019"
        found.append(Notice("beyond-preferred-allocation", text, "--preferred-allocation"))
    if profile.per_pod_policy:
        text = "beyond the kubelet: pods choose policy and scope by annotations"
        found.append(Notice("beyond-per-pod-policy", text, "--per-pod-policy"))
    return tuple(found)
