"""Cluster files: groups of nodes, each a machine with a kubelet and an exporter (docs/rules/scheduling.md 6.1)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from numalign.analysis.config.check import doubt
from numalign.analysis.config.system import Facts, Ground
from numalign.errors import InputError, Notice, NumalignError
from numalign.kubelet.config import FIELD_NAMES, IDEAL
from numalign.kubelet.setup import Setup
from numalign.model.document import Data, as_dict, field, fixed, maybe, raw, record
from numalign.model.document.values import integer, list_of, text
from numalign.model.path import FieldError, Path, blaming, dotted, shown
from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.resources import Amounts
from numalign.sources.cluster.fleet import Built
from numalign.sources.cluster.kubelets import Identity, Kubelets, Requests, empty_node, setup_of
from numalign.sources.cluster.settings import AMOUNTS, EXPORTER, SCHEDULER, TEXTS, TIMING
from numalign.sources.kubelet import configuration
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import LoadedMachine, load_machine
from numalign.sources.text import elements
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

_HEAD: Final = {"apiVersion": "numalign/v1", "kind": "Cluster"}
"""How a cluster file may begin."""
MAX_NODES: Final = 100_000
"""Nodes of a cluster, all groups together."""


class Group(NamedTuple):
    """A group of nodes that are alike."""

    name: str
    """With `{i}` where the number goes."""
    number: int
    setup: Setup
    allocatable: Amounts
    """What the file says in place of what the kubelet would report."""
    labels: Mapping[str, str]
    """Those of the machine's `node:` section, and the group's own over them."""
    exporter: ExporterConfig
    notices: tuple[Notice, ...]

    @property
    def names(self) -> Iterator[str]:
        """Name the nodes, from 0 on."""
        return (self.name.replace("{i}", str(number)) for number in range(self.number))


def is_cluster_file(data: object) -> bool:
    """Tell whether a document looks like a cluster file."""
    if not isinstance(data, Mapping):
        return False
    return _HEAD.items() <= data.items() or ("nodes" in data and "kind" not in data)


def referred(document: Document) -> Iterator[str]:
    """Name the files that a cluster file may take machines and kubelets from, be they there or not."""
    folder = os.path.dirname(document.name)
    for group in elements(document.data, "nodes"):
        for name in (group.get("machine"), group.get("kubeletConfig")):
            if isinstance(name, str):
                yield from (os.path.join(folder, name), name)


class _Folder(NamedTuple):
    """Where a cluster file lies: what it names is there, or below it."""

    path: str
    outside: bool
    """Whether it may also lie elsewhere."""

    def file(self, name: str, path: Path) -> str:
        """Find a file by the name that stands at a path; links are followed.

        Raises:
            FieldError: it is not there, or leads out of the folder.
        """
        found = os.path.join(self.path or os.curdir, name) if name == "-" else os.path.join(self.path, name)
        try:
            if self.outside and not os.path.exists(found):
                return name
            real, folder = os.path.realpath(found), os.path.realpath(self.path or ".")
        except ValueError:
            raise FieldError(path, f"no file can have the name {shown(name)}") from None
        if not self.outside and not real.startswith(os.path.join(folder, "")):
            raise FieldError(path, f"{shown(name)} is outside the folder of the cluster file; fix: add --allow-outside")
        return found


def read_cluster(document: Document, *, outside: bool = False) -> Built:
    """Read a cluster file and open its nodes, all of them empty.

    Args:
        document: the file.
        outside: whether it may name files outside of its folder.

    Raises:
        InputError: a key is unknown, a value wrong, a machine missing, or a name there twice.
        StartError: the kubelet of a group would not start.
    """
    with blaming(document.where):
        return _read(document, _Folder(os.path.dirname(document.name), outside))


def _read(document: Document, folder: _Folder) -> Built:
    data = CLUSTER.read(document.data)
    groups = [_group(one, ("nodes", place), folder) for place, one in enumerate(data["nodes"])]
    nodes = list(_nodes(groups))
    fleet = Fleet(tuple(nodes), data["scheduler"]._replace(seed=data["seed"]), data["timing"])
    return Built(fleet, tuple(notice for group in groups for notice in group.notices))


def _nodes(groups: list[Group]) -> Iterator[ClusterNode]:
    """Open the nodes of all groups."""
    kubelets, requests = Kubelets(), Requests()
    seen: set[str] = set()
    for place, group in enumerate(groups):
        if len(seen) + group.number > MAX_NODES:
            raise FieldError(("nodes", place, "count"), f"expected at most {MAX_NODES} nodes in all")
        for name in group.names:
            if name in seen:
                hint = "" if "{i}" in group.name else "; fix: write {i} where the number goes"
                raise FieldError(("nodes", place, "name"), f'duplicate node "{name}"{hint}')
            seen.add(name)
            identity = Identity(name, group.labels, group.setup.machine.node.taints)
            session = kubelets.open(place, group.setup, identity)
            yield empty_node(session, identity, requests, group.allocatable)._replace(exporter=group.exporter)


def _group(data: Data, path: Path, folder: _Folder) -> Group:
    loaded = _machine(data["machine"], (*path, "machine"), folder, data["name"])
    setup, notices = _setup(loaded, data["kubelet"], data["config"], path, folder)
    return Group(
        name=data["name"],
        number=data["count"],
        setup=setup,
        allocatable=data["allocatable"],
        labels={**(loaded.machine.node.labels or {}), **data["labels"]},
        exporter=data["exporter"],
        notices=(*loaded.warnings, *notices),
    )


def _machine(spec: str, path: Path, folder: _Folder, group: str) -> LoadedMachine:
    """Read the machine of a group: a file beside the cluster file, a bundled machine, or a short form."""
    there = os.path.lexists(os.path.join(folder.path, spec))
    named = not there and (spec in bundled.names() or "=" in spec)
    file = spec if named and not (folder.outside and os.path.exists(spec)) else folder.file(spec, path)
    if not (named or "@" in file or os.path.exists(file)):
        text = f"no file and no bundled machine {shown(spec)}; {bundled.nearest(spec)}"
        raise FieldError(path, f"nodes {group}: {text}")
    try:
        return load_machine(file)
    except NumalignError as error:
        raise FieldError(path, f"nodes {group}: {error if named else _unquoted(error, file, 'machine')}") from None


def _unquoted(error: NumalignError, file: str, what: str) -> str:
    """Say where a file cannot be read, and no word of it: whoever named it may not be who may read it."""
    line = re.match(r":[0-9]+", error.where.removeprefix(file))
    return f"{file}{line[0] if line else ''}: not a valid {what}; hint: --{what.replace(' ', '-')} {file} shows why"


def _setup(
    loaded: LoadedMachine, flags: Mapping[str, object], file: str | None, path: Path, folder: _Folder
) -> tuple[Setup, tuple[Notice, ...]]:
    """Put the kubelet's settings together: `kubeletConfig` or the machine's own section, and flags over them."""
    machine = loaded.machine
    config, ideal = IDEAL, True
    notices: tuple[Notice, ...] = ()
    ground: Ground | None = None
    if file is not None:
        here = (*path, "kubeletConfig")
        file = folder.file(file, here)
        try:
            facts = Facts(machine.cpus.bit_count(), machine.total_memory or machine.memory)
            config, notices, _, ground, _ = configuration.load(file, facts=facts)
            ground = ground.beside(flags) if ground else None
            notices += tuple(ground.notices(file)) if ground else ()
        except InputError as error:
            raise FieldError(here, _unquoted(error, file, "kubelet config")) from None
        ideal = False
    elif machine.kubelet is not None:
        config, notices, *_ = read_fields(machine.kubelet, f"{machine.name}: kubelet")
        ideal = False
    if flags:
        given, more, *_ = read_fields(flags, dotted((*path, "kubelet")))
        changed = {name: getattr(given, name) for name, field in FIELD_NAMES.items() if flags.get(field) is not None}
        config, notices = config._replace(**changed), (*notices, *more)
    setup = setup_of(machine, config, "ideal" if ideal else "kubelet")
    if text := doubt(setup, ground):
        raise FieldError((*path, "kubeletConfig"), text)
    return setup, notices


_GROUP: Final = record(
    as_dict,
    field("name", text("the name of the nodes"), says="With {i} where the number goes."),
    field("count", integer(1, MAX_NODES), 1),
    field("machine", text("a machine file"), says="A file, a bundled machine, or a short form."),
    maybe("kubelet", raw, {}, says="Fields of KubeletConfiguration, over those of kubeletConfig or of the machine."),
    maybe("kubeletConfig", text("a file"), to="config", says="A file with a KubeletConfiguration."),
    maybe("allocatable", AMOUNTS, {}, says="In place of what the kubelet would report."),
    maybe("labels", TEXTS, {}),
    maybe("exporter", EXPORTER, ExporterConfig()),
)
CLUSTER: Final = record(
    as_dict,
    *(fixed(key, word) for key, word in _HEAD.items()),
    fixed("version", 1),
    field("nodes", list_of(_GROUP, "the list of node groups")),
    maybe("scheduler", SCHEDULER, SchedulerConfig()),
    maybe("timing", TIMING, Timing()),
    field("seed", integer(0, 2**63 - 1), 0),
    wanted="a cluster: a mapping with nodes",
)
"""A cluster file."""
