"""A node on which pods take claimed devices one after the other, beside what the kubelet gives them (docs/dra.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from numalign.analysis.closeness import neighbours, rail
from numalign.analysis.holding import HeldDevices, Holding
from numalign.dra.attempt import Attempt
from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.cpu_ids import HeldKey, cpus_held, kept_back, order_doubt
from numalign.dra.drivers import DRIVERS, pci_address
from numalign.dra.features import Features
from numalign.dra.pools import Published
from numalign.dra.result import Outcome
from numalign.dra.selection import candidates
from numalign.dra.usage import usage
from numalign.dra.values import Claim, Device, DeviceID, Node, Taken
from numalign.dra.whereabouts import Place, places
from numalign.dra.why import why
from numalign.errors import Notice
from numalign.kubelet.setup import Setup
from numalign.model.cpuset import parse
from numalign.model.pod import Pod
from numalign.results.admit import PodResult
from numalign.results.dra import ClaimedDevice, ContainerClaims, PodClaims, WayOut
from numalign.values import NamedTuple
from numalign.worlds.claims_anew import Trial
from numalign.worlds.claims_verdict import Held, judge
from numalign.worlds.pod_claims import Allocating, Reference, device_got, elsewhere, references, users
from numalign.worlds.ways_out import ways_out


class ClaimPlace(NamedTuple):
    """Where claims are allocated."""

    objects: ClaimObjects
    cluster: Published
    """The slices of the objects, sorted."""
    node: Node
    setup: Setup
    """Its machine and its kubelet."""
    features: Features
    """Of the scheduler."""
    files: Mapping[str, str]
    """Pod -> the file it stands in."""


def allocated_claims(objects: ClaimObjects) -> list[Claim]:
    """Give the claims that hold devices."""
    return [placed.claim for placed in objects.claims.values() if placed.claim.allocation is not None]


class ClaimedNode:
    """A node on which pods take claimed devices one after the other."""

    def __init__(
        self, place: ClaimPlace, held: Iterable[Claim] | None = None, allocating: Allocating | None = None
    ) -> None:
        """Start with what claims hold already.

        Args:
            place: the node, and what is published in its cluster.
            held: the claims that hold something; None: those of the objects that do.
            allocating: who counts the work; None: nobody yet.
        """
        objects, self._machine = place.objects, place.setup.machine
        self._place = place
        self.held = list(held) if held is not None else allocated_claims(objects)
        self.attempt = Attempt(place.cluster, objects.classes, usage(self.held), place.features, place.node)
        self._devices: dict[DeviceID, Device] = {
            candidate.identity: candidate.device
            for pool in self.attempt.pools()
            if pool.is_usable
            for candidate in candidates(pool)
        }
        self._places: dict[DeviceID, Place] = places(self._devices, self._machine)
        self._kept = kept_back(self._machine, self._devices, parse(place.setup.config.reserved_system_cpus))
        self._order = order_doubt(self.held, place.node.name) if held is None else ()
        self._doubts: dict[str, None] = {}
        self._allocating = allocating or Allocating()

    def _references(self, pod: Pod) -> list[Reference]:
        """Find the claims of a pod: those of its own file first."""
        near = self._place.objects.near(self._place.files.get(pod.full_name, ""))
        return list(references(pod, near))

    def hold(self, pod: Pod, result: PodResult, *, advise: bool = True) -> PodClaims:
        """Allocate the claims of a pod and judge its containers; if `advise`, look for ways out.

        A claim that the scheduler makes itself for extended resources has none: nobody writes its constraints.
        """
        advise = advise and not pod.status.claimed
        named = self._references(pod)
        absent = tuple(one.wanted for one in named if one.claim is None)
        if absent:
            return PodClaims(pod.name, pod.namespace, None, absent)
        there = {claim.full_name for claim in self.held}
        used = {one.claim.full_name for one in named if one.claim is not None}
        pending = [
            one.claim
            for one in named
            if one.claim is not None and one.claim.allocation is None and one.claim.full_name not in there
        ]
        away = elsewhere([claim for claim in self.held if claim.full_name in used], self.attempt)
        if away:
            return PodClaims(pod.name, pod.namespace, Outcome(error=away))
        outcome = self._allocating.allocate(self.attempt, pending)
        if not outcome.allocated:
            reason = why(self.attempt, pending, outcome)
            return PodClaims(pod.name, pod.namespace, outcome, (), reason)
        self._take(pending, outcome)
        containers = tuple(self._containers(pod, result, named, advise=advise))
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
            outcome = self._allocating.allocate(self.attempt, claims)
            if not outcome.allocated:
                return count
            self._take(claims, outcome)
        return most

    def _take(self, claims: Sequence[Claim], outcome: Outcome) -> None:
        """Let claims hold what they got."""
        self.held += outcome.held(claims)
        self.attempt = self.attempt._replace(used=usage(self.held))

    def _containers(
        self, pod: Pod, result: PodResult, named: Sequence[Reference], *, advise: bool
    ) -> Iterator[ContainerClaims]:
        held = {claim.full_name: claim for claim in self.held}
        claims = {one.name: held.get(one.claim.full_name, one.claim) for one in named if one.claim is not None}
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
                judged = judge(own, self._machine)
                ways: tuple[WayOut, ...] = ()
                if advise and judged.cpu_nodes and not self._allocating.tired:
                    ways = ways_out(own, judged.cpu_nodes, self._trial(pod, claims))
                every = self._with_claimed(container.holding, mine)
                yield ContainerClaims(
                    container=container.name,
                    devices=tuple(mine),
                    verdict=judged.verdict,
                    reason=judged.reason,
                    kept_by=judged.kept_by,
                    rail=rail(self._machine, every),
                    neighbours=neighbours(self._machine, every),
                    ways_out=ways,
                )

    def _trial(self, pod: Pod, claims: Mapping[str, Claim]) -> Trial:
        """Put together what ways out are tried on: the node without what the pod's claims hold."""
        own = {claim.full_name for claim in claims.values()}
        others = tuple(claim for claim in self.held if claim.full_name not in own)
        times = Counter(name for pairs in users(pod).values() for name in {name for name, _ in pairs})
        return Trial(
            attempt=self.attempt._replace(used=usage(others)),
            claims=tuple(claim._replace(allocation=None) for claim in claims.values()),
            others=others,
            setup=self._place.setup,
            kept=self._kept.cpus,
            pod=pod,
            shared=frozenset(claims[name].full_name for name, count in times.items() if count > 1 and name in claims),
        )

    def _with_claimed(self, held: Holding, claimed: Iterable[ClaimedDevice]) -> Holding:
        """Add claimed GPUs and NICs to what a container holds: by PCI address, and a word for what its driver has."""
        found: dict[str, tuple[str, ...]] = {}
        for identity in [one.got.device for one in claimed]:
            kind = DRIVERS[identity.driver].kind if identity.driver in DRIVERS else ""
            address = pci_address(self._devices[identity]) if identity in self._devices else None
            resource = identity.driver if kind in identity.driver else f"{identity.driver}/{kind}"
            found[resource] = (*found.get(resource, ()), address[1] if address else identity.device)
        return held._replace(devices=(*held.devices, *(HeldDevices(name, ids, {}, 0) for name, ids in found.items())))

    def _device(self, claim: Claim, taken: Taken, cpus: Mapping[HeldKey, int]) -> ClaimedDevice:
        place = self._places.get(taken.device, Place(None, "nobody"))
        got = device_got(claim.name, taken, self._devices)
        return ClaimedDevice(got, place.numa, place.told_by, cpus.get((claim.full_name, taken.request, taken.device)))

    def _cpus(self) -> Mapping[HeldKey, int]:
        """Give the CPUs behind what claims hold of `dra.cpu`; what is not certain about them is kept for `notices`."""
        found = cpus_held(self._machine, self._devices, self.held, self._place.node.name, self._kept.cpus)
        if found.cpus:
            self._doubts |= dict.fromkeys((*self._kept.doubts, *self._order))
        self._doubts |= dict.fromkeys(found.doubts)
        return found.cpus

    def notices(self) -> tuple[Notice, ...]:
        """Say what is not certain about the CPUs that pods hold by claim."""
        return tuple(Notice("claim-cpus-doubtful", text) for text in self._doubts)
