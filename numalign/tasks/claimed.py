"""Both worlds on one node: what pods get from the kubelet, and what they hold by claim (docs/dra.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from numalign.dra.attempt import Attempt
from numalign.dra.features import Features
from numalign.dra.pools import published
from numalign.dra.publish import cpus as dra_cpus
from numalign.dra.result import Outcome
from numalign.dra.selection import candidates
from numalign.dra.usage import usage
from numalign.dra.values import Claim, Device, DeviceID, Node, Taken
from numalign.dra.whereabouts import Place, places
from numalign.dra.why import why
from numalign.errors import InputError
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.model.quantity import value
from numalign.results.admit import PodResult
from numalign.results.claimed import ClaimedDevice, ContainerClaims, NodeClaims, PodClaims
from numalign.sources.cluster.claims import ClaimObjects, read_beside_pods, read_slices
from numalign.tasks.dra_check import asked_features, device_got
from numalign.tasks.dra_claims import Reference, references, users
from numalign.tasks.requests import ClaimsRequest
from numalign.tasks.ways_out import Held, judge


def load_claims(request: ClaimsRequest) -> ClaimObjects:
    """Read the slices, and the claims that stand where the pods do.

    Raises:
        InputError: a file is wrong.
    """
    files = [name for name in request.files if name != "-"]
    broken: list[InputError] = []
    given = read_beside_pods(files, broken)
    for error in broken:
        raise error
    return given.over(read_slices(request.slices))


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
    worlds = _Worlds(objects, node, setup.machine, asked, request.pod_files)
    copies = None if most_copies is None else worlds.copies(pods, most_copies)
    worlds = _Worlds(objects, node, setup.machine, asked, request.pod_files)
    admitted = {pod.full_name: pod for pod in results if pod.admitted}
    found = [
        worlds.hold(pod, admitted[full_name])
        for pod in pods
        if (full_name := f"{pod.namespace}/{pod.name}") in admitted and pod.spec.get("resourceClaims")
    ]
    return NodeClaims(
        node=node.name,
        source=request.slices,
        pods=tuple(found),
        copies=copies,
        release=asked.release,
        deterministic=worlds.attempt.is_determined,
    )


def _node(objects: ClaimObjects, machine: Machine, wanted: str | None) -> Node:
    """Find the node of a dump that the machine is."""
    known = {node.name: node for node in objects.nodes}
    for slice_ in objects.slices:
        if slice_.placement.node_name is not None:
            known.setdefault(slice_.placement.node_name, Node(slice_.placement.node_name))
    if wanted is not None:
        if wanted not in known:
            raise InputError(f"no such node in the slices; there are {_some(known)}", f"--node-name {wanted}")
        return known[wanted]
    for name in (machine.node.name, machine.name):
        if name in known:
            return known[name]
    if len(known) == 1:
        return next(iter(known.values()))
    raise InputError(f"which of its nodes is this machine? --node-name says it; there are {_some(known)}", "--slices")


def _some(names: Mapping[str, object]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "") or "none"


def _shares_of(claim: Claim, node: str) -> list[dra_cpus.Share]:
    """Give the shares of a node's CPUs that a claim has."""
    return [
        dra_cpus.Share(claim.full_name, taken.device.device, value(taken.consumed[dra_cpus.CAPACITY]))
        for taken in claim.allocation or ()
        if taken.device.driver == dra_cpus.DRIVER and taken.device.pool == node and dra_cpus.CAPACITY in taken.consumed
    ]


class _Worlds:
    """A node on which pods take claimed devices one after the other."""

    def __init__(
        self, objects: ClaimObjects, node: Node, machine: Machine, asked: Features, files: Mapping[str, str]
    ) -> None:
        self._objects = objects
        self._files = files
        self._machine = machine
        self._held = [placed.claim for placed in objects.claims.values() if placed.claim.allocation is not None]
        self.attempt = Attempt(published(objects.slices), objects.classes, usage(self._held), asked, node)
        self._devices: dict[DeviceID, Device] = {
            candidate.identity: candidate.device
            for pool in self.attempt.pools()
            if pool.is_usable
            for candidate in candidates(pool)
        }
        self._places: dict[DeviceID, Place] = places(self._devices, machine)
        self._shares = [share for claim in self._held for share in _shares_of(claim, node.name)]

    def _references(self, pod: Pod) -> list[Reference]:
        """Find the claims of a pod: those of its own file first."""
        near = self._objects.near(self._files.get(f"{pod.namespace}/{pod.name}", ""))
        return list(references(pod, near))

    def hold(self, pod: Pod, result: PodResult) -> PodClaims:
        """Allocate the claims of a pod and judge its containers."""
        named = self._references(pod)
        absent = tuple(one.wanted for one in named if one.claim is None)
        if absent:
            return PodClaims(pod.name, pod.namespace, None, absent)
        there = {claim.full_name for claim in self._held}
        pending = [
            one.claim
            for one in named
            if one.claim is not None and one.claim.allocation is None and one.claim.full_name not in there
        ]
        outcome = self.attempt.allocate(pending)
        if not outcome.allocated:
            reason = why(self.attempt, pending, outcome)
            return PodClaims(pod.name, pod.namespace, outcome, (), reason)
        before = self.attempt
        self._take(pending, outcome)
        held = {claim.name: claim for claim in self._held}
        containers = tuple(self._containers(pod, result, named, held, before))
        return PodClaims(
            pod=pod.name, namespace=pod.namespace, outcome=outcome, absent=(), why=None, containers=containers
        )

    def copies(self, pods: Sequence[Pod], most: int) -> int:
        """Count how many times the claims that pods make from templates can be allocated."""
        named = [one for pod in pods for one in self._references(pod)]
        made = [one.claim for one in named if one.claim is not None and one.from_template]
        if any(one.claim is None for one in named):
            return 0
        for count in range(most if made else 0):
            claims = [claim._replace(name=f"{claim.name}-{count}") for claim in made]
            outcome = self.attempt.allocate(claims)
            if not outcome.allocated:
                return count
            self._take(claims, outcome)
        return most

    def _take(self, claims: Sequence[Claim], outcome: Outcome) -> None:
        """Let claims hold what they got."""
        for claim, got in zip(claims, outcome.claims or (), strict=True):
            taken = tuple(
                Taken(one.device, one.request, one.admin, "share" if one.shared else "", one.consumed)
                for one in got.devices
            )
            self._held.append(claim._replace(allocation=taken))
            self._shares += _shares_of(self._held[-1], self.attempt.node.name)
        self.attempt = self.attempt._replace(used=usage(self._held))

    def _containers(
        self,
        pod: Pod,
        result: PodResult,
        named: Sequence[Reference],
        held: Mapping[str, Claim],
        before: Attempt,
    ) -> Iterator[ContainerClaims]:
        claims = {one.name: held.get(one.claim.name, one.claim) for one in named if one.claim is not None}
        cpus = self._cpus()
        used = users(pod)
        for container in result.containers:
            mine = [
                self._device(claims[name], taken, cpus)
                for name, request in used.get(container.name, ())
                if name in claims
                for taken in claims[name].allocation or ()
                if not request or taken.request.partition("/")[0] == request
            ]
            if mine:
                constraints = [(claim.name, one) for claim in claims.values() for one in claim.constraints]
                own = Held(container, result.qos, tuple(mine), tuple(constraints))
                judged = judge(own, self._machine, before, list(claims.values()), self._places)
                yield ContainerClaims(container.name, tuple(mine), *judged)

    def _device(self, claim: Claim, taken: Taken, cpus: Mapping[tuple[str, str], int]) -> ClaimedDevice:
        place = self._places.get(taken.device, Place(None, "nobody"))
        got = device_got(claim.name, taken, self._devices)
        return ClaimedDevice(got, place.numa, place.told_by, cpus.get((claim.full_name, taken.device.device)))

    def _cpus(self) -> dict[tuple[str, str], int]:
        """Give (claim, device) -> the CPUs that `dra.cpu` picks, all shares of the node one after the other."""
        try:
            chosen = dra_cpus.prepare(self._machine, self._shares, 0)
        except AllocationError:
            return {}
        return {(share.claim, share.device): taken for share, taken in zip(self._shares, chosen, strict=True)}
