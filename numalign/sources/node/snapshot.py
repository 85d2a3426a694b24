"""A node in one archive: what the other commands need to answer about it elsewhere, and nothing beyond.

The readers of `--node` run over a tree that takes notes, and what they read is what the archive holds, so a snapshot
reads back to the same node by construction. It has data only: no time, no owner, no command line but the flags that are
read, no name of a program. With `--redact` names of pods, namespaces and containers are hashes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from types import ModuleType

from numalign.errors import InputError
from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.config import FIELD_NAMES
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.start.check import CADVISOR_FLAGS
from numalign.model.words import few_of
from numalign.sources.host.capture import capture
from numalign.sources.kubelet.flags import known_flags
from numalign.sources.node import containers, source
from numalign.sources.node.facts import FURTHER_FILES, NodeFacts
from numalign.sources.node.kubelet_folder import USUAL_CONFIGS, kubelet_configuration
from numalign.sources.node.observe import observe
from numalign.sources.text import mapping
from numalign.sources.tree.folder import Tree
from numalign.sources.tree.noting import NotingTree
from numalign.store.archive import Entry
from numalign.values import NamedTuple

_PLACES = ("root-dir", "config", "config-dir")
"""Flags that say where things are."""
_NAMED = re.compile(r"(?:.*/)?(?:pods|task|msi_irqs)|var/log/pods")
_STATUS = re.compile(r"^(?:Cpus|Mems)_allowed_list:.*\n", re.M)
_BUNDLE_FILES = {place.partition("{}")[0]: keys for place, keys in containers.BUNDLES}
"""Folder of a runtime's files -> the keys under which they say what a container is."""
_DROPPED = re.compile(r"proc/\d+/(?:cmdline|numa_maps|environ)|etc/hostname")

_MEASURED = re.compile(r"proc/\d+/|proc/irq/|proc/driver/nvidia/|sys/bus/pci/devices/[^/]+/(?:numa_node|msi_irqs)")
"""What of /proc and /sys is read beyond the hardware itself."""
_POD_GROUP = re.compile(r"/[^/]*pod[0-9a-f]{8}[^/]*")

Name = Callable[[str, str], str]
"""(kind, name) -> what stands in its place."""


class Snapshot(NamedTuple):
    """What an archive would hold."""

    name: str
    """The machine's name."""
    entries: dict[str, Entry]
    unreadable: tuple[str, ...]
    """What may not be read, or is not there, a phrase each."""


def take(tree: Tree, flags: Mapping[str, str] | None, version: str, answer: object, *, redact: bool) -> Snapshot:
    """Gather what a snapshot of a node holds.

    Args:
        tree: the node's root.
        flags: the command line of its kubelet, if there is one.
        version: the kubelet's version; empty: not known.
        answer: what the PodResources API answered; None: it was not asked.
        redact: replace names by hashes.

    Raises:
        HostError: not even the hardware may be read.
    """
    found, hardware = capture(tree)
    notes = NotingTree(tree, lambda folder, _name: _NAMED.fullmatch(folder) is not None, passes_over_refused=True)
    facts = source.of_host(notes, "snapshot")
    devices = _held(facts)
    measured = observe(notes, facts, devices)
    name: Name = _hashed if redact else lambda _kind, name: name
    entries: dict[str, Entry] = dict(hardware)
    for path, entry in notes.entries.items():
        kept = _kept(path, entry, facts.root.strip("/"), name, redact=redact)
        if kept is not None:
            entries.setdefault(*kept)
    told = {
        "apiVersion": "numalign/v1",
        "kind": "NodeSnapshot",
        "kubeletVersion": version,
        "kubeletFlags": _flags(flags),
        "pods": {
            uid: {"namespace": name("namespace", one.namespace), "name": name("pod", one.name)}
            for uid, one in sorted(facts.names.items())
        },
        "containers": {
            one.id: [one.uid, name("container", one.name)]
            for one in sorted(measured.groups, key=lambda one: one.id)
            if one.name and not one.sandbox
        },
        "podResources": _renamed(answer, name),
        "unreadable": sorted(f"/{path}{source.REFUSED}" for path in notes.unreadable),
    }
    entries[source.SNAPSHOT] = json.dumps(told, indent=1, sort_keys=True) + "\n"
    missing = (*_missing(facts, answer, notes.unreadable), *_refused(notes.unreadable, facts.root.strip("/")))
    return Snapshot("redacted" if redact else found.name, entries, missing)


def _missing(facts: NodeFacts, answer: object, refused: Collection[str]) -> Iterator[str]:
    """Name what a whole snapshot would have and nobody finds here."""
    cpus = f"{facts.root}/{cpu_file.FILE}"
    if facts.files.cpu is None and cpus.strip("/") not in refused:
        yield f"{cpus} is missing"
    if facts.settings is None and not any(path in refused for path in USUAL_CONFIGS):
        yield "the kubelet's configuration was not found"
    if answer is None:
        yield "the PodResources API was not read"


def _refused(paths: Collection[str], root: str) -> Iterator[str]:
    """Name what may not be read: the kubelet's own files one by one, of the many of processes and so on the first."""
    own = [path for path in paths if path.startswith((f"{root}/", "etc/", "home/"))]
    many = [f"/{path}" for path in paths if path not in own]
    yield from (f"/{path} is not readable" for path in own)
    if many:
        yield f"{few_of(many, 2)} are not readable"


def _held(facts: NodeFacts) -> list[str]:
    """List the devices that somebody holds, so that their places are read, too."""
    with suppress(CheckpointError):
        found = device_file.inspect(facts.files.devices or "")
        return [device for entry in found.entries or () for device in entry.nodes]
    return []


def _flags(flags: Mapping[str, str] | None) -> dict[str, str] | None:
    """Keep the flags that are read, and those that say where things are."""
    if flags is None:
        return None
    known, _ = known_flags(flags)
    return known | {flag: text for flag, text in flags.items() if flag in _PLACES or flag in CADVISOR_FLAGS}


def _hashed(kind: str, name: str) -> str:
    return f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:10]}" if name else ""


def _kept(path: str, entry: Entry, root: str, name: Name, *, redact: bool) -> tuple[str, Entry] | None:
    """Say what of a note goes into the archive, and where; None: nothing."""
    if not _is_wanted(path, entry):
        return None
    if path.startswith("var/log/pods/"):
        namespace, _, rest = path.removeprefix("var/log/pods/").partition("_")
        pod, _, uid = rest.partition("_")
        return f"var/log/pods/{name('namespace', namespace)}_{name('pod', pod)}_{uid}", None
    if not isinstance(entry, str):
        return path, entry
    if re.fullmatch(r"proc/\d+/task/\d+/status", path):
        return path, "".join(_STATUS.findall(entry))
    if re.fullmatch(r"proc/\d+(?:/task/\d+)?/stat", path):
        head, _, tail = entry.rpartition(")")
        program = "pause" if head.endswith("(pause") else "-"
        return path, f"{head.partition(' ')[0]} ({program}){tail}"
    for folder, keys in _BUNDLE_FILES.items():
        if path.startswith(folder):
            return path, _bundle(entry, keys, name)
    if redact:
        return _redacted(path, entry, root, name)
    return path, entry


def _is_wanted(path: str, entry: Entry) -> bool:
    """Leave out what the hardware's own capture has already, and whatever names other programs of the host."""
    if not path or path == source.SNAPSHOT or _DROPPED.fullmatch(path):
        return False
    if path.startswith("sys/fs/cgroup"):
        return entry is not None or _POD_GROUP.search(path) is not None
    return not path.startswith(("sys/", "proc/", "dev/")) or _MEASURED.match(path) is not None


def _bundle(text: str, keys: tuple[str, ...], name: Name) -> str:
    """Keep of a container's bundle who it is."""
    kept: object = {}
    with suppress(ValueError, RecursionError):
        found = mapping(json.loads(text), *keys)
        kept = {
            key: name("container", str(found[key])) if key in containers.NAMES and found[key] != "POD" else found[key]
            for key in (*containers.NAMES, *containers.KINDS)
            if found.get(key)
        }
    for key in reversed(keys):
        kept = {key: kept}
    return json.dumps(kept, sort_keys=True)


def _redacted(path: str, text: str, root: str, name: Name) -> tuple[str, Entry] | None:
    """Write a file of the kubelet with other names; a checksum that was right is right again."""
    inside = path.removeprefix(f"{root}/")
    if inside in FURTHER_FILES:
        return None
    with suppress(CheckpointError):
        for file in (cpu_file, memory_file):
            if inside == file.FILE:
                return path, _managed(file, text, name)
        if path.endswith(device_file.FILE):
            return path, _devices(text, name)
    with suppress(InputError):
        fields = kubelet_configuration(text, path) if path.endswith((".yaml", ".json", ".conf")) else None
        if fields is not None:
            kept = {key: value for key, value in fields.items() if key in FIELD_NAMES.values()}
            document = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **kept}
            return path, json.dumps(document, sort_keys=True) + "\n"
    return (path, text) if path.startswith(("sys/", "proc/")) else None


def _managed(file: ModuleType, text: str, name: Name) -> str:
    """Write the file of the CPU or the Memory Manager, whose module this is."""
    found, sums = file.inspect(text)
    entries = {uid: {name("container", one): has for one, has in held.items()} for uid, held in found.entries.items()}
    changed = found._replace(entries=entries)
    return str(file.write(file.sealed(changed) if found.checksum in sums.values() else changed))


def _devices(text: str, name: Name) -> str:
    found = device_file.inspect(text)
    entries = None
    if found.entries is not None:
        entries = tuple(
            [one._replace(container=name("container", one.container), response=()) for one in found.entries]
        )
    changed = found._replace(entries=entries)
    return device_file.write(device_file.sealed(changed) if found.checksum == device_file.checksum(found) else changed)


_KINDS = {"name": "container", "namespace": "namespace", "claim_namespace": "namespace", "claim_name": "claim"}


def _renamed(answer: object, name: Name, *, inside: str = "") -> object:
    """Give the pods of an answer other names."""
    if isinstance(answer, dict):
        return {
            key: name("pod" if inside == "pod_resources" and key == "name" else _KINDS[key], value)
            if key in _KINDS and isinstance(value, str)
            else _renamed(value, name, inside=key)
            for key, value in answer.items()
        }
    if isinstance(answer, list):
        return [_renamed(one, name, inside=inside) for one in answer]
    return answer
