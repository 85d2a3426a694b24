"""Machine files, the short form of the command line and the bundled machines: all become a `Machine`.

Sections in full are read by `machine_sections`, `regular:` by `machine_regular`; writing is `machine_dump`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.kubelet.releases.table import parse_version
from numalign.model import machine_checks
from numalign.model.machine import Machine, NodeObject
from numalign.sources.machine import bundled
from numalign.sources.machine import sections as machine_sections
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.hardware import Hardware
    from numalign.sources.text.yaml import Document

API_VERSION = "numalign/v1"
KIND = "Machine"

KEYS = (
    "apiVersion",
    "kind",
    "name",
    "regular",
    *machine_sections.HARDWARE,
    "devices",
    "preferredAllocation",
    "links",
    "totalMemory",
    "storage",
    "node",
    "kubelet",
    "kubeletVersion",
    "cgroupV1",
    "suggests",
    "hardware",
)


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
    try:
        fields.only(machine, machine_sections.HARDWARE, ("machine",))
        read = _hardware(machine, ("machine",))._replace(name="scenario")
        if devices:
            read = read._replace(devices=machine_sections.devices(devices, ("devices",), read.numa_nodes))
        if preferred:
            sets = machine_sections.preferred_allocation(preferred, ("preferredAllocation",))
            read = read._replace(preferred_allocation=sets)
    except FieldError as error:
        raise InputError(error.message, fields.dotted(error.path)) from None
    for finding in machine_checks.errors(read):
        path = finding.path if finding.path[0] == "devices" else ("machine", *finding.path)
        raise InputError(finding.message, fields.dotted(path))
    return read


def from_data(
    data: object, name: str, where: Callable[[Path], str] = fields.dotted
) -> tuple[Machine, tuple[Notice, ...]]:
    """Read a machine file that is decoded already.

    Args:
        data: the document.
        name: the machine's name if the document has none.
        where: writes a field's path for people, with file and line where there are any.

    Raises:
        InputError: it is no machine, or one that cannot be.
    """
    try:
        machine = _machine(fields.mapping(data, (), "a machine: a mapping with numaNodes or regular"), name)
    except FieldError as error:
        raise InputError(error.message, where(error.path)) from None
    for finding in machine_checks.errors(machine):
        raise InputError(finding.message, where(finding.path))
    odd = machine_checks.warnings(machine)
    return machine, tuple(Notice(finding.code, finding.message, where(finding.path)) for finding in odd)


def _machine(data: Mapping[str, object], name: str) -> Machine:
    fields.only(data, KEYS, ())
    for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if data.get(key, wanted) != wanted:
            raise FieldError((key,), f"expected {wanted}, got {fields.shown(data[key])}")
    machine = _regular(data) if "regular" in data else _hardware(data, ())
    devices = dict(machine.devices)
    own = machine_sections.devices(data.get("devices") or {}, ("devices",), machine.numa_nodes)
    for resource in own:
        if resource in devices:
            raise FieldError(("devices", resource), "regular: describes the devices of this resource already")
    devices.update(own)
    preferred = data.get("preferredAllocation") or {}
    return machine._replace(
        name=fields.name(data.get("name", name), ("name",), "the machine's name"),
        devices=devices,
        preferred_allocation=machine_sections.preferred_allocation(preferred, ("preferredAllocation",)),
        links=machine_sections.links(data.get("links") or [], ("links",), devices),
        total_memory=_bytes(data, "totalMemory"),
        storage=_bytes(data, "storage"),
        node=machine_sections.node_object(data["node"], ("node",)) if data.get("node") else NodeObject(),
        kubelet=machine_sections.raw(data.get("kubelet"), ("kubelet",)),
        kubelet_version=_version(data.get("kubeletVersion")),
        cgroup_v1=_flag(data.get("cgroupV1"), "cgroupV1"),
        suggests=machine_sections.suggests(data.get("suggests") or {}, ("suggests",)),
        hardware=_hardware_section(data.get("hardware")),
    )


def _version(value: object) -> str:
    """Read `kubeletVersion`: a text, or what YAML makes of 1.36."""
    if value is None:
        return ""
    text = str(value)
    try:
        parse_version(text, "kubeletVersion")
    except InputError as error:
        raise FieldError(("kubeletVersion",), error.message.removeprefix("kubeletVersion: ")) from None
    return text


def _flag(value: object, field: str) -> bool:
    if value is not None and not isinstance(value, bool):
        raise FieldError((field,), "expected true or false")
    return value is True


def _hardware_section(value: object) -> Hardware | None:
    if value is None:
        return None
    from numalign.sources.machine import hardware

    return hardware.read(value, ("hardware",))


def _bytes(data: Mapping[str, object], key: str) -> int | None:
    return fields.amount(data[key], (key,)) if data.get(key) is not None else None


def _hardware(data: Mapping[str, object], path: Path) -> Machine:
    if "numaNodes" not in data:
        raise FieldError((*path, "numaNodes"), "expected the list of NUMA nodes, got nothing")
    nodes = machine_sections.numa_nodes(data["numaNodes"], (*path, "numaNodes"))
    sockets, cores, caches = (data.get(key) for key in machine_sections.HARDWARE[1:])
    return Machine(
        name="",
        numa_nodes=nodes,
        sockets=machine_sections.default_sockets(nodes)
        if sockets is None
        else machine_sections.units(sockets, (*path, "sockets")),
        cores=machine_sections.default_cores(nodes)
        if cores is None
        else machine_sections.cores(cores, (*path, "cores")),
        uncore_caches=machine_sections.units(caches or (), (*path, "uncoreCaches")),
    )


def _regular(data: Mapping[str, object]) -> Machine:
    from numalign.sources.machine import regular as machine_regular

    for key in machine_sections.HARDWARE:
        if key in data:
            raise FieldError((key,), "expected either regular: or the sections in full, got both")
    regular = machine_regular.read(data["regular"], ("regular",))
    return Machine(
        name="",
        numa_nodes=regular.numa_nodes,
        sockets=regular.sockets,
        cores=regular.cores,
        uncore_caches=regular.uncore_caches,
        devices=regular.devices,
    )


def load_machine(spec: str) -> LoadedMachine:
    """Read the machine that a person named: a bundled one, a file (`-`: standard input), or the short form.

    A bare name means the bundled machine; `./NAME` is always a file.

    Raises:
        InputError: there is no such machine or file, or it is no machine.
    """
    if spec in bundled.names():
        return _load_bundled(spec)
    if spec != "-" and not _exists(spec):
        if "=" in spec:
            return _load_short(spec)
        file, at, node = spec.rpartition("@")
        if at and _exists(file):
            return _load_file(file, spec, node)
        raise InputError(f"no file and no bundled machine has this name; {bundled.nearest(spec)}", fields.shown(spec))
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
    from numalign.sources.machine import regular as machine_regular

    def where(path: Path) -> str:
        keys = ".".join(str(part) for part in (path[1:] if path[:1] == ("regular",) else path))
        return f"--machine: {keys}" if keys else "--machine"

    try:
        data = {"regular": machine_regular.parse_short(spec)}
    except FieldError as error:
        raise InputError(error.message, where(error.path)) from None
    machine, warnings = from_data(data, "short", where)
    nodes, cpus = len(machine.numa_nodes), machine.cpus.bit_count()
    name = f"{nodes}-node{'s' * (nodes != 1)}-{cpus}-cpu{'s' * (cpus != 1)}"
    return LoadedMachine(machine._replace(name=name), warnings, "short form")


def _load_file(path: str, origin: str, node: str | None = None) -> LoadedMachine:
    from numalign.sources.text.yaml import STDIN, load_documents

    name = STDIN if path == "-" else path
    stem = "machine" if path == "-" else os.path.splitext(os.path.basename(path))[0]
    data = _content(path, name)
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        from numalign.sources.machine.hwloc_xml import machine_from_xml

        machine = machine_from_xml(data, name, stem)
        findings = machine_checks.warnings(machine)
        notices = tuple(Notice(finding.code, finding.message, name) for finding in findings)
        return LoadedMachine(machine, notices, origin)
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


def _has_slices(document: Document) -> bool:
    """Tell whether a document is a ResourceSlice, or a list with one."""
    data = document.data
    listed = data.get("items") if isinstance(data, Mapping) else None
    each = listed if isinstance(listed, list) else [data]
    return any(isinstance(one, Mapping) and one.get("kind") == "ResourceSlice" for one in each) or (
        isinstance(data, Mapping) and data.get("kind") == "ResourceSliceList"
    )


def _content(path: str, name: str) -> bytes:
    from numalign.sources.text.yaml import MAX_DOCUMENT

    try:
        if path == "-":
            import sys

            return sys.stdin.buffer.read(MAX_DOCUMENT + 1)
        with open(path, "rb") as file:
            return file.read(MAX_DOCUMENT + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", name) from None
