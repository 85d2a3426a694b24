"""What is written into a claim's status: devices, configuration, and the nodes they can be used from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from numalign.dra.plan import Wanted
from numalign.dra.result import AllocatedDevice, ClaimAllocation, ConfigFrom
from numalign.dra.selection import Candidate, RequestKey
from numalign.dra.values import Claim, Config, Node, NodeSelector, Requirement, Term
from numalign.values import NamedTuple


class Grip(NamedTuple):
    """A device that the search holds."""

    candidate: Candidate
    result: AllocatedDevice


def claim_allocation(
    node: Node, index: int, claim: Claim, wanted: Mapping[RequestKey, Wanted], grips: Sequence[Grip]
) -> ClaimAllocation:
    """Put together what a claim gets."""
    used = {grip.result.request for grip in grips}
    return ClaimAllocation(
        claim=claim.name,
        devices=tuple(grip.result for grip in grips),
        config=(*_class_config(index, wanted, used), *_claim_config(claim, used)),
        node_selector=_node_selector(node, [grip.candidate for grip in grips]),
    )


def _class_config(index: int, wanted: Mapping[RequestKey, Wanted], used: set[str]) -> list[ConfigFrom]:
    """Give the configuration of the classes, each once with all the requests it is for."""
    requests: dict[str, list[str]] = {}
    configs: dict[str, tuple[Config, ...]] = {}
    for key in sorted(wanted):
        one = wanted[key]
        if key.claim == index and one.result_name in used and one.class_.config:
            requests.setdefault(one.class_.name, []).append(one.result_name)
            configs[one.class_.name] = one.class_.config
    return [
        ConfigFrom("FromClass", Config(tuple(names), config.fields))
        for name, names in requests.items()
        for config in configs[name]
    ]


def _claim_config(claim: Claim, used: set[str]) -> Iterator[ConfigFrom]:
    """Yield the claim's own configuration, as far as it is for requests that got devices."""
    for config in claim.config:
        if not config.requests:
            yield ConfigFrom("FromClaim", config)
            continue
        mains = {name.partition("/")[0] for name in used}
        names = tuple(name for name in config.requests if name in used or name in mains)
        if names:
            yield ConfigFrom("FromClaim", Config(names, config.fields))


def _node_selector(node: Node, candidates: Sequence[Candidate]) -> NodeSelector | None:
    """Say from which nodes all devices can be used: one node, what all their selectors ask, or anywhere."""
    expressions: list[Requirement] = []
    fields: list[Requirement] = []
    for candidate in candidates:
        placement = candidate.device.placement if candidate.slice.per_device else candidate.slice.placement
        name = node.name if candidate.device.binds_to_node else placement.node_name
        if name is not None:
            return (Term(fields=(Requirement("metadata.name", "In", (name,)),)),)
        for term in placement.selector or ():
            expressions += [one for one in term.expressions if one not in expressions]
            fields += [one for one in term.fields if one not in fields]
    return (Term(tuple(expressions), tuple(fields)),) if expressions or fields else None
