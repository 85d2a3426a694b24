"""What each driver would publish for a machine (docs/rules/dra.md 7, D-25): one pool a driver, named like the node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from numalign.dra.drivers import DRIVERS, STANDARD_NUMA, Driver
from numalign.dra.publish import cpus
from numalign.dra.publish.devices import Made, memory_devices, plugin_devices
from numalign.dra.values import Attribute, Device, DeviceClass, Placement, Slice
from numalign.model.machine import Machine
from numalign.values import NamedTuple

DEVICES_A_SLICE: Final = 128
"""Most devices of one slice; a pool with more has several slices."""

GroupBy = cpus.GroupBy


class Options(NamedTuple):
    """How the drivers are set up."""

    node: str = ""
    """The node's name; empty: the machine's."""
    cpus: GroupBy = "numanode"
    """How `dra.cpu` groups CPUs; `cpu`: one device each."""
    reserved_cpus: int = 0
    """CPUs that `dra.cpu` keeps back."""
    standard_numa: bool = False
    """Publish `resource.kubernetes.io/numaNode` too, as drivers for 1.37 do (KEP-6072)."""


class Published(NamedTuple):
    """What the drivers of a node would publish."""

    slices: tuple[Slice, ...]
    classes: tuple[DeviceClass, ...]


def usual_drivers(machine: Machine) -> tuple[str, ...]:
    """Name the drivers that have something to publish for a machine, without the example driver unless it alone has."""
    found = [name for name, driver in DRIVERS.items() if driver.kind in ("cpu", "memory")]
    for resource in sorted(machine.devices):
        name = driver_of(resource)
        if name is not None and name not in found:
            found.append(name)
    return tuple(found)


def driver_of(resource: str) -> str | None:
    """Name the driver that takes the place of a device plugin's resource; None: none that is known."""
    for name, driver in DRIVERS.items():
        if resource in driver.resources:
            return name
    words = resource.rpartition("/")[2].replace("-", "_").lower().split("_")
    for name, driver in DRIVERS.items():
        if any(word.startswith(known) for known in driver.resources if "/" not in known for word in words):
            return name
    return None


def publish(machine: Machine, drivers: Mapping[str, tuple[str, ...]], options: Options) -> Published:
    """Give the slices and classes of some drivers on a machine.

    Args:
        machine: the machine.
        drivers: driver -> the machine's resources it is for; nothing for those that come from the machine itself.
        options: how they are set up.
    """
    node = options.node or machine.node.name or machine.name
    slices: list[Slice] = []
    for name, resources in drivers.items():
        made = _devices(machine, DRIVERS[name], resources, options)
        slices += _pool(name, node, [_with_standard(one) if options.standard_numa else one.device for one in made])
    classes = tuple(one for name in drivers for one in DRIVERS[name].classes)
    return Published(tuple(slices), classes)


def _devices(machine: Machine, driver: Driver, resources: Iterable[str], options: Options) -> list[Made]:
    if driver.kind == "cpu":
        return cpus.devices(machine, options.cpus, options.reserved_cpus)
    if driver.kind == "memory":
        return memory_devices(machine)
    return plugin_devices(machine, driver, resources)


def _with_standard(made: Made) -> Device:
    device = made.device
    if len(made.numa) != 1:
        return device
    return device._replace(attributes={**device.attributes, STANDARD_NUMA: Attribute("int", made.numa[0])})


def _pool(driver: str, node: str, devices: Sequence[Device]) -> list[Slice]:
    """Cut a pool into slices."""
    parts = [devices[start : start + DEVICES_A_SLICE] for start in range(0, len(devices), DEVICES_A_SLICE)]
    return [
        Slice(
            name=f"{node}-{driver}" + (f"-{number}" if len(parts) > 1 else ""),
            driver=driver,
            pool=node,
            generation=1,
            slice_count=len(parts),
            placement=Placement(node_name=node),
            devices=tuple(part),
        )
        for number, part in enumerate(parts)
    ]
