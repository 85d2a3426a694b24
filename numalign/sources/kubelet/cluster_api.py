"""Cluster API and kubeadm, and files that a node is started with: cloud-init, Ignition, Butane (clouds.md 1.11, 47)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from numalign.analysis.config.system import Fields
from numalign.analysis.config.system_bases import eks
from numalign.analysis.config.systems import AL2, FLAGS, KUBEADM, KUBELET, SOME_FLAGS
from numalign.errors import InputError, Notice
from numalign.sources.kubelet import KIND
from numalign.sources.kubelet.aws import node_config
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.kubelet.found import Found, joined, words
from numalign.sources.text import elements, inside, mapping
from numalign.sources.text.yaml import Document, load_documents

_PATHS: Final = {
    "KubeadmConfig": ("spec",),
    "KubeadmConfigTemplate": ("spec.template.spec",),
    "KubeadmControlPlane": ("spec.kubeadmConfigSpec",),
    "KubeadmControlPlaneTemplate": ("spec.template.spec.kubeadmConfigSpec",),
}
"""Kind of Cluster API -> where its settings of kubeadm stand."""


def bootstrap(document: Document) -> Iterator[Found]:
    """Read an object of Cluster API that starts nodes (35-38)."""
    data = document.data
    kind = str(data.get("kind"))
    name = str(inside(data, "metadata", "name") or "")
    version = str(inside(data, "spec", "version") or "")
    for path in _PATHS.get(kind, ()):
        yield from (one._replace(name=name, version=version) for one in _kubeadm(document, path))
    path = "spec.template.spec" if kind.endswith("Template") else "spec"
    if kind.startswith("EKSConfig"):
        flags = flags_of_words(words(inside(data, *path.split("."), "kubeletExtraArgs")))
        base = partial(eks, cgroups="reserved-cpus" not in flags)
        where = partial(_below, document, f"{path}.kubeletExtraArgs")
        yield Found({}, where, flags, system=AL2, base=base, name=name)
    elif kind.startswith("NodeadmConfig"):
        yield node_config(document, f"{path}.kubelet")._replace(name=name)


def _below(document: Document, path: str, field: str) -> str:
    return document.where(f"{path}.{field.removeprefix('--')}" if field else path)


def _kubeadm(document: Document, path: str) -> Iterator[Found]:
    """Read what kubeadm is given: arguments of the kubelet, and files with settings that count."""
    spec = mapping(document.data, *path.split("."))
    for part in (name for name in ("joinConfiguration", "initConfiguration") if name in spec):
        flags = flags_of_words(words(inside(spec, part, "nodeRegistration", "kubeletExtraArgs")))
        folder = inside(spec, part, "patches", "directory")
        where = partial(_below, document, f"{path}.{part}.nodeRegistration.kubeletExtraArgs")
        files = [
            found
            for place, one in enumerate(elements(spec, "files"))
            for found in _file(document, one, f"{path}.files[{place}]", flags, folder)
        ]
        if flags or files:
            yield joined([*files, Found({}, where, flags, system=KUBEADM)])
            return


def _file(document: Document, one: Fields, path: str, flags: Mapping[str, str], folder: object) -> Iterator[Found]:
    """Read a file with settings, where the kubelet reads it, too: by `config`, as a patch, or in `config-dir` (36)."""
    name, given = str(one.get("path")), one.get("content")
    content = _decoded(given, one.get("encoding")) if isinstance(given, str) else ""
    if KIND not in content:
        return
    parent, base = posixpath.split(name)
    patch = isinstance(folder, str) and posixpath.normpath(folder) == parent and base.startswith("kubeletconfiguration")
    if not patch and flags.get("config") != name and flags.get("config-dir", "").rstrip("/") != parent:
        text = f"{name} has a {KIND} that the kubelet does not read: no config, patch or config-dir names it"
        yield Found({}, document.where, notices=(Notice("settings-incomplete", text, document.where(path)),))
        return
    yield from configuration_in(content, document, f"{path}.content")


def _decoded(content: str, encoding: object) -> str:
    """Decode the content of a file."""
    import base64
    import gzip
    import zlib

    try:
        data = base64.b64decode(content, validate=False) if "base64" in str(encoding) else content.encode()
        return (gzip.decompress(data) if "gzip" in str(encoding) else data).decode("utf-8", "replace")
    except (ValueError, OSError, EOFError, zlib.error):
        return ""


def configuration_in(text: str, document: Document, path: str) -> Iterator[Found]:
    """Read the KubeletConfigurations of a text that stands somewhere in a document."""
    try:
        inner = load_documents(text, document.name, last=True)
    except InputError:
        return
    for one in inner:
        if isinstance(one.data, Mapping) and one.data.get("kind") == KIND:
            known = {name: value for name, value in one.data.items() if name not in ("apiVersion", "kind")}
            yield Found(known, lambda _: document.where(path), complete=True)


# Files of machines


def machine_files(document: Document) -> Iterator[Found]:
    """Read Butane, Ignition, or a MachineConfig: settings in files, and command lines in units (47)."""
    data = document.data
    root = "spec.config." if data.get("kind") == "MachineConfig" else ""
    keys = root.rstrip(".").split(".") if root else []
    configurations: list[Found] = []
    for place, one in enumerate(elements(data, *keys, "storage", "files")):
        path = f"{root}storage.files[{place}].contents"
        configurations += configuration_in(_contents(mapping(one, "contents")), document, path)
    for place, unit in enumerate(elements(data, *keys, "systemd", "units")):
        text = unit.get("contents")
        found = command_line(text, document.where(f"{root}systemd.units[{place}].contents")) if text else None
        if found is not None:
            whole = joined([configurations[0], found]) if configurations and "config" in found.flags else found
            yield whole._replace(system=KUBELET) if configurations else whole
            return
    yield from configurations


def _contents(contents: Fields) -> str:
    """Return the text of a file: inline, or a data URL."""
    from urllib.parse import unquote

    inline = contents.get("inline")
    if isinstance(inline, str):
        return inline
    match = re.fullmatch(r"data:([^,]*),(.*)", str(contents.get("source") or ""), re.S)
    if match is None:
        return ""
    encoding = ("base64" if match[1].endswith("base64") else "") + str(contents.get("compression") or "")
    return _decoded(unquote(match[2]), encoding)


_KUBELET: Final = re.compile(r"(?:^|[\s=\"'/])(?:kubelet|hyperkube)(?=[\s\"'\\]|$)", re.M)
"""A kubelet's program on a command line."""


def command_line(text: object, where: str) -> Found | None:
    """Read a text with flags of a kubelet: a whole command line, or a part of one; None: there are none."""
    from numalign.sources.kubelet.command_line import flags_of_text

    flags = flags_of_text(text) if isinstance(text, str) else None
    if not flags or not isinstance(text, str):
        return None
    program = _KUBELET.search(text)
    whole = program is not None and "--" in text[program.end() :]
    system = FLAGS if whole and not {"config", "config-dir"} & flags.keys() else SOME_FLAGS
    return Found({}, lambda field: f"{where}: {field}", flags, system=system)
