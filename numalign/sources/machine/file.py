"""Machine files, the short form of the command line and the bundled machines: all become a `Machine`.

The description of a file is `MACHINE`; its sections are described in `sections`, `regular:` in `regular`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from numalign.errors import InputError, Notice
from numalign.model import machine_checks
from numalign.model.cpuset import ids, union
from numalign.model.document import Form, field, fixed, maybe, raw, read, record
from numalign.model.document.values import amount, boolean, later, name
from numalign.model.machine import Device, Machine, NodeObject, NUMANode, Unit
from numalign.model.path import FieldError, Path, blaming, dotted, shown, unfit
from numalign.sources.machine import bundled
from numalign.sources.machine.devices import DEVICES, LINKS, PREFERRED, UNNAMED, UNSAID, Link
from numalign.sources.machine.sections import HARDWARE, NODE, SUGGESTS, VERSION
from numalign.sources.text import inside
from numalign.store.reading import reading
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.hardware import Hardware
    from numalign.sources.text.yaml import Document

_OWN: Final = rb"(?m)^[ \t{]*\"?(?:kind\"?:[ \t]*\"?(?:Machine|ResourceSlice|List)|apiVersion\"?:[ \t]*\"?numalign/)"
"""What no output of a tool has."""
Devices = Mapping[str, tuple[Device, ...]]
Links = Mapping[str, tuple[Link, ...]]


class LoadedMachine(NamedTuple):
    """A machine and where it came from."""

    machine: Machine
    warnings: tuple[Notice, ...]
    origin: str
    """`bundled`, `short form`, or the file's name."""


def machines_of(given: str | None) -> list[str | None]:
    """List the machines that a name stands for: the machine files of a folder, sorted, or the name itself.

    Raises:
        InputError: the folder may not be listed.
    """
    if given is None or not os.path.isdir(given):
        return [given]
    try:
        listed = os.listdir(given)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", given) from None
    files = sorted(name for name in listed if name.endswith((".yaml", ".yml", ".json")))
    return [os.path.join(given, name) for name in files] or [given]


def machine_from_scenario(
    machine: Mapping[str, object],
    devices: Mapping[str, object] | None = None,
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


def load_machine(spec: str, beside: Sequence[str] = ()) -> LoadedMachine:
    """Read the machine that a person named: a bundled one, a file (`-`: standard input), or the short form.

    A bare name means the bundled machine; `./NAME` is always a file.

    Args:
        spec: the machine.
        beside: further files with outputs of it, where `spec` is one.

    Raises:
        InputError: there is no such machine or file, or it is no machine.
    """
    if beside:
        return _load_pasted((spec, *beside))
    if spec in bundled.names():
        return _load_bundled(spec)
    if spec != "-" and not _exists(spec):
        if "=" in spec:
            return _load_short(spec)
        file, at, node = spec.rpartition("@")
        if at and _exists(file):
            return _load_file(file, spec, node)
        if "/" in spec:
            raise InputError("no such file; fix: correct the path, or use a name of numalign machines", shown(spec))
        raise InputError(f"no file and no bundled machine has this name; {bundled.nearest(spec)}", shown(spec))
    return _load_file(spec, "standard input" if spec == "-" else spec)


@cache
def _load_bundled(name: str) -> LoadedMachine:
    """Read a machine that comes with numalign, once: `explain` tries them all for each refused pod."""
    return _load_file(bundled.path(name), "bundled")


def _exists(spec: str) -> bool:
    try:
        return os.path.exists(spec)
    except ValueError:  # with a NUL: no file's name
        return False


def _load_short(spec: str) -> LoadedMachine:
    from numalign.sources.machine.regular import parse_short

    def where(path: Path) -> str:
        keys = ".".join(str(part) for part in (path[1:] if path[:1] == ("regular",) else path))
        return f"--machine: {keys}" if keys else "--machine"

    with blaming(where):
        data = {"regular": parse_short(spec)}
    machine, warnings = from_data(data, "short", where)
    nodes, cpus = len(machine.numa_nodes), machine.cpus.bit_count()
    name = f"{nodes}-node{'s' * (nodes != 1)}-{cpus}-cpu{'s' * (cpus != 1)}"
    return LoadedMachine(machine._replace(name=name), warnings, "short form")


def _load_file(path: str, origin: str, node: str | None = None) -> LoadedMachine:
    from numalign.sources.text.yaml import load_documents, shown_name

    name = shown_name(path)
    stem = "machine" if path == "-" else os.path.splitext(os.path.basename(path))[0]
    data = _content(path, name)
    pasted = None if origin == "bundled" else _pasted(data, name, stem, origin)
    if pasted is not None:
        return pasted
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        from numalign.sources.machine.hwloc_xml import machine_from_xml

        machine, hidden = machine_from_xml(data, name, stem)
        findings = machine_checks.warnings(machine)
        notices = tuple(Notice(finding.code, finding.message, name) for finding in findings)
        return LoadedMachine(machine, (*hidden, *notices), origin)
    documents = load_documents(data, name)
    if any(map(_has_slices, documents)):
        from numalign.sources.machine.slices import machine_from_slices

        machine, left_out = machine_from_slices(documents, node, name)
        return LoadedMachine(machine, tuple(left_out), f"ResourceSlices in {name}")
    if node is not None:
        raise InputError("FILE@NODE is for files with ResourceSlices of several nodes", f"{path}@{node}")
    if len(documents) != 1:
        raise InputError(f"expected one machine, got {len(documents)} documents", name)
    machine, warnings = from_data(documents[0].data, stem, documents[0].where)
    return LoadedMachine(machine, warnings, origin)


def _pasted(data: bytes, name: str, stem: str, origin: str) -> LoadedMachine | None:
    """Read what tools print of a machine; None: it is none of that."""
    if re.search(_OWN, data):
        return None
    from numalign.sources.machine.pasted.machine import machine_of, told_by

    told = told_by(data.decode("utf-8", "replace"), name)
    return None if told is None else LoadedMachine(*machine_of(told, stem), origin)


def _load_pasted(names: Sequence[str]) -> LoadedMachine:
    """Read several files with outputs of one machine.

    Raises:
        InputError: one is none.
    """
    from numalign.sources.machine.pasted.machine import told_by

    for file in names:
        if not _exists(file):
            raise InputError("no file has this name: several --machine are outputs of one machine", shown(file))
    texts = [_content(file, file) for file in names]
    for file, text in zip(names, texts, strict=True):
        if told_by(text.decode("utf-8", "replace"), file) is None:
            raise InputError("has no output of a tool: several --machine are outputs of one machine", file)
    stem = os.path.splitext(os.path.basename(names[0]))[0]
    pasted = _pasted(b"\n\n".join(texts), ", ".join(names), stem, " and ".join(names))
    if pasted is None:
        raise InputError("has no output of a tool that is known here", names[0])
    return pasted


def _has_slices(document: Document) -> bool:
    """Tell whether a document is a ResourceSlice, or a list with one."""
    items = inside(document.data, "items")
    each = items if isinstance(items, list) else [document.data]
    return inside(document.data, "kind") == "ResourceSliceList" or any(
        inside(one, "kind") == "ResourceSlice" for one in each
    )


def _content(path: str, name: str) -> bytes:
    from numalign.sources.text.yaml import MAX_DOCUMENT

    with reading(path, name) as file:
        return file.read(MAX_DOCUMENT + 1)
