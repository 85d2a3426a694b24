"""Which resource a PCI device is published as: a rules file, and its application to the devices of a machine.

The names are the device plugins' own and no property of the devices (docs/rules/discovery.md 3.8), so the rules are
data: `device-rules.json` in this package is the default (JSON, so that a host with devices costs no YAML import); the
format is explained in docs/discover.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from numalign.errors import InputError
from numalign.model.machine import Device
from numalign.sources.host.pci import PCIDevice
from numalign.values import NamedTuple

DEFAULT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "device-rules.json")

_TEXTS = ("class", "vendor", "device", "driver", "function")
_KEYS = ("resource", *_TEXTS, "rdma", "topology", "unknownNode", "onRequest", "comment")
_FUNCTIONS = ("vf", "pf", "plain")


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

    def fits(self, device: PCIDevice) -> bool:
        """Tell whether all conditions hold for a device."""
        return (
            device.class_id is not None
            and (not self.classes or device.class_id.startswith(self.classes))
            and (not self.vendors or device.vendor in self.vendors)
            and (not self.devices or device.device in self.devices)
            and (not self.drivers or device.driver in self.drivers)
            and (not self.functions or device.function in self.functions)
            and (not self.rdma or bool(device.infiniband))
        )


def load_rules(path: str | os.PathLike[str] = DEFAULT) -> tuple[DeviceRule, ...]:
    """Read a rules file.

    Raises:
        InputError: the file is no rules file; the message says which rule and what would be right.
    """
    from numalign.sources.text.yaml import load_one

    where = os.fspath(path)
    data = load_one(path)
    if not isinstance(data, Mapping) or data.get("kind") != "DeviceRules":
        raise InputError("expected one document with kind: DeviceRules", where)
    rules = data.get("rules")
    if not isinstance(rules, Sequence) or isinstance(rules, str):
        raise InputError("expected a list", f"{where}: rules")
    return tuple(_rule(rule, f"{where}: rules[{index}]") for index, rule in enumerate(rules))


def requestable(rules: Iterable[DeviceRule]) -> tuple[str, ...]:
    """Return the names that `--with` may have."""
    return tuple(sorted({rule.on_request for rule in rules if rule.on_request}))


def name_devices(
    devices: Iterable[PCIDevice], rules: Sequence[DeviceRule], requested: frozenset[str] = frozenset()
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


def _numa_nodes(device: PCIDevice, rule: DeviceRule) -> tuple[int, ...] | None:
    """A node of -1 is "not said": customary plugins report no topology then (rule 3.2)."""
    if not rule.topology:
        return None
    node = device.numa_node
    if node is None or node < 0:
        node = rule.unknown_node
    return None if node is None else (node,)


def _rule(data: object, where: str) -> DeviceRule:
    if not isinstance(data, Mapping):
        raise InputError("expected a mapping with resource and conditions", where)
    for key in data:
        if key not in _KEYS:
            raise InputError(f"unknown key {key!r}; the keys are {', '.join(_KEYS)}", where)
    resource = data.get("resource")
    if not isinstance(resource, str) or "/" not in resource.strip("/"):
        raise InputError('expected a name such as "nvidia.com/gpu"', f"{where}.resource")
    texts = {key: _texts(data, key, where) for key in _TEXTS}
    for function in texts["function"]:
        if function not in _FUNCTIONS:
            raise InputError(f"expected vf, pf or plain, got {function!r}", f"{where}.function")
    for key in ("rdma", "topology"):
        if not isinstance(data.get(key, False), bool):
            raise InputError("expected true or false", f"{where}.{key}")
    node = data.get("unknownNode")
    if node is not None and (not isinstance(node, int) or isinstance(node, bool) or node < 0):
        raise InputError("expected the id of a NUMA node", f"{where}.unknownNode")
    on_request = data.get("onRequest")
    if on_request is not None and not isinstance(on_request, str):
        raise InputError("expected a name", f"{where}.onRequest")
    hexadecimal = {key: tuple(text.lower().removeprefix("0x") for text in texts[key]) for key in _TEXTS[:3]}
    return DeviceRule(
        resource=resource,
        classes=hexadecimal["class"],
        vendors=hexadecimal["vendor"],
        devices=hexadecimal["device"],
        drivers=texts["driver"],
        functions=texts["function"],
        rdma=data.get("rdma", False),
        topology=data.get("topology", True),
        unknown_node=node,
        on_request=on_request,
    )


def _texts(data: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = data.get(key, ())
    values = [value] if isinstance(value, str | int) else value
    if not isinstance(values, Sequence) or not all(isinstance(one, str) for one in values):
        raise InputError('expected text or a list of texts; write PCI ids in quotes, such as "10de"', f"{where}.{key}")
    return tuple(values)
