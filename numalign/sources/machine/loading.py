"""A machine by its name: a bundled one, a file, a short form, or pasted outputs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.model import machine_checks
from numalign.model.machine import Machine
from numalign.model.path import Path, blaming, shown
from numalign.sources.machine import bundled
from numalign.sources.machine.file import OWN, from_data
from numalign.sources.text import inside
from numalign.store.reading import reading
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.text.yaml import Document


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
    """Read a machine that comes with numalign, once: `explain` tries many for each refused pod."""
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
    if re.search(OWN, data):
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
