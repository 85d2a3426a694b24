"""Both worlds on one node: what pods get from the kubelet, and what they hold by claim (docs/dra.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.dra import extended
from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.features import asked_features
from numalign.dra.pools import published
from numalign.dra.values import Node
from numalign.errors import InputError
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.model.words import few_of
from numalign.results.admit import PodResult
from numalign.results.dra import NodeClaims
from numalign.sources.cluster.claims import read_beside_pods, read_slices
from numalign.tasks.loaded_pods import LoadedPods
from numalign.tasks.requests import ClaimsRequest
from numalign.worlds.claimed_node import ClaimedNode, ClaimPlace


def load_claims(request: ClaimsRequest) -> ClaimObjects:
    """Read the slices, and the claims that stand where the pods do.

    Raises:
        InputError: a file is wrong.
    """
    files = [name for name in request.files if name != "-"]
    broken: list[InputError] = []
    given = read_beside_pods(files, broken, request.documents)
    for error in broken:
        raise error
    return given.over(read_slices(request.slices, request.files))


def load_claims_for(request: ClaimsRequest, up: LoadedPods, setups: Iterable[Setup]) -> tuple[ClaimObjects, LoadedPods]:
    """Read the slices, and note in pods what is claimed for them of extended resources that no machine has (D-53).

    Raises:
        InputError: a file is wrong, or how schedulers of a kubelet's release allocate is not known.
    """
    objects = load_claims(request)
    there: dict[str, int] = {}
    for setup in setups:
        if not asked_features(version_text(setup.kubelet.version), "").extended:
            return objects, up
        there |= dict.fromkeys((*setup.machine.devices, *setup.machine.node.extended_resources), 1)
    return objects, up._replace(tried=tuple([extended.marked(pod, objects.classes, there) for pod in up.tried]))


def claims_on(
    setup: Setup,
    results: Iterable[PodResult],
    pods: Sequence[Pod],
    objects: ClaimObjects,
    request: ClaimsRequest,
    *,
    most_copies: int | None = None,
) -> NodeClaims:
    """Give what admitted pods hold by claim, one after the other.

    Args:
        setup: the node's machine, and its kubelet: the scheduler is of the same release.
        results: what became of the pods there.
        pods: the pods, in the order of their admission.
        objects: what `load_claims` read.
        request: how it was asked for.
        most_copies: count up to so many times how often the claims can be allocated; None: do not count.

    Raises:
        InputError: it is not clear which node of the slices is meant, a selector is not followed, or how schedulers
            of the kubelet's release allocate is not known.
    """
    node = _node(objects, setup.machine, request.node)
    asked = asked_features(version_text(setup.kubelet.version), "")
    objects = objects.tainted() if asked.taint_rules else objects
    place = ClaimPlace(
        objects=objects,
        cluster=published(objects.slices),
        node=node,
        setup=setup,
        features=asked,
        files=request.pod_files,
    )
    copies = None if most_copies is None else ClaimedNode(place).copies(pods, most_copies)
    here = ClaimedNode(place)
    admitted = {pod.full_name: pod for pod in results if pod.admitted}
    found = [
        here.hold(pod, admitted[full_name])
        for pod in pods
        if (full_name := pod.full_name) in admitted and (pod.spec.get("resourceClaims") or pod.status.claimed)
    ]
    return NodeClaims(
        node=node.name,
        source=request.slices,
        pods=tuple(found),
        copies=copies,
        release=asked.release,
        deterministic=here.attempt.is_determined,
        notices=here.notices(),
    )


def _node(objects: ClaimObjects, machine: Machine, wanted: str | None) -> Node:
    """Find the node of a dump that the machine is."""
    known = {node.name: node for node in objects.nodes}
    for slice_ in objects.slices:
        if slice_.placement.node_name is not None:
            known.setdefault(slice_.placement.node_name, Node(slice_.placement.node_name))
    if wanted is not None:
        if wanted not in known:
            raise InputError(f"no such node in the slices; allowed: {_some(known)}", f"--node-name {wanted}")
        return known[wanted]
    for name in (machine.node.name, machine.name):
        if name in known:
            return known[name]
    if len(known) == 1:
        return next(iter(known.values()))
    raise InputError(f"the slices have several nodes; fix: add --node-name; allowed: {_some(known)}", "--slices")


def _some(names: Mapping[str, object]) -> str:
    return few_of(sorted(names), 5) or "none"
