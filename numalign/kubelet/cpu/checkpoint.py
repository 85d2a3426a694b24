"""`cpu_manager_state`: its forms, its checksum, and what a kubelet of a release makes of it at its start.

docs/rules/kubelet-files.md 2, 5 and 28b. Values and texts only; where the file comes from is `sources.node`' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from numalign.kubelet.checkpoint_forms import SINCE_DATA, Form, StateFile
from numalign.kubelet.checkpoint_shape import CHECKSUM, TEXT, CheckpointError, Field, Record, Shape, Value
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState, initial_state, validate
from numalign.model import cpuset
from numalign.model.gotext import quote
from numalign.values import NamedTuple

FILE: Final = "cpu_manager_state"
"""Its path below the kubelet's root directory."""

_NAME: Final = "state.CPUManagerCheckpoint"
_OF_CONTAINERS: Final = Shape("map[string]string", "map", TEXT)
_OF_PODS: Final = Shape("map[string]map[string]string", "map", _OF_CONTAINERS)
_POD_ENTRY: Final = Shape(
    "state.PodCPUAssignment", "record", fields=(Field("CPUSet", "cpuSet", Shape("cpuset.CPUSet", "cpus")),)
)
_POD_ENTRIES: Final = Shape("state.PodCPUAssignments", "map", _POD_ENTRY)


def _shape(entries: Shape, *more: Field) -> Shape:
    return Shape(
        _NAME,
        "record",
        fields=(
            Field("PolicyName", "policyName", TEXT),
            Field("DefaultCPUSet", "defaultCpuSet", TEXT),
            Field("Entries", "entries", entries, omitted=True, made=True),
            *more,
            Field("Checksum", "checksum", CHECKSUM),
        ),
    )


_SHAPES: Final[Mapping[Form, Shape]] = {
    "current": _shape(_OF_PODS),
    "first generation": _shape(_OF_CONTAINERS),
    "with podEntries": _shape(_OF_PODS, Field("PodEntries", "podEntries", _POD_ENTRIES, omitted=True, made=True)),
}


class CPUCheckpoint(NamedTuple):
    """The content of a `cpu_manager_state`. CPU lists are texts, as in the file."""

    form: Form
    policy: str
    default: str
    entries: Mapping[str, Mapping[str, str]] = {}
    """Pod UID -> container name -> CPUs; of the first generation empty."""
    containers: Mapping[str, str] = {}
    """First generation only: container id -> CPUs. Whose containers they are only the runtime knows."""
    pod_entries: Mapping[str, int] = {}
    """Pod UID -> CPUs of the pod as a whole."""
    checksum: int = 0
    """As in the file."""


def read_cpu_checkpoint(text: str, release: tuple[int, int], *, pod_entries: bool = False) -> CPUCheckpoint:
    """Read the file as a kubelet does at its start (rules 11, 28b).

    Args:
        text: the file.
        release: which kubelet, as (major, minor).
        pod_entries: gate `PodLevelResourceManagers` is on; only from 1.36.

    Raises:
        CheckpointError: that kubelet does not take the file; the cause in its words, without what stands around it.
    """
    tried = _order(release, pod_entries=pod_entries)
    return _FILE.read(text, release, tried, unchecked=("first generation", "current"), keys=release >= (1, 36))


def _order(release: tuple[int, int], *, pod_entries: bool) -> tuple[tuple[Form, str], ...]:
    """The forms in the order in which they are tried, with the names of the records."""
    first: tuple[Form, str] = ("first generation", f"{_NAME}V1")
    if release < (1, 36):
        return first, ("current", _NAME)
    newest: tuple[tuple[Form, str], ...] = (("with podEntries", _NAME),) if pod_entries else ()
    current: tuple[Form, str] = ("current", f"{_NAME}V2")
    if release >= SINCE_DATA:
        return ("with podEntries", f"{_NAME}V3"), current
    return (*newest, current, first)


def _checkpoint(data: Record, form: Form) -> CPUCheckpoint:
    entries = data["entries"] or {}
    old = form == "first generation"
    return CPUCheckpoint(
        form=form,
        policy=data["policyName"],
        default=data["defaultCpuSet"],
        entries={} if old else {uid: containers or {} for uid, containers in entries.items()},
        containers=entries if old else {},
        pod_entries={uid: entry["cpuSet"] for uid, entry in (data.get("podEntries") or {}).items()},
        checksum=data["checksum"],
    )


def _plain(checkpoint: CPUCheckpoint) -> dict[str, Value]:
    old = checkpoint.form == "first generation"
    return {
        "policyName": checkpoint.policy,
        "defaultCpuSet": checkpoint.default,
        "entries": checkpoint.containers if old else checkpoint.entries,
        "podEntries": {uid: {"cpuSet": cpus} for uid, cpus in checkpoint.pod_entries.items()},
        "checksum": checkpoint.checksum,
    }


_FILE: Final = StateFile(_SHAPES, _checkpoint, _plain)
inspect, write, sealed = lru_cache(maxsize=2)(_FILE.inspect), _FILE.write, _FILE.sealed
"""As of `StateFile`."""


def restore(
    manager: CPUManager, checkpoint: CPUCheckpoint, containers: Mapping[str, tuple[str, str]] | None = None
) -> CPUState:
    """Take a checkpoint over as the kubelet does at its start (docs/rules/cpu-manager.md 4.3, 4.5).

    Args:
        manager: the started manager.
        checkpoint: what was read.
        containers: container id -> (pod UID, container name), as far as known; for the first generation.

    Raises:
        CheckpointError: the file does not go with the configuration.
        StartError: its content does not go with the machine or the reservation (the policy's own text).
    """
    entries = _migrated(checkpoint, containers or {})
    if manager.policy != checkpoint.policy:
        raise CheckpointError(
            f"configured policy {quote(manager.policy)} differs from state checkpoint policy {quote(checkpoint.policy)}"
        )
    try:
        default = cpuset.parse(checkpoint.default)
    except cpuset.CPUSetError as error:
        raise CheckpointError(f"could not parse default cpu set {quote(checkpoint.default)}: {error}") from None
    assignments = {
        uid: {name: _cpus(text, uid, name) for name, text in held.items()} for uid, held in sorted(entries.items())
    }
    if not manager.static:
        return initial_state(manager)
    held = {uid: of_pod for uid, of_pod in assignments.items() if of_pod}
    return validate(manager, CPUState(default, held, pods=checkpoint.pod_entries))


def _migrated(checkpoint: CPUCheckpoint, known: Mapping[str, tuple[str, str]]) -> Mapping[str, Mapping[str, str]]:
    """Turn container ids into pods and containers (rule 10)."""
    if not checkpoint.containers:
        return checkpoint.entries
    entries: dict[str, dict[str, str]] = {}
    for identity, cpus in checkpoint.containers.items():
        if identity not in known:
            raise CheckpointError(
                "error migrating v1 checkpoint state to v2 checkpoint state: "
                f"containerID '{identity}' not found in initial containers list"
            )
        uid, name = known[identity]
        entries.setdefault(uid, {})[name] = cpus
    return entries


def _cpus(text: str, uid: str, name: str) -> int:
    try:
        return cpuset.parse(text)
    except cpuset.CPUSetError as error:
        raise CheckpointError(
            f"could not parse cpuset {quote(text)} for container {quote(name)} in pod {quote(uid)}: {error}"
        ) from None
