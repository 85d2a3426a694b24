"""A node in use, from whatever tells of it: its kubelet's settings, its machine, and what its pods hold now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice, StartError
from numalign.kubelet.admission import Session
from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.releases import NEWEST, OLDEST, PUBLISHED
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.start.restore import resealed
from numalign.kubelet.start.take_over import take_over
from numalign.model.cpuset import format_set, from_ids
from numalign.model.machine import Device, Machine
from numalign.model.words import few_of
from numalign.store.reading import beginning
from numalign.tasks.node_files import checksum_ignored, misread, odd_files, what_to_do
from numalign.tasks.node_pods import occupied
from numalign.tasks.setup import LoadedSetup, load_machine, setup_on
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.node.facts import NodeFacts
    from numalign.tasks.requests import KubeletRequest, NodeRequest


class LoadedNode(NamedTuple):
    """A node in use."""

    on: LoadedSetup
    there: Session
    facts: NodeFacts | None
    """What was found of it; None: a state of our own, of which everything is known."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """What could not be known of it."""
        return self.facts.unknown if self.facts else ()


def load_node(request: NodeRequest, machine: str | None, kubelet: KubeletRequest) -> LoadedNode:
    """Read a node, with what is said by name over it.

    Args:
        request: where it is.
        machine: a machine by name, in place of the source's own.
        kubelet: settings over those that were found.

    Raises:
        InputError: the source tells of no node, or not enough of it.
        HostError: it may not be read.
        StartError: its kubelet would not come up with these files and settings.
    """
    kept = kept_node(request.source, machine, kubelet)
    if kept is not None:
        return kept
    facts = load_facts(request)
    on = node_setup(facts, machine, kubelet)
    files = facts.files
    if request.ignore_checksums:
        files, wrong = resealed(files, on.setup.kubelet.version)
        on = on._replace(notices=(*on.notices, *(checksum_ignored(one, facts.root) for one in wrong)))
    try:
        there = occupied(facts._replace(files=files), on)
    except StartError as error:
        for note in what_to_do(facts, on.setup, ignored=request.ignore_checksums):
            error.add_note(note)
        raise
    return LoadedNode(
        on._replace(notices=(*on.notices, *odd_files(facts, on.setup), *misread(facts, there))), there, facts
    )


def load_facts(request: NodeRequest) -> NodeFacts:
    """Read what a source tells of a node, and its pods where a file has them as the API server does.

    Raises:
        InputError: nothing; or the file of pods cannot be read.
        HostError: it may not be read.
    """
    from numalign.sources.node import source

    facts = source.load(request.source, request.node_name or "")
    if request.beside is None:
        return facts
    from numalign.sources.node.containers import of_statuses
    from numalign.sources.pods.beside import read_beside

    found = read_beside(request.beside, request.node_name)
    containers = {**facts.containers, **of_statuses(found.objects)}
    return facts._replace(
        pods=found.pods, coming=found.coming, containers=containers, notices=(*facts.notices, *found.notices)
    )


def kept_files(source: str, machine: str | None, kubelet: KubeletRequest) -> tuple[LoadedSetup, NodeFacts] | None:
    """Read of a state of our own what its kubelet's files would say; None: it is something else."""
    from numalign.tasks.requests import KubeletRequest

    kept = kept_node(source, None, KubeletRequest())
    if kept is None:
        return None
    from numalign.kubelet.start.restart import written
    from numalign.sources.node.facts import NodeFacts

    on, there = kept.on, kept.there
    files = written(there.node, there.state)
    facts = NodeFacts(source, files=files, pods=there.pods, in_order=True)
    return _kept_setup(on, source, machine, kubelet), facts


def _kept_setup(on: LoadedSetup, source: str, machine: str | None, kubelet: KubeletRequest) -> LoadedSetup:
    """Return a kept node's setup, with what is said by name over it."""
    if machine is None and not kubelet.settings and kubelet.config is None and kubelet.version is None:
        return on
    given = None if kubelet.config else on.setup.config
    over = kubelet if kubelet.version else kubelet._replace(version=version_text(on.setup.kubelet.version))
    base = on.setup.base
    on = setup_on(load_machine(machine).machine if machine else on.setup.machine, source, over, given)
    return on._replace(setup=on.setup._replace(base=base if given else on.setup.base))


def kept_node(source: str, machine: str | None, kubelet: KubeletRequest) -> LoadedNode | None:
    """Read a state of our own; None: it is something else."""
    try:
        if b'"kind":"NodeState"' not in beginning(source, 200).replace(b" ", b""):
            return None
    except OSError:
        return None
    from numalign.tasks.node_state import read_node

    found = read_node(source)
    if found is None:
        return None
    on, there = found
    asked = _kept_setup(on, source, machine, kubelet)
    return LoadedNode(asked, there if asked is on else take_over(asked.setup, there), None)


def node_setup(facts: NodeFacts, machine: str | None, kubelet: KubeletRequest) -> LoadedSetup:
    """Put the kubelet of a node together: its machine with the registered devices, its settings, its release.

    Raises:
        InputError: nothing tells of the machine.
        StartError: the settings cannot be read.
    """
    loaded = load_machine(machine) if machine is not None else None
    found = loaded.machine if loaded else facts.machine
    if found is None:
        raise InputError("has no hardware description; fix: add --machine", facts.origin)
    found, notices = _with_devices(found, facts, given=loaded is not None)
    given, base_known, more = _settings(facts, found, kubelet)
    version, odd = _version(facts, kubelet)
    on = setup_on(found._replace(kubelet=None), facts.origin, kubelet._replace(version=version), given)
    setup = on.setup if base_known else on.setup._replace(base="ideal")
    loaded_notices = loaded.notices if loaded else ()
    return LoadedSetup(setup, facts.origin, (*loaded_notices, *facts.notices, *notices, *more, *odd, *on.notices))


def _version(facts: NodeFacts, kubelet: KubeletRequest) -> tuple[str | None, tuple[Notice, ...]]:
    """Choose the release: the flag's, else the node's own where numalign knows it."""
    if kubelet.version or not facts.version:
        return kubelet.version, ()
    parts = facts.version.removeprefix("v").split(".")
    version = (int(parts[0]), int(parts[1])) if len(parts) > 1 and all(one.isdecimal() for one in parts[:2]) else None
    if version is not None and OLDEST <= version <= PUBLISHED:
        return version_text(version), ()
    text = f"its kubelet is {facts.version}; decided as {version_text(NEWEST)}, the newest exact release"
    return None, (Notice("node-release-unknown", text, facts.origin),)


def _settings(
    facts: NodeFacts, machine: Machine, kubelet: KubeletRequest
) -> tuple[KubeletConfig | None, bool, tuple[Notice, ...]]:
    """Return the settings that were found, whether they are the kubelet's own, and what is odd about them."""
    if kubelet.config is not None:
        return None, True, ()
    if facts.settings is None:
        text = "no kubelet configuration found: policies come from its state files and from flags"
        return _guessed(facts, machine), False, (Notice("node-settings-unknown", text, facts.origin),)
    from numalign.sources.kubelet.fields import read_fields
    from numalign.sources.kubelet.flags import apply_flags

    loaded = read_fields(facts.settings.fields, facts.settings.origin)
    return apply_flags(loaded.config, facts.settings.flags), True, loaded.warnings


def _guessed(facts: NodeFacts, machine: Machine) -> KubeletConfig:
    """Take from a node's files and answers what they tell of its settings."""
    config = KubeletConfig(eviction_hard={})
    allocatable = facts.podresources.allocatable
    if facts.files.cpu is not None:
        with suppress(CheckpointError):
            policy = cpu_file.inspect(facts.files.cpu)[0].policy
            config = config._replace(cpu_manager_policy=policy or "none")
    elif allocatable is not None and allocatable.cpus:
        reserved = machine.cpus & ~from_ids(allocatable.cpus)
        config = config._replace(
            cpu_manager_policy="static",
            reserved_system_cpus=format_set(reserved),
            system_reserved={"cpu": str(reserved.bit_count())} if reserved else {},
        )
    if facts.files.memory is not None:
        with suppress(CheckpointError):
            config = _with_memory(config, memory_file.inspect(facts.files.memory)[0])
    return config


def _with_memory(config: KubeletConfig, found: memory_file.MemoryCheckpoint) -> KubeletConfig:
    """Take from a memory file its policy, and what it says was reserved, node by node."""
    rows = []
    total = 0
    for number, node in sorted(found.nodes.items()):
        limits = {name: str(table.system_reserved) for name, table in node.tables.items() if table.system_reserved}
        total += node.tables["memory"].system_reserved if "memory" in node.tables else 0
        if limits:
            rows.append(MemoryReservation(number, limits))
    return config._replace(
        memory_manager_policy=found.policy or "None",
        reserved_memory=tuple(rows),
        kube_reserved={"memory": str(total)} if total else {},
    )


def _with_devices(machine: Machine, facts: NodeFacts, *, given: bool) -> tuple[Machine, tuple[Notice, ...]]:
    """Give the machine the devices that its kubelet's plugins registered."""
    answer = facts.podresources
    placed: dict[str, dict[str, Device]] = {
        resource: {device.id: device for device in devices} for resource, devices in machine.devices.items()
    }
    for devices in _answered(facts):
        for resource, found in devices.items():
            held = placed.setdefault(resource, {})
            for name, nodes in found.items():
                if nodes or name not in held:
                    held[name] = Device(name, nodes or None)
    known = {resource: tuple(found.values()) for resource, found in placed.items()}
    if facts.files.devices is None:
        if answer.pods is not None or answer.allocatable is not None or given:
            return machine._replace(devices=known), ()
        return machine._replace(devices={}), ()
    try:
        checkpoint = device_file.inspect(facts.files.devices)
    except CheckpointError:
        return machine._replace(devices=known), ()
    put = device_file.registered(known, checkpoint, None if answer.allocatable is None else answer.allocatable.devices)
    lost = ", ".join(f"{resource} {few_of(names, 3)}" for resource, names in put.unknown.items())
    notices = (Notice("device-nodes-unknown", f"NUMA node unknown: {lost}", facts.origin),) if lost else ()
    return machine._replace(devices=put.devices), notices


def _answered(facts: NodeFacts) -> Iterable[Mapping[str, Mapping[str, tuple[int, ...]]]]:
    """Yield the devices that the PodResources API named."""
    if facts.podresources.allocatable is not None:
        yield facts.podresources.allocatable.devices
    for pod in facts.podresources.pods or ():
        for container in pod.containers:
            yield container.devices
