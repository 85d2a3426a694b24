"""Objects of `resource.k8s.io` as the API writes them, read into values.

What the API server would never let through is refused with its field path; what only a future API may have is kept as
the allocator would see it (a selector that is no CEL, a mode it does not know), since that is where it is refused.

`v1beta2` has the fields of `v1`. `v1beta1` has those of `exactly` in the request itself, and those of a device below
`basic`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from numalign.dra.api_forms import (
    NUMBER,
    QUANTITIES,
    QUANTITY,
    SOME_TEXT,
    TEXT,
    TEXTS,
    T,
    attribute,
    expression,
    flag,
    list_at,
    needed_text,
    part,
    read_by,
    reader,
    text,
    text_at,
)
from numalign.dra.values import (
    Capacity,
    Claim,
    Config,
    Constraint,
    CounterUse,
    Device,
    DeviceClass,
    DeviceID,
    DeviceRequest,
    Node,
    Placement,
    Request,
    RequestPolicy,
    Requirement,
    Slice,
    TaintRule,
    Taken,
    Term,
    Toleration,
)
from numalign.model.document import Form, anything, as_dict, as_mapping, inside, maybe, needed, read
from numalign.model.document.values import list_of, map_of
from numalign.model.machine import Taint
from numalign.model.path import FieldError
from numalign.model.quantity import Quantity

MAX_DEVICES: Final = 1024
"""Most devices of a slice that are read; the API allows 128."""


def _value(*, value: Quantity) -> Quantity:
    return value


# Slices and nodes


_REQUIREMENT: Final = part(Requirement, needed_text("key"), needed_text("operator"), maybe("values", TEXTS, ()))
_TERM: Final = part(
    Term, list_at("matchExpressions", _REQUIREMENT, "expressions"), list_at("matchFields", _REQUIREMENT, "fields")
)
_PLACEMENT: Final = (
    maybe("nodeName", SOME_TEXT),
    maybe("nodeSelector", part(lambda *, terms: terms, list_at("nodeSelectorTerms", _TERM, "terms")), to="selector"),
    flag("allNodes"),
)


def _placed(make: Callable[..., T]) -> Callable[..., T]:
    """Let the keys that say where something is become its placement."""

    def made(*, node_name: str | None, selector: tuple[Term, ...] | None, all_nodes: bool, **rest: object) -> T:
        return make(placement=Placement(node_name, selector, all_nodes), **rest)

    return made


def _policy(
    *, default: Quantity | None, valid_values: tuple[Quantity, ...], bounds: Mapping[str, Quantity | None] | None
) -> RequestPolicy:
    known = bounds or {}
    return RequestPolicy(
        default=default,
        valid_values=valid_values,
        has_range=bounds is not None,
        minimum=known.get("min"),
        maximum=known.get("max"),
        step=known.get("step"),
    )


_RANGE: Final = part(as_dict, maybe("min", QUANTITY), maybe("max", QUANTITY), maybe("step", QUANTITY))
_POLICY: Final = part(
    _policy, maybe("default", QUANTITY), list_at("validValues", QUANTITY), maybe("validRange", _RANGE, to="bounds")
)
_COUNTERS: Final = maybe("counters", map_of(part(_value, needed("value", QUANTITY, ""))), {})
_TAINT: Final = part(Taint, text_at("key"), text_at("value"), text_at("effect"))
_PARTS: Final = (
    maybe("attributes", map_of(read_by(attribute)), {}),
    maybe(
        "capacity",
        map_of(part(Capacity, needed("value", QUANTITY, ""), maybe("requestPolicy", _POLICY, to="policy"))),
        {},
    ),
    list_at("consumesCounters", part(CounterUse, needed_text("counterSet"), _COUNTERS), "consumes"),
    list_at("taints", _TAINT, "taints"),
    flag("allowMultipleAllocations", "shared"),
    *_PLACEMENT,
    maybe("bindingConditions", TEXTS, ()),
    maybe("bindingFailureConditions", TEXTS, ()),
    flag("bindsToNode"),
)


def _slice(device: Form[Device]) -> Form[Slice]:
    return part(
        _placed(Slice),
        inside("metadata", text_at("name")),
        inside(
            "spec",
            needed_text("driver"),
            inside(
                "pool",
                needed_text("name", "pool"),
                maybe("generation", NUMBER, 0),
                maybe("resourceSliceCount", NUMBER, 1, to="slice_count"),
            ),
            *_PLACEMENT,
            flag("perDeviceNodeSelection", "per_device"),
            maybe("devices", read_by(lambda value: list_of(device).read(_counted(value))), ()),
            list_at(
                "sharedCounters",
                part(lambda *, name, counters: (name, counters), needed_text("name"), _COUNTERS),
                "counters",
            ),
        ),
    )


def _counted(value: object) -> object:
    if isinstance(value, list) and len(value) > MAX_DEVICES:
        raise FieldError((), f"a slice may have {MAX_DEVICES} devices")
    return value


read_slice: Final = reader(
    _slice(part(_placed(Device), needed_text("name"), *_PARTS)),
    _slice(part(_placed(Device), needed_text("name"), inside("basic", *_PARTS))),
)
"""Read a ResourceSlice."""
read_node: Final = reader(
    part(
        Node,
        inside("metadata", needed_text("name"), maybe("labels", map_of(TEXT), {})),
        inside("status", inside("nodeInfo", text_at("kubeletVersion", "release"))),
    )
)
"""Read a node's name, labels and release."""
read_taint_rule: Final = reader(
    part(
        TaintRule,
        inside(
            "spec",
            inside("deviceSelector", text_at("driver"), text_at("pool"), text_at("device")),
            needed("taint", _TAINT),
        ),
    )
)
"""Read a DeviceTaintRule."""


# Classes and claims


def _configured(value: object) -> Config:
    data = as_mapping(value)
    requests = read(TEXTS, data.get("requests") or [], ("requests",))
    return Config(requests, {key: one for key, one in data.items() if key != "requests"})


def _tolerated(value: object) -> Toleration:
    found = _TOLERATION.read(value)
    return found._replace(operator=found.operator or "Equal", written=dict(as_mapping(value)))


_TOLERATION: Final = part(Toleration, text_at("key"), text_at("operator"), text_at("value"), text_at("effect"))
_CEL: Final = part(lambda *, expression: expression, needed("expression", read_by(expression), ""))
_SELECTOR: Final = part(lambda *, cel: cel, maybe("cel", _CEL))
_CONFIG: Final = list_at("config", read_by(_configured))
read_class: Final = reader(
    part(
        DeviceClass,
        inside("metadata", needed_text("name")),
        inside("spec", list_at("selectors", _SELECTOR), _CONFIG, text_at("extendedResourceName", "extended_resource")),
    )
)
"""Read a DeviceClass."""


_ASKED: Final = (
    text_at("deviceClassName", "device_class"),
    list_at("selectors", _SELECTOR),
    maybe("allocationMode", read_by(lambda value: text(value) or "ExactCount"), "ExactCount", to="mode"),
    maybe("count", NUMBER, 1, to="number"),
    flag("adminAccess", "admin"),
    list_at("tolerations", read_by(_tolerated)),
    maybe("capacity", part(lambda *, requests: requests, maybe("requests", QUANTITIES, {}))),
)
_NAMED: Final = part(DeviceRequest, needed_text("name"), *_ASKED)


def _request(*, name: str, exactly: DeviceRequest | None, alternatives: tuple[DeviceRequest, ...]) -> Request:
    return Request(name, exactly and exactly._replace(name=name), alternatives)


_EXACTLY: Final = part(partial(DeviceRequest, name=""), *_ASKED)
_REQUEST: Final = part(
    _request, needed_text("name"), maybe("exactly", _EXACTLY), list_at("firstAvailable", _NAMED, "alternatives")
)


def _in_one(value: object) -> Request:
    """Read a request of `v1beta1`: without alternatives it is what `exactly` became."""
    if as_mapping(value).get("firstAvailable") is not None:
        return _REQUEST.read(value)
    exactly = _NAMED.read(value)
    return Request(exactly.name, exactly)


def _taken(
    *, driver: str, pool: str, device: str, request: str, admin: bool, share: str, consumed: Mapping[str, Quantity]
) -> Taken:
    return Taken(DeviceID(driver, pool, device), request, admin, share, consumed)


_CONSTRAINT: Final = part(
    Constraint,
    maybe("requests", TEXTS),
    maybe("matchAttribute", SOME_TEXT, to="match"),
    maybe("distinctAttribute", SOME_TEXT, to="distinct"),
)
_TAKEN: Final = part(
    _taken,
    needed_text("driver"),
    needed_text("pool"),
    needed_text("device"),
    text_at("request"),
    flag("adminAccess", "admin"),
    text_at("shareID", "share"),
    maybe("consumedCapacity", QUANTITIES, {}, to="consumed"),
)
_ALLOCATION: Final = part(partial(Claim, name=""), inside("devices", list_at("results", _TAKEN, "allocation"), _CONFIG))


def _claimed(*, given: Claim | None, **asked: Any) -> Claim:
    claim = Claim(**asked)
    return claim._replace(allocation=given.allocation, config=given.config or claim.config) if given else claim


def _claim(request: Form[Request], *, template: bool) -> Form[Claim]:
    """Describe a claim, or a template as the claim it would become, under the template's own name."""
    asks = inside("devices", list_at("requests", request), list_at("constraints", _CONSTRAINT), _CONFIG)
    return part(
        _claimed,
        inside("metadata", text_at("name"), text_at("namespace")),
        inside("spec", inside("spec", asks) if template else asks),
        inside("status", maybe("allocation", anything if template else _ALLOCATION, to="given")),
    )


read_claim: Final = reader(_claim(_REQUEST, template=False), _claim(read_by(_in_one), template=False))
"""Read a ResourceClaim."""
read_template: Final = reader(_claim(_REQUEST, template=True), _claim(read_by(_in_one), template=True))
"""Read a ResourceClaimTemplate as the claim it would become, under the template's own name."""
