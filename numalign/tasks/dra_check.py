"""Try the claims of pods on every node of a cluster, and say what each gets or why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from numalign.dra import extended
from numalign.dra.attempt import Attempt
from numalign.dra.changes import changes
from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.features import Features, asked_features, newest_of
from numalign.dra.lint import too_complex
from numalign.dra.pools import published
from numalign.dra.result import Outcome
from numalign.dra.usage import usage
from numalign.dra.values import Claim, Device, DeviceID, Node, Taken
from numalign.dra.why import why
from numalign.errors import InputError, Notice
from numalign.kubelet.releases.table import PUBLISHED_NOTE, is_published, parse_version
from numalign.model.pod import Pod
from numalign.model.words import few_of
from numalign.results.dra import ClaimsCheck, DeviceGot, DraCheckResult, NodeCheck
from numalign.sources.cluster.claims import Given, read_objects, read_slices
from numalign.values import NamedTuple
from numalign.worlds.pod_claims import Allocating, device_got, elsewhere, references

MAX_EXPLAINED: Final = 5
"""For how many ways to fail changes are looked for."""
NO_NODE: Final = "any node"
"""Stands for a node where nothing given names one."""


class DraRequest(NamedTuple):
    """What is asked."""

    names: tuple[str, ...]
    """Files, folders or `-`: pods, claims, templates, classes."""
    slices: str
    """A dump with the slices."""
    nodes: tuple[str, ...]
    """Only these nodes."""
    release: str | None
    gates: str


def check_claims(request: DraRequest) -> DraCheckResult:
    """Read everything and try each pod, and each claim that no given pod uses, by itself.

    Raises:
        InputError: an input is wrong, there is no claim in it, or a selector uses what numalign does not follow.
    """
    dump = read_slices(request.slices, request.names)
    given = read_objects(request.names, pods=True)
    for placed in (*given.objects.claims.values(), *given.objects.templates.values()):
        for message in too_complex(placed.claim):
            raise InputError(message, placed.origin)
    objects = given.objects.over(dump)
    release = request.release or newest_of(objects.nodes)
    asked = asked_features(release, request.gates)
    objects = objects.tainted() if asked.taint_rules else objects
    units = list(_units(given, objects, asked))
    if not units:
        raise InputError(
            "no claim found: no pod has resourceClaims, and no document is a ResourceClaim", request.names[0]
        )
    nodes = _nodes(objects, request.nodes)
    tried = _Tried(objects, asked, nodes)
    checks = tuple(tried.check(unit) for unit in units)
    return DraCheckResult(
        checks,
        asked,
        nodes=len(nodes),
        slices=len(objects.slices),
        devices=sum(len(one.devices) for one in objects.slices),
        notices=(*_notices(given, objects), *_about_release(objects, request.release, asked)),
        deterministic=all(tried.attempt(node).is_determined for node in nodes),
    )


def _about_release(objects: ClaimObjects, said: str | None, asked: Features) -> Iterator[Notice]:
    """Say which nodes name a release whose allocator is not known, and of a release that was not recorded."""
    unknown = [node.name for node in objects.nodes if node.release and not newest_of([node])]
    if unknown and not said:
        text = f"the release of these nodes is not known for claims: decided as {asked.release}"
        yield Notice("node-release-unknown", text, few_of(unknown, 3))
    if is_published(parse_version(asked.release)):
        yield Notice("published-release", PUBLISHED_NOTE.format(asked.release))


class _Unit(NamedTuple):
    """What is tried together."""

    kind: str
    name: str
    namespace: str
    origin: str
    claims: tuple[Claim, ...]
    absent: tuple[str, ...] = ()
    pod: Pod | None = None
    """What they are of; None: of no pod."""

    def kept_away(self, node: Node) -> str:
        """Say why the pod's selectors keep it from a node, as far as its labels are known; empty: they do not."""
        if self.pod is None or not node.labels or not self.pod.spec.keys() & {"nodeSelector", "affinity"}:
            return ""
        from numalign.kubelet.fit import predicates
        from numalign.scheduler.node_filters import WRONG_LABELS

        return "" if predicates.matches_node(self.pod, node.labels, node.name) else WRONG_LABELS


def _units(given: Given, objects: ClaimObjects, asked: Features) -> Iterator[_Unit]:
    """Yield the pods with claims, then the claims and templates that none of them uses.

    No node is known to have a device plugin, so what a class serves of extended resources is claimed everywhere (D-53).
    """
    used: set[tuple[str, str, str]] = set()
    for carrier in given.carriers:
        pod = carrier.pod if carrier.is_pod else carrier.pod._replace(name=_owner(carrier.object))
        pod = extended.marked(pod, objects.classes, {}) if asked.extended else pod
        near = objects.near(carrier.document.name)
        found = list(references(pod, near))
        used |= {(one.wanted, pod.namespace, one.origin) for one in found}
        if found:
            yield _Unit(
                kind=carrier.kind,
                name=pod.name,
                namespace=pod.namespace,
                origin=f"{carrier.document.name}:{carrier.document.line(carrier.template.path)}",
                claims=tuple(one.claim for one in found if one.claim is not None),
                absent=tuple(one.wanted for one in found if one.claim is None),
                pod=pod,
            )
    for kind, known in (("ResourceClaim", given.objects.claims), ("ResourceClaimTemplate", given.objects.templates)):
        for key, first in known.items():
            each = (first, *given.objects.again.get((kind, key), ()))
            for one in each:
                if (f"{kind} {key[1]}", key[0], one.origin) not in used:
                    yield _Unit(kind, key[1], key[0], one.origin, (one.claim,))


def _owner(data: Mapping[str, object]) -> str:
    metadata = data.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, Mapping) else ""


def _nodes(objects: ClaimObjects, wanted: Sequence[str]) -> tuple[Node, ...]:
    """Give the nodes to try: those that were named, else all that anything given names."""
    known = {node.name: node for node in objects.nodes}
    for slice_ in objects.slices:
        placements = [slice_.placement, *(device.placement for device in slice_.devices)]
        for placement in placements:
            if placement.node_name is not None:
                known.setdefault(placement.node_name, Node(placement.node_name))
    if wanted:
        return tuple(known.get(name) or Node(name) for name in dict.fromkeys(wanted))
    return tuple(known[name] for name in sorted(known)) or (Node(NO_NODE),)


class _Tried:
    """Tries units on nodes; remembers how much has been tried."""

    def __init__(self, objects: ClaimObjects, asked: Features, nodes: Sequence[Node]) -> None:
        self._objects = objects
        self._features = asked
        self._nodes = nodes
        self._cluster = published(objects.slices)
        self._used = usage(placed.claim for placed in objects.claims.values())
        self._devices: Mapping[DeviceID, Device] = {
            DeviceID(slice_.driver, slice_.pool, device.name): device
            for slice_ in sorted(objects.slices, key=lambda one: one.generation)
            for device in slice_.devices
        }
        self._allocating = Allocating()

    def check(self, unit: _Unit) -> ClaimsCheck:
        """Try one unit on all nodes."""
        found = ClaimsCheck(
            kind=unit.kind,
            name=unit.name,
            namespace=unit.namespace,
            origin=unit.origin,
            claims=tuple(claim.name for claim in unit.claims),
            allocated=tuple(claim.name for claim in unit.claims if claim.allocation is not None),
            absent=unit.absent,
        )
        if unit.absent:
            return found
        seen: set[object] = set()
        return found._replace(
            nodes=tuple(
                NodeCheck(node.name, Outcome(error=away))
                if (away := unit.kept_away(node))
                else self._check_node(node, unit.claims, seen)
                for node in self._nodes
            )
        )

    def attempt(self, node: Node) -> Attempt:
        """Give what an allocation on a node needs."""
        return Attempt(self._cluster, self._objects.classes, self._used, self._features, node)

    def _check_node(self, node: Node, all_claims: Sequence[Claim], seen: set[object]) -> NodeCheck:
        attempt = self.attempt(node)
        away = elsewhere(all_claims, attempt)
        if away:
            return NodeCheck(node.name, Outcome(error=away))
        claims = [claim for claim in all_claims if claim.allocation is None]
        outcome = self._allocating.allocate(attempt, claims)
        if outcome.allocated:
            score = sum(8 - index for index in outcome.chosen.values())
            return NodeCheck(node.name, outcome, tuple(self._got(outcome)), score)
        reason = why(attempt, claims, outcome)
        found = NodeCheck(node.name, outcome, why=reason)
        if found.failure in seen or len(seen) >= MAX_EXPLAINED:
            return found
        seen.add(found.failure)
        return found._replace(changes=changes(attempt, claims, outcome))

    def _got(self, outcome: Outcome) -> Iterator[DeviceGot]:
        """Yield the devices of an outcome, with where they say they are."""
        for claim in outcome.claims or ():
            for one in claim.devices:
                taken = Taken(one.device, one.request, one.admin, "share" if one.shared else "", one.consumed)
                yield device_got(claim.claim, taken, self._devices)


def _notices(given: Given, objects: ClaimObjects) -> Iterable[Notice]:
    if given.others:
        yield Notice("no-claim", f"skipped {given.others} document{'s' * (given.others != 1)} without pods or claims")
    if not objects.classes:
        yield Notice("no-classes", "no DeviceClass found", "")
