"""A policy and a scope per pod, by annotations: what the announcement of 2020 hoped for and no kubelet does.

`numalign/topology-policy: restricted` is for the whole pod, `best-effort, main=single-numa-node` gives one container a
policy of its own. `numalign/topology-scope: pod` chooses the scope. Honoured only where somebody asks for it.
"""

from __future__ import annotations

from numalign.errors import InputError
from numalign.kubelet.proposals import FEEDBACK_POLICIES
from numalign.kubelet.releases.release import Kubelet, Proposal
from numalign.kubelet.topology.manager import TopologyManager
from numalign.kubelet.topology.options import POLICIES, SCOPES
from numalign.model.pod import Pod
from numalign.values import NamedTuple

POLICY = "numalign/topology-policy"
SCOPE = "numalign/topology-scope"


class Choice(NamedTuple):
    """What a pod's annotations choose; None: the node's own."""

    policy: str | None = None
    scope: str | None = None
    containers: tuple[tuple[str, str], ...] = ()
    """(container name, policy) pairs."""


def choice(pod: Pod) -> Choice:
    """Read a pod's annotations.

    Raises:
        InputError: an unknown policy, scope or container, or policies of containers in scope `pod`.
    """
    scope = pod.annotations.get(SCOPE)
    if scope is not None and scope not in SCOPES:
        raise _wrong(pod, SCOPE, f"expected one of {', '.join(SCOPES)}, got {scope!r}")
    policy: str | None = None
    containers: dict[str, str] = {}
    text = pod.annotations.get(POLICY)
    for part in () if text is None else text.split(","):
        name, named, value = (piece.strip() for piece in part.rpartition("="))
        if value not in POLICIES and value not in FEEDBACK_POLICIES:
            known = ", ".join((*POLICIES, *FEEDBACK_POLICIES))
            raise _wrong(pod, POLICY, f"expected one of {known}, or CONTAINER=POLICY, got {part.strip()!r}")
        if not named and policy is None:
            policy = value
        elif not named or name in containers:
            raise _wrong(pod, POLICY, f"{name or 'the pod'} has two policies")
        elif all(container.name != name for container in pod.containers):
            raise _wrong(pod, POLICY, f"there is no container {name!r}")
        else:
            containers[name] = value
    if containers and scope == "pod":
        raise _wrong(pod, POLICY, "in scope pod the pod has one policy, its containers have none of their own")
    return Choice(policy, scope, tuple(containers.items()))


def _wrong(pod: Pod, annotation: str, message: str) -> InputError:
    return InputError(message, f"pod {pod.name}: metadata.annotations[{annotation}]")


def choose(manager: TopologyManager, pod: Pod) -> TopologyManager:
    """Return the Topology Manager as it treats one pod.

    A container's own policy needs scope `container`: on a node with scope `pod` it chooses that, too.

    Raises:
        InputError: see `choice`.
    """
    chosen = choice(pod)
    return manager._replace(
        policy=chosen.policy or manager.policy,
        scope=chosen.scope or ("container" if chosen.containers else manager.scope),
        container_policies=dict(chosen.containers),
    )


def _let_pods_choose(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(choose=choose)


PER_POD_POLICY = Proposal("pods choose policy and scope by annotations", _let_pods_choose)
