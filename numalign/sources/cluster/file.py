"""Cluster files: groups of nodes, each a machine with a kubelet and an exporter (docs/rules/scheduling.md 6.1)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

from numalign.errors import InputError, Notice, NumalignError
from numalign.kubelet.config import FIELD_NAMES, IDEAL
from numalign.kubelet.setup import Setup
from numalign.model.apiserver import amounts
from numalign.model.quantity import QuantityError
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.resources import Amounts
from numalign.scheduler.timing import ExporterConfig
from numalign.sources.cluster import settings
from numalign.sources.cluster.fleet import Built
from numalign.sources.cluster.kubelets import (
    Identity,
    Kubelets,
    Requests,
    allocatable_of,
    always,
    unjudged_of,
    with_allocatable,
)
from numalign.sources.kubelet import configuration
from numalign.sources.machine.file import LoadedMachine, load_machine
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

KEYS: Final = ("version", "nodes", "scheduler", "timing", "seed")
_GROUP: Final = ("name", "count", "machine", "kubelet", "kubeletConfig", "allocatable", "labels", "exporter")
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
    exporter: ExporterConfig
    notices: tuple[Notice, ...]

    @property
    def names(self) -> Iterator[str]:
        """Name the nodes, from 0 on."""
        return (self.name.replace("{i}", str(number)) for number in range(self.number))


def is_cluster_file(data: object) -> bool:
    """Tell whether a document looks like a cluster file."""
    return isinstance(data, Mapping) and "nodes" in data and "kind" not in data


def referred(document: Document) -> Iterator[str]:
    """Name the files that a cluster file may take machines and kubelets from, be they there or not."""
    groups = document.data.get("nodes") if isinstance(document.data, Mapping) else None
    folder = os.path.dirname(document.name)
    for group in groups if isinstance(groups, list) else ():
        named = [group.get(key) for key in ("machine", "kubeletConfig")] if isinstance(group, Mapping) else ()
        for name in named:
            if isinstance(name, str):
                yield from (os.path.join(folder, name), name)


def read(document: Document) -> Built:
    """Read a cluster file and open its nodes, all of them empty.

    Raises:
        InputError: a key is unknown, a value wrong, a machine missing, or a name there twice.
        StartError: the kubelet of a group would not start.
    """
    try:
        return _read(document)
    except FieldError as error:
        raise InputError(error.message, document.where(error.path)) from None


def _read(document: Document) -> Built:
    data = fields.mapping(document.data, (), "a cluster: a mapping with nodes")
    fields.only(data, KEYS, ())
    if data.get("version", 1) != 1:
        raise FieldError(("version",), f"expected 1, got {fields.shown(data['version'])}")
    seed = fields.integer(data.get("seed", 0), ("seed",), 0, 2**63 - 1)
    folder = os.path.dirname(document.name)
    groups = []
    for place, one in enumerate(fields.sequence(data["nodes"], ("nodes",), "the list of node groups")):
        path = ("nodes", place)
        groups.append(_group(fields.mapping(one, path), path, folder))
    nodes = list(_nodes(groups))
    fleet = Fleet(
        tuple(nodes),
        settings.scheduler(data.get("scheduler"), ("scheduler",), seed),
        settings.timing(data.get("timing"), ("timing",)),
    )
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
                hint = "" if "{i}" in group.name else "; write {i} where the number goes"
                raise FieldError(("nodes", place, "name"), f'two nodes are called "{name}"{hint}')
            seen.add(name)
            session = kubelets.open(place, always(group.setup), Identity(name, group.labels))
            total = {**allocatable_of(session.view), **group.allocatable}
            session = with_allocatable(session, total) if group.allocatable else session
            yield ClusterNode(
                name=name,
                totals=requests.totals(total, (), unjudged_of(session)),
                session=session,
                known="exact",
                labels=group.labels,
                exporter=group.exporter,
            )


def _group(data: Mapping[str, object], path: Path, folder: str) -> Group:
    fields.only(data, _GROUP, path)
    name = fields.text(data.get("name"), (*path, "name"), "the name of the nodes")
    loaded = _machine(data.get("machine"), (*path, "machine"), folder, name)
    setup, notices = _setup(loaded, data, path, folder)
    try:
        written = fields.mapping(data.get("allocatable") or {}, (*path, "allocatable"))
        total = {resource: quantity.nano for resource, quantity in amounts(written).items()}
    except (TypeError, QuantityError) as error:
        raise FieldError((*path, "allocatable"), f"expected quantities: {error}") from None
    return Group(
        name=name,
        number=fields.integer(data.get("count", 1), (*path, "count"), 1, MAX_NODES),
        setup=setup,
        allocatable=total,
        labels=settings.text_map(data.get("labels"), (*path, "labels")),
        exporter=settings.exporter(data.get("exporter"), (*path, "exporter")),
        notices=(*loaded.warnings, *notices),
    )


def _machine(value: object, path: Path, folder: str, group: str) -> LoadedMachine:
    """Read the machine of a group: a file beside the cluster file, a bundled machine, or a short form."""
    spec = fields.text(value, path, "a machine file")
    beside = os.path.join(folder, spec)
    try:
        return load_machine(beside if os.path.isfile(beside) else spec)
    except NumalignError as error:
        raise FieldError(path, f"nodes {group}: {error}") from None


def _setup(
    loaded: LoadedMachine, data: Mapping[str, object], path: Path, folder: str
) -> tuple[Setup, tuple[Notice, ...]]:
    """Put the kubelet's settings together: `kubeletConfig` or the machine's own section, and flags over them."""
    machine = loaded.machine
    config, ideal = IDEAL, True
    notices: tuple[Notice, ...] = ()
    if data.get("kubeletConfig") is not None:
        file = os.path.join(folder, fields.text(data["kubeletConfig"], (*path, "kubeletConfig"), "a file"))
        config, notices = configuration.load(file)
        ideal = False
    elif machine.kubelet is not None:
        config, notices = configuration.from_data(machine.kubelet, f"{machine.name}: kubelet")
        ideal = False
    flags = fields.mapping(data.get("kubelet") or {}, (*path, "kubelet"))
    if flags:
        given, more = configuration.from_data(flags, fields.dotted((*path, "kubelet")))
        changed = {name: getattr(given, name) for name, field in FIELD_NAMES.items() if flags.get(field) is not None}
        config, notices = config._replace(**changed), (*notices, *more)
    return Setup(machine, config, "ideal" if ideal else "kubelet"), notices
