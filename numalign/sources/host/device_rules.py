"""Which resource a PCI device is published as: a rules file, and its application to the devices of a machine.

The names are the device plugins' own and no property of the devices (docs/rules/discovery.md 3.8), so the rules are
data: `device-rules.json` in this package is the default (JSON, so that a host with devices costs no YAML import); the
format is explained in docs/discover.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final

from numalign.model.document import Form, choice, field, fixed, maybe, record
from numalign.model.document.values import MAX_NODE_ID, boolean, integer, list_of, text, turned
from numalign.model.hardware import PCIFunction
from numalign.model.machine import Device
from numalign.model.path import unfit
from numalign.values import NamedTuple

DEFAULT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "device-rules.json")


class DeviceRule(NamedTuple):
    """One rule; an empty condition fits every device."""

    resource: str
    classes: tuple[str, ...] = ()
    """Beginnings of the class."""
    vendors: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    rdma: bool = False
    topology: bool = True
    unknown_node: int | None = None
    on_request: str | None = None

    def fits(self, device: PCIFunction) -> bool:
        """Tell whether all conditions hold for a device."""
        return (
            device.class_id is not None
            and (not self.classes or device.class_id.startswith(self.classes))
            and (not self.vendors or device.vendor in self.vendors)
            and (not self.devices or device.device in self.devices)
            and (not self.drivers or device.driver in self.drivers)
            and (not self.functions or device.function in self.functions)
            and (not self.rdma or device.rdma)
        )


def load_rules(path: str | os.PathLike[str] = DEFAULT) -> tuple[DeviceRule, ...]:
    """Read a rules file.

    Raises:
        InputError: the file is no rules file; the message says which rule and what would be right.
    """
    from numalign.sources.text.yaml import read_one

    return read_one(path, RULES)


def requestable(rules: Iterable[DeviceRule]) -> tuple[str, ...]:
    """Return the names that `--with` may have."""
    return tuple(sorted({rule.on_request for rule in rules if rule.on_request}))


def named(
    functions: Iterable[PCIFunction], rules: Sequence[DeviceRule] | None = None, requested: frozenset[str] = frozenset()
) -> dict[str, tuple[Device, ...]]:
    """Do as `name_devices`; None: by the default rules, which a host with nothing but bridges need not read."""
    candidates = [one for one in functions if one.class_id and not one.class_id.startswith("06")]
    return name_devices(candidates, load_rules() if rules is None else rules, requested) if candidates else {}


def name_devices(
    devices: Iterable[PCIFunction], rules: Sequence[DeviceRule], requested: frozenset[str] = frozenset()
) -> dict[str, tuple[Device, ...]]:
    """Return resource -> its devices, as their plugin would report them: resources by name, devices by address."""
    rules = [rule for rule in rules if rule.on_request is None or rule.on_request in requested]
    result: dict[str, list[Device]] = {}
    for device in devices:
        for rule in rules:
            if rule.fits(device):
                result.setdefault(rule.resource, []).append(Device(device.address, _numa_nodes(device, rule)))
                break
    return {resource: tuple(found) for resource, found in sorted(result.items())}


def _numa_nodes(device: PCIFunction, rule: DeviceRule) -> tuple[int, ...] | None:
    """A node of -1 is "not said": customary plugins report no topology then (rule 3.2)."""
    if not rule.topology:
        return None
    node = device.numa_node
    if node is None or node < 0:
        node = rule.unknown_node
    return None if node is None else (node,)


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise unfit('text or a list of texts; write PCI ids in quotes, such as "10de"', value)
    return tuple(values)


def _hexadecimal(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([text.lower().removeprefix("0x") for text in texts])


def _named(resource: str) -> str:
    if "/" not in resource.strip("/"):
        raise unfit(_RESOURCE, resource)
    return resource


_RESOURCE: Final = 'a name such as "nvidia.com/gpu"'
_TEXTS: Final[Form[tuple[str, ...]]] = Form(
    _texts, list, {"type": ["string", "array"], "items": {"type": "string"}, "description": "One, or one of several."}
)
_IDS: Final = turned(_TEXTS, _hexadecimal, _hexadecimal)
_FUNCTION: Final = choice("vf", "pf", "plain")
_FUNCTIONS: Final = turned(_TEXTS, lambda texts: tuple([_FUNCTION.read(one) for one in texts]), tuple)
_RULE: Final = record(
    DeviceRule,
    field("resource", turned(text(_RESOURCE), _named, _named), says="The name pods ask for."),
    field("class", _IDS, to="classes", says="Beginnings of the class."),
    field("vendor", _IDS, to="vendors"),
    field("device", _IDS, to="devices"),
    field("driver", _TEXTS, to="drivers"),
    field("function", _FUNCTIONS, to="functions", says="vf, pf (its virtual functions are enabled) or plain."),
    field("rdma", boolean, says="Only with an RDMA device."),
    field("topology", boolean, says="false: the plugin reports no NUMA node."),
    maybe("unknownNode", integer(0, MAX_NODE_ID, "the id of a NUMA node"), says="Reported for a device of node -1."),
    maybe("onRequest", text("a name"), says="The rule counts only with `--with NAME`."),
    fixed("comment"),
    wanted="a mapping with resource and conditions",
)
RULES: Final = record(
    lambda *, rules: rules,
    fixed("apiVersion"),
    fixed("kind", "DeviceRules"),
    field("rules", list_of(_RULE)),
    wanted="one document with kind: DeviceRules",
)
"""A rules file."""
