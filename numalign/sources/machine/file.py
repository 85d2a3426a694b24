"""Machine files, the short form of the command line and the bundled machines: all become a `Machine`.

The description of a file is `MACHINE`; its sections are described in `sections`, `regular:` in `regular`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numalign.errors import InputError, Notice
from numalign.model import machine_checks
from numalign.model.cpuset import ids, union
from numalign.model.document import Form, field, fixed, maybe, raw, read, record
from numalign.model.document.values import amount, boolean, later, name
from numalign.model.machine import Device, Machine, NodeObject, NUMANode, Unit
from numalign.model.path import FieldError, Path, blaming, dotted, shown, unfit
from numalign.sources.machine.devices import DEVICES, LINKS, PREFERRED, UNNAMED, UNSAID, Link
from numalign.sources.machine.sections import HARDWARE, NODE, SUGGESTS, VERSION

if TYPE_CHECKING:
    from numalign.model.hardware import Hardware

OWN: Final = rb"(?m)^[ \t{]*\"?(?:kind\"?:[ \t]*\"?(?:Machine|ResourceSlice|List)|apiVersion\"?:[ \t]*\"?numalign/)"
"""What no output of a tool has."""
Devices = Mapping[str, tuple[Device, ...]]
Links = Mapping[str, tuple[Link, ...]]


def machine_from_scenario(
    machine: Mapping[str, object],
    devices: Mapping[str, object] | None,
    preferred: Mapping[str, object] | None = None,
) -> Machine:
    """Read the machine of a recorded scenario, whose devices stand beside it.

    Raises:
        InputError: it is no machine; `where` is the field's path.
    """
    with blaming():
        found = read(SCENARIO_MACHINE, machine, ("machine",))
        there = on_their_nodes(read(DEVICES, devices or {}, ("devices",)), found.numa_nodes)
        sets = read(PREFERRED, preferred or {}, ("preferredAllocation",))
    found = found._replace(name="scenario", devices=there, preferred_allocation=sets)
    for finding in machine_checks.errors(found):
        path = finding.path if finding.path[0] == "devices" else ("machine", *finding.path)
        raise InputError(finding.message, dotted(path))
    return found


def from_data(data: object, name: str, where: Callable[[Path], str] = dotted) -> tuple[Machine, tuple[Notice, ...]]:
    """Read a machine file that is decoded already.

    Args:
        data: the document.
        name: the machine's name if the document has none.
        where: writes a field's path for people, with file and line where there are any.

    Raises:
        InputError: it is no machine, or one that cannot be.
    """
    _check_kind(data, where)
    with blaming(where):
        machine = MACHINE.read(data)
        if not machine.name:
            machine = machine._replace(name=read(_NAME, name, ("name",)))
    for finding in machine_checks.errors(machine):
        raise InputError(finding.message, where(finding.path))
    odd = machine_checks.warnings(machine)
    return machine, tuple(Notice(finding.code, finding.message, where(finding.path)) for finding in odd)


def _check_kind(data: object, where: Callable[[Path], str]) -> None:
    """See that a document is a machine at all, before a single key of it is found unknown.

    Raises:
        InputError: it is of another kind, or none of its keys is one of a machine.
    """
    if not isinstance(data, Mapping) or not data:
        return
    kind, key = data.get("kind"), str(next(iter(data)))
    if isinstance(kind, str) and kind != "Machine":
        raise InputError(f"{unfit('Machine', kind).message}; {A_MACHINE}", where(("kind",)))
    if key.isprintable() and not data.keys() & MACHINE.schema["properties"].keys():
        raise InputError(f"not a key of a machine file; {A_MACHINE}", where((key,)))


A_MACHINE: Final = "fix: use a machine file, a bundled machine or hwloc XML (numalign help machines)"
"""What to do where a file is something else."""

_TOGETHER: Final = "expected either regular: or the sections in full, got both"


def _machine(
    *,
    name: str | None,
    regular: Machine | None,
    numa_nodes: tuple[NUMANode, ...] | None,
    sockets: tuple[Unit, ...] | None,
    cores: tuple[int, ...] | None,
    uncore_caches: tuple[Unit, ...],
    devices: Devices,
    links: Links,
    **rest: Any,
) -> Machine:
    """Join what the sections of a file say; a name that is not given is empty."""
    if regular is None:
        made = _in_full(numa_nodes=numa_nodes, sockets=sockets, cores=cores, uncore_caches=uncore_caches)
    else:
        made = regular
        for field_, value in zip(HARDWARE, (numa_nodes, sockets, cores, uncore_caches), strict=True):
            if value not in (None, field_.default):
                raise FieldError((field_.key,), _TOGETHER)
    for resource in devices:
        if resource in made.devices:
            text = "regular: already describes the devices of this resource; fix: remove one"
            raise FieldError(("devices", resource), text)
    there = {**made.devices, **on_their_nodes(devices, made.numa_nodes)}
    return made._replace(name=name or "", devices=there, links=_linked(links, there), **rest)


def _in_full(
    *,
    numa_nodes: tuple[NUMANode, ...] | None,
    sockets: tuple[Unit, ...] | None,
    cores: tuple[int, ...] | None,
    uncore_caches: tuple[Unit, ...],
) -> Machine:
    """Make a machine without a name of the sections in full.

    Raises:
        FieldError: there are no NUMA nodes.
    """
    if numa_nodes is None:
        raise FieldError(("numaNodes",), "expected the list of NUMA nodes, got nothing")
    if sockets is None:
        with_cpus = [node.cpus for node in numa_nodes if node.cpus]
        sockets = tuple([Unit(index, cpus) for index, cpus in enumerate(with_cpus)])
    if cores is None:
        cores = tuple([1 << cpu for cpu in ids(union([node.cpus for node in numa_nodes]))])
    return Machine("", numa_nodes, sockets, cores, uncore_caches)


def on_their_nodes(devices: Devices, nodes: Sequence[NUMANode]) -> Devices:
    """Give devices that name no NUMA node the only one there is.

    Raises:
        FieldError: there are several.
    """
    return {
        resource: tuple(
            [
                device if device.numa_nodes != UNSAID else _on_only_node(device, ("devices", resource, index), nodes)
                for index, device in enumerate(listed)
            ]
        )
        for resource, listed in devices.items()
    }


def _on_only_node(device: Device, path: Path, nodes: Sequence[NUMANode]) -> Device:
    if len(nodes) == 1:
        return device._replace(numa_nodes=(nodes[0].id,))
    raise FieldError(
        path,
        f"device {device.id} has no NUMA node, and the machine has {len(nodes)} NUMA nodes; "
        f"fix: write {{id: {device.id}, numaNode: N}}, or {{id: {device.id}, numaNodes: null}} if unknown",
    )


def _linked(links: Links, known: Devices) -> Links:
    """Hold links to the devices there are.

    Raises:
        FieldError: a resource or a device is not there, or a pair is given twice.
    """
    for resource, listed in links.items():
        if resource == UNNAMED:
            return {_owner(listed, known): _checked(listed, ("links",), known[_owner(listed, known)])} if listed else {}
        if resource not in known:
            listing = ", ".join(sorted(known)) or "the machine has none"
            raise FieldError(("links", resource), f"expected a resource with devices: {listing}")
        _checked(listed, ("links", resource), known[resource])
    return links


def _owner(listed: tuple[Link, ...], known: Devices) -> str:
    named = {end for link in listed for end in link[:2]}
    owners = [resource for resource, devices in known.items() if named <= {device.id for device in devices}]
    if len(owners) != 1:
        found = f"{len(owners)} have" if owners else "none has"
        text = f"expected ids of exactly one resource, {found} all of them; write links: {{RESOURCE: […]}}"
        raise FieldError(("links",), text)
    return owners[0]


def _checked(listed: tuple[Link, ...], path: Path, known: Sequence[Device]) -> tuple[Link, ...]:
    own = {device.id for device in known}
    seen = set()
    for index, (one, other, _) in enumerate(listed):
        here = (*path, index)
        for label in (one, other):
            if label not in own:
                raise FieldError(here, f"unknown device id {shown(label)}")
        if one == other:
            raise FieldError(here, f"expected two different devices, got {one} twice")
        if frozenset((one, other)) in seen:
            raise FieldError(here, f"duplicate link between {one} and {other}")
        seen.add(frozenset((one, other)))
    return listed


def _regular() -> Form[Machine]:
    from numalign.sources.machine.regular import REGULAR

    return REGULAR


def _hardware() -> Form[Hardware]:
    from numalign.sources.machine.hardware import HARDWARE

    return HARDWARE


_NAME: Final = name("the machine's name")
MACHINE: Final = record(
    _machine,
    fixed("apiVersion", "numalign/v1"),
    fixed("kind", "Machine"),
    field("name", _NAME, None, always=True, says="Without it the file's name."),
    field("regular", later(_regular), None),
    *HARDWARE,
    maybe("devices", DEVICES, {}),
    maybe("preferredAllocation", PREFERRED, {}, says="Resource to the device sets that its plugin prefers, in order."),
    maybe(
        "links",
        LINKS,
        {},
        says="Links between devices: by resource, or one list if its ids belong to one resource only.",
    ),
    maybe("totalMemory", amount, says="MemTotal of the machine. Left out: the sum over the NUMA nodes."),
    maybe("storage", amount, says="Size of the file system with the kubelet's root directory."),
    maybe("node", NODE, NodeObject(), says="What the Kubernetes Node object says beside the hardware."),
    maybe("kubelet", raw, says="Fields of KubeletConfiguration."),
    maybe("kubeletVersion", VERSION, "", says="The release of its kubelet, 1.36; --kubelet-version wins."),
    maybe("cgroupV1", boolean, False, says="The host runs cgroup v1; without it: v2."),
    maybe("suggests", SUGGESTS, {}, says="Policy options that help on this machine."),
    maybe(
        "hardware",
        later(_hardware),
        says="Where the hardware differs from what a kubelet believes; written by discover.",
    ),
    wanted="a machine: a mapping with numaNodes or regular",
    parts=lambda machine: {**machine._asdict(), "regular": None},
    also={
        "oneOf": [{"required": ["numaNodes"]}, {"required": ["regular"]}],
        "dependentSchemas": {"regular": {"properties": {"sockets": False, "cores": False, "uncoreCaches": False}}},
    },
)
"""A machine file; a name that is not given is empty."""
SCENARIO_MACHINE: Final = record(_in_full, *HARDWARE)
"""The machine of a recorded scenario: the hardware alone."""
