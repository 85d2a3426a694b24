"""Objects of `resource.k8s.io` as the API writes them, read into values.

What the API server would never let through is refused with its field path; what only a future API may have is kept as
the allocator would see it (a selector that is no CEL, a mode it does not know), since that is where it is refused.

`v1beta2` has the fields of `v1`. `v1beta1` has those of `exactly` in the request itself, and those of a device below
`basic`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from numalign.dra.values import (
    Attribute,
    AttributeKind,
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
from numalign.errors import InputError
from numalign.model.document import (
    AnyForm,
    Field,
    Form,
    anything,
    as_dict,
    as_mapping,
    inside,
    maybe,
    needed,
    read,
    record,
)
from numalign.model.document.values import boolean, list_of, map_of
from numalign.model.machine import Taint
from numalign.model.path import FieldError, child, unfit
from numalign.model.quantity import Quantity, QuantityError, parse

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Object = Mapping[str, Any]


class Reader(Protocol[T_co]):
    """Reads an object of the API that stands at a path of its document.

    Raises:
        InputError: a field is missing or has the wrong type; `where` is its path.
    """

    def __call__(self, data: Object, path: str = "") -> T_co:
        """Read it."""


MAX_DEVICES: Final = 1024
"""Most devices of a slice that are read; the API allows 128."""
_ATTRIBUTE_TYPES: Final[Mapping[AttributeKind, type]] = {"int": int, "bool": bool, "string": str, "version": str}
_INT64: Final = 2**63


def _reader(form: Form[T], v1beta1: Form[T] | None = None) -> Reader[T]:
    """Make the reader of an object, whose errors are in the words of an API: what is wanted, not what is there."""

    def take(data: Object, path: str = "") -> T:
        old = v1beta1 is not None and isinstance(data, Mapping) and str(data.get("apiVersion")).endswith("/v1beta1")
        try:
            return (v1beta1 if old and v1beta1 else form).read(data)
        except FieldError as error:
            where = path
            for part in error.path:
                where = child(where, part)
            lacks = error.wanted and error.got is None and error.path and isinstance(error.path[-1], str)
            words = f"expected {error.wanted}" if error.wanted else error.message
            raise InputError("is missing" if lacks else words, where) from None

    return take


# Single values


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise unfit("text", value)
    return value


def _expression(value: object) -> str:
    if not isinstance(value, str):
        raise unfit("text", value)
    return value


def _number(value: object) -> int:
    if type(value) is not int or not -_INT64 <= value < _INT64:
        raise unfit("a whole number", value)
    return value


def _quantity(value: object) -> Quantity:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if value.bit_length() < 200 else "too long"
    if not isinstance(value, str):
        raise unfit("a quantity", value)
    try:
        return parse(value)
    except QuantityError as error:
        raise FieldError((), f"not a quantity: {error}") from None


def _attribute(value: object) -> Attribute:
    data = as_mapping(value)
    for kind, wanted in _ATTRIBUTE_TYPES.items():
        several: AttributeKind = f"{kind}s"  # type: ignore[assignment]  # the four list kinds are spelled so
        one = data.get(kind)
        if one is not None:
            if wanted is int:
                return Attribute(kind, read(_NUMBER, one, (kind,)))
            if type(one) is not wanted:
                raise FieldError((kind,), f"expected {kind}")
            return Attribute(kind, one)
        if data.get(several) is not None:
            items = read(list_of(anything), data[several], (several,))
            for index, item in enumerate(items):
                if type(item) is not wanted:
                    raise FieldError((several, index), f"expected {kind}")
            return Attribute(several, items)
    return Attribute("unknown", None)


def _form(take: Callable[[object], T]) -> Form[T]:
    return Form(take, anything.write, {})


_TEXT: Final = _form(_text)
_SOME: Final = _form(lambda value: _text(value) or None)
"""A text; an empty one is none."""
_NUMBER: Final = _form(_number)
_QUANTITY: Final = _form(_quantity)
_TEXTS: Final = list_of(_TEXT)
_QUANTITIES: Final = map_of(_QUANTITY)


def _api(make: Callable[..., T], *fields: Field) -> Form[T]:
    """Describe an object or a part of one; what a later API adds is passed over."""
    return record(make, *fields, others=True)


def _must(key: str, to: str = "") -> Field:
    return needed(key, _TEXT, "", to=to)


def _word(key: str, to: str = "") -> Field:
    return maybe(key, _TEXT, "", to=to)


def _each(key: str, form: AnyForm, to: str = "") -> Field:
    return maybe(key, list_of(form), (), to=to)


def _flag(key: str, to: str = "") -> Field:
    return maybe(key, boolean, False, to=to)


def _value(*, value: Quantity) -> Quantity:
    return value


# Slices and nodes


_REQUIREMENT: Final = _api(Requirement, _must("key"), _must("operator"), maybe("values", _TEXTS, ()))
_TERM: Final = _api(
    Term, _each("matchExpressions", _REQUIREMENT, "expressions"), _each("matchFields", _REQUIREMENT, "fields")
)
_PLACEMENT: Final = (
    maybe("nodeName", _SOME),
    maybe("nodeSelector", _api(lambda *, terms: terms, _each("nodeSelectorTerms", _TERM, "terms")), to="selector"),
    _flag("allNodes"),
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


_RANGE: Final = _api(as_dict, maybe("min", _QUANTITY), maybe("max", _QUANTITY), maybe("step", _QUANTITY))
_POLICY: Final = _api(
    _policy, maybe("default", _QUANTITY), _each("validValues", _QUANTITY), maybe("validRange", _RANGE, to="bounds")
)
_COUNTERS: Final = maybe("counters", map_of(_api(_value, needed("value", _QUANTITY, ""))), {})
_TAINT: Final = _api(Taint, _word("key"), _word("value"), _word("effect"))
_PARTS: Final = (
    maybe("attributes", map_of(_form(_attribute)), {}),
    maybe(
        "capacity",
        map_of(_api(Capacity, needed("value", _QUANTITY, ""), maybe("requestPolicy", _POLICY, to="policy"))),
        {},
    ),
    _each("consumesCounters", _api(CounterUse, _must("counterSet"), _COUNTERS), "consumes"),
    _each("taints", _TAINT, "taints"),
    _flag("allowMultipleAllocations", "shared"),
    *_PLACEMENT,
    maybe("bindingConditions", _TEXTS, ()),
    maybe("bindingFailureConditions", _TEXTS, ()),
    _flag("bindsToNode"),
)


def _slice(device: Form[Device]) -> Form[Slice]:
    return _api(
        _placed(Slice),
        inside("metadata", _word("name")),
        inside(
            "spec",
            _must("driver"),
            inside(
                "pool",
                _must("name", "pool"),
                maybe("generation", _NUMBER, 0),
                maybe("resourceSliceCount", _NUMBER, 1, to="slice_count"),
            ),
            *_PLACEMENT,
            _flag("perDeviceNodeSelection", "per_device"),
            maybe("devices", _form(lambda value: list_of(device).read(_counted(value))), ()),
            _each(
                "sharedCounters",
                _api(lambda *, name, counters: (name, counters), _must("name"), _COUNTERS),
                "counters",
            ),
        ),
    )


def _counted(value: object) -> object:
    if isinstance(value, list) and len(value) > MAX_DEVICES:
        raise FieldError((), f"a slice may have {MAX_DEVICES} devices")
    return value


read_slice: Final = _reader(
    _slice(_api(_placed(Device), _must("name"), *_PARTS)),
    _slice(_api(_placed(Device), _must("name"), inside("basic", *_PARTS))),
)
"""Read a ResourceSlice."""
read_node: Final = _reader(
    _api(
        Node,
        inside("metadata", _must("name"), maybe("labels", map_of(_TEXT), {})),
        inside("status", inside("nodeInfo", _word("kubeletVersion", "release"))),
    )
)
"""Read a node's name, labels and release."""
read_taint_rule: Final = _reader(
    _api(
        TaintRule,
        inside(
            "spec",
            inside("deviceSelector", _word("driver"), _word("pool"), _word("device")),
            needed("taint", _TAINT),
        ),
    )
)
"""Read a DeviceTaintRule."""


# Classes and claims


def _configured(value: object) -> Config:
    data = as_mapping(value)
    requests = read(_TEXTS, data.get("requests") or [], ("requests",))
    return Config(requests, {key: one for key, one in data.items() if key != "requests"})


def _tolerated(value: object) -> Toleration:
    found = _TOLERATION.read(value)
    return found._replace(operator=found.operator or "Equal", written=dict(as_mapping(value)))


_TOLERATION: Final = _api(Toleration, _word("key"), _word("operator"), _word("value"), _word("effect"))
_CEL: Final = _api(lambda *, expression: expression, needed("expression", _form(_expression), ""))
_SELECTOR: Final = _api(lambda *, cel: cel, maybe("cel", _CEL))
_CONFIG: Final = _each("config", _form(_configured))
read_class: Final = _reader(
    _api(
        DeviceClass,
        inside("metadata", _must("name")),
        inside("spec", _each("selectors", _SELECTOR), _CONFIG, _word("extendedResourceName", "extended_resource")),
    )
)
"""Read a DeviceClass."""


_ASKED: Final = (
    _word("deviceClassName", "device_class"),
    _each("selectors", _SELECTOR),
    maybe("allocationMode", _form(lambda value: _text(value) or "ExactCount"), "ExactCount", to="mode"),
    maybe("count", _NUMBER, 1, to="number"),
    _flag("adminAccess", "admin"),
    _each("tolerations", _form(_tolerated)),
    maybe("capacity", _api(lambda *, requests: requests, maybe("requests", _QUANTITIES, {}))),
)
_NAMED: Final = _api(DeviceRequest, _must("name"), *_ASKED)


def _request(*, name: str, exactly: DeviceRequest | None, alternatives: tuple[DeviceRequest, ...]) -> Request:
    return Request(name, exactly and exactly._replace(name=name), alternatives)


_EXACTLY: Final = _api(partial(DeviceRequest, name=""), *_ASKED)
_REQUEST: Final = _api(
    _request, _must("name"), maybe("exactly", _EXACTLY), _each("firstAvailable", _NAMED, "alternatives")
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


_CONSTRAINT: Final = _api(
    Constraint,
    maybe("requests", _TEXTS),
    maybe("matchAttribute", _SOME, to="match"),
    maybe("distinctAttribute", _SOME, to="distinct"),
)
_TAKEN: Final = _api(
    _taken,
    _must("driver"),
    _must("pool"),
    _must("device"),
    _word("request"),
    _flag("adminAccess", "admin"),
    _word("shareID", "share"),
    maybe("consumedCapacity", _QUANTITIES, {}, to="consumed"),
)
_ALLOCATION: Final = _api(partial(Claim, name=""), inside("devices", _each("results", _TAKEN, "allocation"), _CONFIG))


def _claimed(*, given: Claim | None, **asked: Any) -> Claim:
    claim = Claim(**asked)
    return claim._replace(allocation=given.allocation, config=given.config or claim.config) if given else claim


def _claim(request: Form[Request], *, template: bool) -> Form[Claim]:
    """Describe a claim, or a template as the claim it would become, under the template's own name."""
    asks = inside("devices", _each("requests", request), _each("constraints", _CONSTRAINT), _CONFIG)
    return _api(
        _claimed,
        inside("metadata", _word("name"), _word("namespace")),
        inside("spec", inside("spec", asks) if template else asks),
        inside("status", maybe("allocation", anything if template else _ALLOCATION, to="given")),
    )


read_claim: Final = _reader(_claim(_REQUEST, template=False), _claim(_form(_in_one), template=False))
"""Read a ResourceClaim."""
read_template: Final = _reader(_claim(_REQUEST, template=True), _claim(_form(_in_one), template=True))
"""Read a ResourceClaimTemplate as the claim it would become, under the template's own name."""
