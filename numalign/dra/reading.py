"""Objects of `resource.k8s.io` as the API writes them, read into values.

What the API server would never let through is refused with its field path; what only a future API may have is kept as
the allocator would see it (a selector that is no CEL, a mode it does not know), since that is where it is refused.

`v1beta2` has the fields of `v1`. `v1beta1` has those of `exactly` in the request itself, and those of a device below
`basic`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    NodeSelector,
    Placement,
    Request,
    RequestPolicy,
    Requirement,
    Slice,
    Taint,
    Taken,
    Term,
    Toleration,
)
from numalign.errors import InputError
from numalign.model.path import child
from numalign.model.quantity import Quantity, QuantityError, parse

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Object = Mapping[str, Any]


class Reader(Protocol[T_co]):
    """Reads an object of the API that stands at a path of its document."""

    def __call__(self, data: Object, path: str = "") -> T_co:
        """Read it."""


MAX_DEVICES: Final = 1024
"""Most devices of a slice that are read; the API allows 128."""
_ATTRIBUTE_TYPES: Final[Mapping[AttributeKind, type]] = {"int": int, "bool": bool, "string": str, "version": str}
_INT64: Final = 2**63


class Fields:
    """A mapping of a document, with its path: typed getters that refuse what does not fit."""

    __slots__ = ("data", "path")

    def __init__(self, data: object, path: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError("expected a mapping", path)
        self.data = data
        self.path = path

    def at(self, key: str) -> str:
        """Give the path of a field."""
        return child(self.path, key)

    def text(self, key: str, default: str | None = None) -> str:
        """Take a text; without a default it must be there."""
        value = self.data.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not (value.isprintable() or key == "expression"):
            raise InputError("expected text" if value is not None else "is missing", self.at(key))
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """Take a whole number of 64 bits."""
        value = self.data.get(key)
        if value is None and default is not None:
            return default
        if type(value) is not int or not -_INT64 <= value < _INT64:
            raise InputError("expected a whole number" if value is not None else "is missing", self.at(key))
        return value

    def flag(self, key: str) -> bool:
        """Take true or false; absent is false."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            raise InputError("expected true or false", self.at(key))
        return bool(value)

    def inner(self, key: str) -> Fields:
        """Take a mapping; absent is empty."""
        value = self.data.get(key)
        return Fields({} if value is None else value, self.at(key))

    def each(self, key: str, read: Callable[[Fields], T]) -> tuple[T, ...]:
        """Read a list of mappings; absent is empty."""
        return tuple(read(Fields(item, child(self.at(key), index))) for index, item in enumerate(self.items(key)))

    def items(self, key: str) -> list[Any]:
        """Take a list; absent is empty."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, list):
            raise InputError("expected a list", self.at(key))
        return value or []

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts."""
        found = self.items(key)
        for index, item in enumerate(found):
            if not isinstance(item, str) or not item.isprintable():
                raise InputError("expected text", child(self.at(key), index))
        return tuple(found)

    def names(self) -> list[str]:
        """Give the keys, which must be text."""
        for key in self.data:
            if not isinstance(key, str) or not key.isprintable():
                raise InputError("expected printable keys", self.path)
        return list(self.data)

    def quantity(self, key: str) -> Quantity:
        """Take an amount."""
        value = self.data.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value) if value.bit_length() < 200 else "too long"
        if not isinstance(value, str):
            raise InputError("expected a quantity" if value is not None else "is missing", self.at(key))
        try:
            return parse(value)
        except QuantityError as error:
            raise InputError(f"no quantity: {error}", self.at(key)) from None

    def quantities(self) -> dict[str, Quantity]:
        """Take a mapping of amounts."""
        return {key: self.quantity(key) for key in self.names()}


def read_slice(data: Object, path: str = "") -> Slice:
    """Read a ResourceSlice.

    Raises:
        InputError: a field is missing or has the wrong type; `where` is its path.
    """
    whole = Fields(data, path)
    spec = whole.inner("spec")
    pool = spec.inner("pool")
    if len(spec.items("devices")) > MAX_DEVICES:
        raise InputError(f"a slice may have {MAX_DEVICES} devices", spec.at("devices"))
    return Slice(
        name=whole.inner("metadata").text("name", ""),
        driver=spec.text("driver"),
        pool=pool.text("name"),
        generation=pool.number("generation", 0),
        slice_count=pool.number("resourceSliceCount", 1),
        placement=_placement(spec),
        per_device=spec.flag("perDeviceNodeSelection"),
        devices=spec.each("devices", _basic_device if _is_v1beta1(whole) else _device),
        counters=spec.each("sharedCounters", _counter_set),
    )


def read_class(data: Object, path: str = "") -> DeviceClass:
    """Read a DeviceClass; errors as `read_slice`."""
    whole = Fields(data, path)
    spec = whole.inner("spec")
    return DeviceClass(
        name=whole.inner("metadata").text("name"),
        selectors=spec.each("selectors", _selector),
        config=spec.each("config", _config),
        extended_resource=spec.text("extendedResourceName", ""),
    )


def read_claim(data: Object, path: str = "") -> Claim:
    """Read a ResourceClaim; errors as `read_slice`."""
    whole = Fields(data, path)
    claim = _claim(whole, whole.inner("spec"))
    status = whole.inner("status")
    if status.data.get("allocation") is None:
        return claim
    devices = status.inner("allocation").inner("devices")
    return claim._replace(
        allocation=devices.each("results", _taken), config=devices.each("config", _config) or claim.config
    )


def read_template(data: Object, path: str = "") -> Claim:
    """Read a ResourceClaimTemplate as the claim it would become, under the template's own name."""
    whole = Fields(data, path)
    return _claim(whole, whole.inner("spec").inner("spec"))


def _claim(whole: Fields, spec: Fields) -> Claim:
    """Read what a claim, or the claim of a template, asks for."""
    metadata, devices = whole.inner("metadata"), spec.inner("devices")
    return Claim(
        name=metadata.text("name", ""),
        namespace=metadata.text("namespace", ""),
        requests=devices.each("requests", _request_in_one if _is_v1beta1(whole) else _request),
        constraints=devices.each("constraints", _constraint),
        config=devices.each("config", _config),
    )


def read_node(data: Object, path: str = "") -> Node:
    """Read a node's name and labels."""
    metadata = Fields(data, path).inner("metadata")
    labels = metadata.inner("labels")
    return Node(metadata.text("name"), {key: labels.text(key) for key in labels.names()})


def _placement(fields: Fields) -> Placement:
    selector = fields.data.get("nodeSelector")
    return Placement(
        node_name=fields.text("nodeName", "") or None,
        selector=_node_selector(fields.inner("nodeSelector")) if selector is not None else None,
        all_nodes=fields.flag("allNodes"),
    )


def _node_selector(fields: Fields) -> NodeSelector:
    return fields.each("nodeSelectorTerms", _term)


def _term(fields: Fields) -> Term:
    return Term(fields.each("matchExpressions", _requirement), fields.each("matchFields", _requirement))


def _requirement(fields: Fields) -> Requirement:
    return Requirement(fields.text("key"), fields.text("operator"), fields.texts("values"))


def _basic_device(fields: Fields) -> Device:
    return _named_device(fields.inner("basic"), fields.text("name"))


def _device(fields: Fields) -> Device:
    return _named_device(fields, fields.text("name"))


def _named_device(fields: Fields, name: str) -> Device:
    attributes, capacity = fields.inner("attributes"), fields.inner("capacity")
    return Device(
        name=name,
        attributes={key: _attribute(attributes.inner(key)) for key in attributes.names()},
        capacity={key: _capacity(capacity.inner(key)) for key in capacity.names()},
        consumes=fields.each("consumesCounters", _counter_use),
        taints=fields.each("taints", _taint),
        shared=fields.flag("allowMultipleAllocations"),
        placement=_placement(fields),
        binding_conditions=fields.texts("bindingConditions"),
        binding_failure_conditions=fields.texts("bindingFailureConditions"),
        binds_to_node=fields.flag("bindsToNode"),
        node_allocatable=tuple(fields.inner("nodeAllocatableResourceMappings").names()),
    )


def _attribute(fields: Fields) -> Attribute:
    for kind, wanted in _ATTRIBUTE_TYPES.items():
        value = fields.data.get(kind)
        if value is not None:
            if wanted is int:
                return Attribute(kind, fields.number(kind))
            if type(value) is not wanted:
                raise InputError(f"expected {kind}", fields.at(kind))
            return Attribute(kind, value)
        several: AttributeKind = f"{kind}s"  # type: ignore[assignment]  # the four list kinds are spelled so
        if fields.data.get(several) is not None:
            items = fields.items(several)
            for index, item in enumerate(items):
                if type(item) is not wanted:
                    raise InputError(f"expected {kind}", child(fields.at(several), index))
            return Attribute(several, tuple(items))
    return Attribute("unknown", None)


def _capacity(fields: Fields) -> Capacity:
    policy = fields.data.get("requestPolicy")
    return Capacity(fields.quantity("value"), _policy(fields.inner("requestPolicy")) if policy is not None else None)


def _policy(fields: Fields) -> RequestPolicy:
    bounds = fields.inner("validRange")

    def amount(of: Fields, key: str) -> Quantity | None:
        return None if of.data.get(key) is None else of.quantity(key)

    values = [
        Fields({"value": item}, child(fields.at("validValues"), index))
        for index, item in enumerate(fields.items("validValues"))
    ]
    return RequestPolicy(
        default=amount(fields, "default"),
        valid_values=tuple(item.quantity("value") for item in values),
        has_range=fields.data.get("validRange") is not None,
        minimum=amount(bounds, "min"),
        maximum=amount(bounds, "max"),
        step=amount(bounds, "step"),
    )


def _counter_set(fields: Fields) -> tuple[str, Mapping[str, Quantity]]:
    return fields.text("name"), _counters(fields)


def _counters(fields: Fields) -> dict[str, Quantity]:
    counters = fields.inner("counters")
    return {key: counters.inner(key).quantity("value") for key in counters.names()}


def _counter_use(fields: Fields) -> CounterUse:
    return CounterUse(fields.text("counterSet"), _counters(fields))


def _taint(fields: Fields) -> Taint:
    return Taint(fields.text("key", ""), fields.text("value", ""), fields.text("effect", ""))


def _toleration(fields: Fields) -> Toleration:
    return Toleration(
        key=fields.text("key", ""),
        operator=fields.text("operator", "") or "Equal",
        value=fields.text("value", ""),
        effect=fields.text("effect", ""),
        written=dict(fields.data),
    )


def _selector(fields: Fields) -> str | None:
    return fields.inner("cel").text("expression") if fields.data.get("cel") is not None else None


def _config(fields: Fields) -> Config:
    return Config(fields.texts("requests"), {key: value for key, value in fields.data.items() if key != "requests"})


def _is_v1beta1(whole: Fields) -> bool:
    return str(whole.data.get("apiVersion")).endswith("/v1beta1")


def _request_in_one(fields: Fields) -> Request:
    """Read a request of `v1beta1`: without alternatives it is what `exactly` became."""
    if fields.data.get("firstAvailable") is not None:
        return _request(fields)
    name = fields.text("name")
    return Request(name=name, exactly=_device_request(fields, name))


def _request(fields: Fields) -> Request:
    name = fields.text("name")
    exactly = fields.data.get("exactly")
    return Request(
        name=name,
        exactly=_device_request(fields.inner("exactly"), name) if exactly is not None else None,
        alternatives=fields.each("firstAvailable", lambda inner: _device_request(inner, inner.text("name"))),
    )


def _device_request(fields: Fields, name: str) -> DeviceRequest:
    capacity = fields.data.get("capacity")
    return DeviceRequest(
        name=name,
        device_class=fields.text("deviceClassName", ""),
        selectors=fields.each("selectors", _selector),
        mode=fields.text("allocationMode", "") or "ExactCount",
        number=fields.number("count", 1),
        admin=fields.flag("adminAccess"),
        tolerations=fields.each("tolerations", _toleration),
        capacity=fields.inner("capacity").inner("requests").quantities() if capacity is not None else None,
    )


def _constraint(fields: Fields) -> Constraint:
    return Constraint(
        requests=fields.texts("requests"),
        match=fields.text("matchAttribute", "") or None,
        distinct=fields.text("distinctAttribute", "") or None,
    )


def _taken(fields: Fields) -> Taken:
    return Taken(
        device=DeviceID(fields.text("driver"), fields.text("pool"), fields.text("device")),
        request=fields.text("request", ""),
        admin=fields.flag("adminAccess"),
        share=fields.text("shareID", ""),
        consumed=fields.inner("consumedCapacity").quantities(),
    )
