"""`kubelet_internal_checkpoint` of the Device Manager: its forms, its checksum, and who holds which devices.

docs/rules/kubelet-files.md 4 and 5. A damaged one never stops the kubelet: it goes on without any record (22).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from numalign.kubelet import checkpoint_shape as shapes
from numalign.kubelet.checkpoint_shape import CHECKSUM, TEXT, CheckpointError, Field, Record, Shape, Value
from numalign.kubelet.device.state import DeviceManager, DeviceState
from numalign.model.machine import Device
from numalign.values import NamedTuple

FILE: Final = "device-plugins/kubelet_internal_checkpoint"
"""Its path below the kubelet's root directory."""

NO_NODE: Final = -1
"""The key of devices without NUMA information (18)."""

_IDS: Final = Shape("[]string", "list", TEXT)


def _data_shape(devices: Shape) -> Shape:
    entry = Shape(
        "checkpoint.PodDevicesEntry",
        "record",
        fields=(
            Field("PodUID", "PodUID", TEXT),
            Field("ContainerName", "ContainerName", TEXT),
            Field("ResourceName", "ResourceName", TEXT),
            Field("DeviceIDs", "DeviceIDs", devices),
            Field("AllocResp", "AllocResp", Shape("[]uint8", "bytes")),
        ),
    )
    return Shape(
        "checkpoint.checkpointData",
        "record",
        fields=(
            Field(
                "PodDeviceEntries", "PodDeviceEntries", Shape("[]checkpoint.PodDevicesEntry", "list", entry), made=True
            ),
            Field("RegisteredDevices", "RegisteredDevices", Shape("map[string][]string", "map", _IDS), made=True),
        ),
    )


def _file_shape(data: Shape) -> Shape:
    return Shape(
        "checkpoint.Data", "record", fields=(Field("Data", "Data", data), Field("Checksum", "Checksum", CHECKSUM))
    )


_DATA: Final = _data_shape(Shape("checkpoint.DevicesPerNUMA", "map", _IDS, numbered=True))
_OLD_DATA: Final = _data_shape(_IDS)
_FILE: Final = _file_shape(_DATA)
_OLD_FILE: Final = _file_shape(_OLD_DATA)


class DeviceEntry(NamedTuple):
    """What one container holds of one resource."""

    uid: str
    container: str
    resource: str
    devices: Mapping[int, tuple[str, ...]] | None
    """NUMA node, or `NO_NODE` -> device ids; a device of several nodes stands under each. None: see `unplaced`."""
    unplaced: tuple[str, ...] = ()
    """Device ids of the format before 1.20, which says nothing of nodes (23)."""
    response: tuple[int, ...] | None = ()
    """The plugin's answer, as bytes."""

    @property
    def nodes(self) -> Mapping[str, tuple[int, ...] | None]:
        """Device id -> its NUMA nodes, ascending; () for none, None where the file does not say."""
        if self.devices is None:
            return dict.fromkeys(self.unplaced)
        found: dict[str, tuple[int, ...]] = {}
        for node in sorted(self.devices):
            for device in self.devices[node]:
                found[device] = (*found.get(device, ()), *((node,) if node != NO_NODE else ()))
        return found


class DeviceCheckpoint(NamedTuple):
    """The content of the file."""

    entries: tuple[DeviceEntry, ...] | None
    registered: Mapping[str, tuple[str, ...]]
    """Resource -> ids of its healthy devices."""
    checksum: int = 0
    """As in the file."""
    old: bool = False
    """The format before 1.20."""


def inspect(text: str) -> DeviceCheckpoint:
    """Read the file as a tool does, in the old format too, whatever the checksum.

    Raises:
        CheckpointError: neither format fits; the text is the kubelet's complaint.
    """
    try:
        return _checkpoint(shapes.read_shape(text, _FILE))
    except CheckpointError as error:
        try:
            return _checkpoint(shapes.read_shape(text, _OLD_FILE))._replace(old=True)
        except CheckpointError:
            raise error from None


def checksum(checkpoint: DeviceCheckpoint) -> int:
    """Compute the right checksum of a content (26)."""
    shape = _OLD_DATA if checkpoint.old else _DATA
    text = f"({shape.go}){shapes.dump(_plain(checkpoint)['Data'], shape)}"
    return shapes.fnv1a(text.encode("utf-8", "surrogatepass"))


def write(checkpoint: DeviceCheckpoint) -> str:
    """Write the file as the kubelet does, with the checksum that the value has."""
    return shapes.write(_plain(checkpoint), _OLD_FILE if checkpoint.old else _FILE)


def sealed(checkpoint: DeviceCheckpoint) -> DeviceCheckpoint:
    """Return the same content with its right checksum."""
    return checkpoint._replace(checksum=checksum(checkpoint))


def _checkpoint(data: Record) -> DeviceCheckpoint:
    entries = data["Data"]["PodDeviceEntries"]
    registered = data["Data"]["RegisteredDevices"]
    return DeviceCheckpoint(
        None if entries is None else tuple([_entry(one) for one in entries]),
        {resource: tuple(devices or ()) for resource, devices in (registered or {}).items()},
        data["Checksum"],
    )


def _entry(data: Record) -> DeviceEntry:
    devices = data["DeviceIDs"]
    placed = devices is None or isinstance(devices, dict)
    response = data["AllocResp"]
    return DeviceEntry(
        uid=data["PodUID"],
        container=data["ContainerName"],
        resource=data["ResourceName"],
        devices={node: tuple(found or ()) for node, found in (devices or {}).items()} if placed else None,
        unplaced=() if placed else tuple(devices),
        response=None if response is None else tuple(response),
    )


def _plain(checkpoint: DeviceCheckpoint) -> dict[str, Value]:
    entries = checkpoint.entries
    return {
        "Data": {
            "PodDeviceEntries": None
            if entries is None
            else [
                {
                    "PodUID": one.uid,
                    "ContainerName": one.container,
                    "ResourceName": one.resource,
                    "DeviceIDs": one.unplaced if one.devices is None else one.devices,
                    "AllocResp": one.response,
                }
                for one in entries
            ],
            "RegisteredDevices": checkpoint.registered,
        },
        "Checksum": checkpoint.checksum,
    }


class Registered(NamedTuple):
    """The devices of a node, put together from what is known of them."""

    devices: Mapping[str, tuple[Device, ...]]
    """Resource -> its devices."""
    unknown: Mapping[str, tuple[str, ...]]
    """Resource -> ids of devices whose NUMA nodes nobody tells; they count as devices without any."""
    gone: tuple[str, ...]
    """Resources of the machine that no plugin has registered on this node."""


def registered(
    known: Mapping[str, Iterable[Device]],
    checkpoint: DeviceCheckpoint,
    allocatable: Mapping[str, Collection[str]] | None = None,
) -> Registered:
    """Put a node's devices together: the file says which there are, who is healthy and where those in use are (19).

    Args:
        known: what a machine description or the PodResources API says; it wins about NUMA nodes.
        checkpoint: the file, which is not rewritten when a plugin stops.
        allocatable: resource -> the healthy devices, as the PodResources API has them (62); None: it was not asked.
    """
    places = {resource: {device.id: device for device in devices} for resource, devices in known.items()}
    held: dict[str, dict[str, tuple[int, ...] | None]] = {}
    for entry in checkpoint.entries or ():
        held.setdefault(entry.resource, {}).update(entry.nodes)
    devices: dict[str, tuple[Device, ...]] = {}
    unknown: dict[str, tuple[str, ...]] = {}
    for resource in sorted({*checkpoint.registered, *held}):
        healthy = frozenset((checkpoint.registered if allocatable is None else allocatable).get(resource, ()))
        found, in_use = places.get(resource, {}), held.get(resource, {})
        lost = []
        row = []
        for name in dict.fromkeys((*found, *checkpoint.registered.get(resource, ()), *in_use)):
            nodes = found[name].numa_nodes if name in found else in_use.get(name) or None
            if name not in found and in_use.get(name) is None:
                lost.append(name)
            row.append(Device(name, nodes, name in healthy))
        devices[resource] = tuple(row)
        if lost:
            unknown[resource] = tuple(lost)
    return Registered(devices, unknown, tuple(sorted(set(known) - set(devices))))


def restore(manager: DeviceManager, entries: Iterable[DeviceEntry]) -> DeviceState:
    """Take the records of a checkpoint over (docs/rules/device-manager.md 7.2).

    A device that the machine does not have cannot be held here: whoever builds the machine puts it there first.
    """
    holdings: dict[str, dict[str, dict[str, int]]] = {}
    allocated: dict[str, int] = {}
    for entry in entries:
        resource = manager.resources.get(entry.resource)
        if resource is None:
            continue
        held = entry.nodes
        members = sum(1 << place for place, device in enumerate(resource.devices) if device.id in held)
        if not members:
            continue
        of_container = holdings.setdefault(entry.uid, {}).setdefault(entry.container, {})
        of_container[entry.resource] = of_container.get(entry.resource, 0) | members
        allocated[entry.resource] = allocated.get(entry.resource, 0) | members
    return DeviceState(holdings, allocated)
