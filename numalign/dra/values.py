"""The objects of `resource.k8s.io/v1` as values: slices with devices, classes, claims (docs/rules/dra.md 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from numalign.model.machine import Taint
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

AttributeKind = Literal["int", "bool", "string", "version", "ints", "bools", "strings", "versions", "unknown"]

MAX_RESULTS: Final = 32
"""Most devices of a claim."""


class Attribute(NamedTuple):
    """A value that a driver publishes about a device."""

    kind: AttributeKind
    value: Any
    """int, bool or str; of a list kind a tuple of them. A version is text. None of the kind `unknown`, which only a
    later API writes."""

    @property
    def is_list(self) -> bool:
        """Whether this is a list (gate `DRAListTypeAttributes`)."""
        return self.kind in ("ints", "bools", "strings", "versions")


class RequestPolicy(NamedTuple):
    """How an amount asked of a shared device is rounded (D-13)."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    has_range: bool = False
    minimum: Quantity | None = None
    maximum: Quantity | None = None
    step: Quantity | None = None


class Capacity(NamedTuple):
    """An amount that a device has."""

    value: Quantity
    policy: RequestPolicy | None = None


class TaintRule(NamedTuple):
    """A DeviceTaintRule: a taint on all devices that it names."""

    taint: Taint
    driver: str = ""
    """Empty, here and below: any."""
    pool: str = ""
    device: str = ""

    def names(self, driver: str, pool: str, device: str) -> bool:
        """Tell whether it is about a device."""
        return self.driver in ("", driver) and self.pool in ("", pool) and self.device in ("", device)


class Toleration(NamedTuple):
    """A taint that a request puts up with."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    written: Mapping[str, Any] = {}
    """The fields as the claim has them, which the result repeats."""


class CounterUse(NamedTuple):
    """What a device takes from a counter set of its pool."""

    counter_set: str
    counters: Mapping[str, Quantity]


class Requirement(NamedTuple):
    """A condition on a node's label or field."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class Term(NamedTuple):
    """Conditions that must all hold."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


NodeSelector = tuple[Term, ...]
"""Terms of which one must hold."""


class Placement(NamedTuple):
    """From which nodes a slice or a device can be used."""

    node_name: str | None = None
    selector: NodeSelector | None = None
    all_nodes: bool = False


class Device(NamedTuple):
    """One device of a slice."""

    name: str
    attributes: Mapping[str, Attribute] = {}
    """Name, with or without a domain -> value."""
    capacity: Mapping[str, Capacity] = {}
    consumes: tuple[CounterUse, ...] = ()
    taints: tuple[Taint, ...] = ()
    shared: bool = False
    """`allowMultipleAllocations`."""
    placement: Placement = Placement()
    """Only with `perDeviceNodeSelection`."""
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    binds_to_node: bool = False


class Slice(NamedTuple):
    """A ResourceSlice: some devices of a pool of a driver."""

    name: str
    driver: str
    pool: str
    generation: int
    slice_count: int
    """How many slices the pool has in this generation."""
    placement: Placement = Placement()
    per_device: bool = False
    """`perDeviceNodeSelection`: each device has a placement of its own."""
    devices: tuple[Device, ...] = ()
    counters: tuple[tuple[str, Mapping[str, Quantity]], ...] = ()
    """Shared counter sets: name, and counter -> amount."""


class Config(NamedTuple):
    """Parameters for a driver; numalign hands them on."""

    requests: tuple[str, ...]
    fields: Mapping[str, Any]
    """Everything but `requests`."""


class DeviceClass(NamedTuple):
    """A DeviceClass."""

    name: str
    selectors: tuple[str | None, ...] = ()
    """Expressions; None for a selector that is no CEL."""
    config: tuple[Config, ...] = ()
    extended_resource: str = ""
    """The resource of a pod's requests that its devices serve, too (D-53); empty: only the one named by the class."""


class DeviceRequest(NamedTuple):
    """What is asked for: a whole request (`exactly`) or one of its alternatives."""

    name: str
    device_class: str
    selectors: tuple[str | None, ...] = ()
    mode: str = "ExactCount"
    number: int = 1
    """How many devices, in mode `ExactCount`."""
    admin: bool = False
    tolerations: tuple[Toleration, ...] = ()
    capacity: Mapping[str, Quantity] | None = None
    """Amounts asked of each device; None if the request says nothing of capacity."""


class Request(NamedTuple):
    """A request of a claim: one form, or alternatives in order of preference."""

    name: str
    exactly: DeviceRequest | None = None
    alternatives: tuple[DeviceRequest, ...] = ()


class Constraint(NamedTuple):
    """What the devices of several requests must have in common, or not."""

    requests: tuple[str, ...] = ()
    """Empty: all requests of the claim."""
    match: str | None = None
    distinct: str | None = None


class DeviceID(NamedTuple):
    """Names one device of the cluster."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class Taken(NamedTuple):
    """A device in a claim's status: allocated already."""

    device: DeviceID
    request: str = ""
    admin: bool = False
    share: str = ""
    """The id of a share of a device that serves several claims."""
    consumed: Mapping[str, Quantity] = {}


class Claim(NamedTuple):
    """A ResourceClaim."""

    name: str
    namespace: str = ""
    requests: tuple[Request, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    config: tuple[Config, ...] = ()
    """Of an allocated claim what its allocation says."""
    allocation: tuple[Taken, ...] | None = None
    """The devices it has; None while it has none."""

    @property
    def full_name(self) -> str:
        """The name with its namespace, as messages have it."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Node(NamedTuple):
    """What a selector can ask of a node."""

    name: str
    labels: Mapping[str, str] = {}
    release: str = ""
    """The version of its kubelet, as the node says it; empty: it does not."""
