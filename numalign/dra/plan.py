"""What has to be found before a search begins, each request with its class and count; and what is written after it.

That is a claim's status: devices, configuration, and the nodes they can be used from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from numalign.dra.constraints import RequestName
from numalign.dra.features import UNTIL_1_35, Features
from numalign.dra.pools import Pool
from numalign.dra.result import AllocatedDevice, ClaimAllocation, ConfigFrom
from numalign.dra.selection import AllocationError, Candidate, RequestKey, Selection, candidates
from numalign.dra.usage import Usage, fits, taken_of
from numalign.dra.values import (
    MAX_RESULTS,
    Claim,
    Config,
    DeviceClass,
    DeviceRequest,
    Node,
    NodeSelector,
    Request,
    Requirement,
    Term,
)
from numalign.values import NamedTuple


class Wanted(NamedTuple):
    """One request or alternative, ready to be searched for."""

    request: DeviceRequest
    class_: DeviceClass
    name: RequestName
    number: int
    """How many devices."""
    all_devices: tuple[Candidate, ...] | None = None
    """The devices of mode `All`; None for a count."""

    @property
    def result_name(self) -> str:
        """The name that results carry."""
        return f"{self.name.main}/{self.name.alternative}" if self.name.alternative else self.name.main


class Planner(NamedTuple):
    """What requests are judged by."""

    pools: Sequence[Pool]
    classes: Mapping[str, DeviceClass]
    selection: Selection
    usage: Usage
    features: Features

    def plan(self, claims: Sequence[Claim]) -> dict[RequestKey, Wanted]:
        """Look at every request of every claim.

        Raises:
            AllocationError: a request that no node can satisfy as it is written.
        """
        found: dict[RequestKey, Wanted] = {}
        for index, claim in enumerate(claims):
            least = 0
            for number, request in enumerate(claim.requests):
                key = RequestKey(index, number)
                try:
                    forms = list(self._forms(claim, request, key))
                except AllocationError as error:
                    error.key = key
                    raise
                found.update(forms)
                least += min(wanted.number for _, wanted in forms)
            if least > MAX_RESULTS:
                raise AllocationError(
                    f"claim {claim.full_name}: number of requested devices {least} exceeds the claim limit "
                    f"of {MAX_RESULTS}"
                )
            for position, written in enumerate(claim.constraints):
                if written.match is None and written.distinct is None:
                    raise AllocationError(
                        f"claim {claim.full_name}, constraint #{position}: empty constraint "
                        "(unsupported constraint type?)"
                    )
        return found

    def _forms(self, claim: Claim, request: Request, key: RequestKey) -> Iterator[tuple[RequestKey, Wanted]]:
        """Yield a request, or each of its alternatives."""
        if not request.alternatives:
            form = request.exactly or DeviceRequest(request.name, "")
            where = f"claim {claim.full_name}, request {request.name}"
            yield key, self._wanted(claim, form, RequestName(request.name), key, where)
            return
        if not self.features.prioritized_list:
            raise AllocationError(
                f"claim {claim.full_name}, request {request.name}: has subrequests, "
                "but the DRAPrioritizedList feature is disabled"
            )
        for index, form in enumerate(request.alternatives):
            own = key._replace(alternative=index)
            # 1.34 and 1.35 remember the answers for a list of `All` one place too early (D-7a).
            remembered = (
                own if self.features.release not in UNTIL_1_35 else key._replace(alternative=-1 if index < 2 else index)
            )
            where = f"claim {claim.full_name}, subrequest {form.name}"
            if self.features.release == "1.34":
                where = f"claim {claim.full_name}, request {request.name}"
            yield own, self._wanted(claim, form, RequestName(request.name, form.name), remembered, where)

    def _wanted(
        self,
        claim: Claim,
        form: DeviceRequest,
        name: RequestName,
        remembered: RequestKey,
        where: str,
    ) -> Wanted:
        if form.admin and not self.features.admin_access:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        if form.capacity is not None and not self.features.consumable:
            raise AllocationError(f"{where}: has capacity requests, but the DRAConsumableCapacity feature is disabled")
        for index, selector in enumerate(form.selectors):
            if selector is None:
                raise AllocationError(f"{where}, selector #{index}: CEL expression empty (unsupported selector type?)")
        if not form.device_class:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        class_ = self.classes.get(form.device_class)
        if class_ is None:
            raise AllocationError(
                f"{where}: could not retrieve device class {form.device_class}: "
                f'deviceclasses "{form.device_class}" not found'
            )
        wanted = Wanted(form, class_, name, form.number)
        if form.mode == "ExactCount":
            return wanted
        if form.mode != "All":
            raise AllocationError(f"{where}: unsupported count mode {form.mode}")
        devices = tuple(self._all_devices(claim, wanted, remembered, where))
        return wanted._replace(number=len(devices), all_devices=devices)

    def _all_devices(self, claim: Claim, wanted: Wanted, key: RequestKey, where: str) -> Iterator[Candidate]:
        """Yield the devices that a request for all of them means, in use or not (D-7, D-7a)."""
        for pool in self.pools:
            if not pool.is_usable:
                why = "being updated" if pool.incomplete else "invalid"
                raise AllocationError(f"{where}: asks for all devices, but resource pool {pool} is currently {why}")
            for candidate in candidates(pool):
                if self.selection.selects(candidate, key, wanted.request, wanted.class_, claim.full_name):
                    if self.features.consumable and not self._has_capacity(candidate, wanted.request, where):
                        continue
                    yield candidate

    def _has_capacity(self, candidate: Candidate, request: DeviceRequest, where: str) -> bool:
        """Tell whether a device has enough: until 1.37 beside what others hold of it, so that `All` meant fewer."""
        try:
            taken = taken_of(candidate.device, request.capacity, self.features)
        except AllocationError as error:
            raise AllocationError(f"{where}: {error}") from None
        used = {} if self.features.mended else self.usage.amounts.get(candidate.identity, {})
        return taken is not None and fits(candidate.device, taken, used)


class Grip(NamedTuple):
    """A device that the search holds."""

    candidate: Candidate
    result: AllocatedDevice


def claim_allocation(
    node: Node,
    index: int,
    claim: Claim,
    wanted: Mapping[RequestKey, Wanted],
    grips: Sequence[Grip],
    *,
    mended: bool,
) -> ClaimAllocation:
    """Put together what a claim gets; `mended` as in `Features`."""
    used = {grip.result.request for grip in grips}
    config = [*_class_config(index, wanted, used), *_claim_config(claim, used, once=mended)]
    if mended:
        config = [_shortened(one, claim, used) for one in config]
    return ClaimAllocation(
        claim=claim.name,
        devices=tuple(grip.result for grip in grips),
        config=tuple(config),
        node_selector=_node_selector(node, [grip.candidate for grip in grips]),
    )


def _class_config(index: int, wanted: Mapping[RequestKey, Wanted], used: set[str]) -> list[ConfigFrom]:
    """Give the configuration of the classes, each once with all the requests it is for."""
    requests: dict[str, list[str]] = {}
    configs: dict[str, tuple[Config, ...]] = {}
    for key in sorted(wanted):
        one = wanted[key]
        if key.claim == index and one.result_name in used:
            requests.setdefault(one.class_.name, []).append(one.result_name)
            configs[one.class_.name] = one.class_.config
    return [
        ConfigFrom("FromClass", Config(tuple(names), config.fields))
        for name, names in requests.items()
        for config in configs[name]
    ]


def _claim_config(claim: Claim, used: set[str], *, once: bool) -> Iterator[ConfigFrom]:
    """Yield the claim's own configuration for what got devices: until 1.37 again for each request that it names."""
    for config in claim.config:
        count = sum(_names(config, request.name, used) for request in claim.requests) if config.requests else 1
        yield from [ConfigFrom("FromClaim", config)] * (min(count, 1) if once else count)


def _shortened(given: ConfigFrom, claim: Claim, used: set[str]) -> ConfigFrom:
    """Write a configuration that is for all requests as one that names none (docs/rules/kubelet-1.37.md 11.3)."""
    config = given.config
    if all(_names(config, request.name, used) for request in claim.requests):
        return given._replace(config=Config((), config.fields))
    return given


def _names(config: Config, request: str, used: set[str]) -> bool:
    """Tell whether a configuration names a request, or the alternative of it that got devices."""
    return request in config.requests or any(
        name in used and name.partition("/")[0] == request for name in config.requests
    )


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
