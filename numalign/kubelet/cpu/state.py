"""The state of the CPU Manager: shared pool, assignments, CPUs of init containers up for reuse.

docs/rules/cpu-manager.md 4, 9 and 10. States do not change; each function returns the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from numalign.errors import StartError
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.demand import ContainerDemand
from numalign.model.cpuset import CPUSet, format_set
from numalign.values import NamedTuple

_NO_CONTAINERS: Mapping[str, int] = {}


class CPUState(NamedTuple):
    """Who holds which CPUs."""

    default: CPUSet
    """The shared pool; reserved CPUs belong to it unless `strict-cpu-reservation` is on."""
    assignments: Mapping[str, Mapping[str, int]] = {}
    """Pod uid -> container name -> exclusive CPUs."""
    reuse_uid: str = ""
    """The pod whose init containers' CPUs are offered again. There is only one: 9.2 drops all others."""
    reuse: CPUSet = 0
    pods: Mapping[str, int] = {}
    """Pod uid -> the CPUs that are the pod's as a whole; its containers' sets are parts of them."""

    def assigned(self, uid: str, container: str) -> CPUSet | None:
        """Return a container's exclusive CPUs; None: it has no assignment."""
        return self.assignments.get(uid, _NO_CONTAINERS).get(container)

    def reusable(self, uid: str) -> CPUSet:
        """Return the reuse set of a pod (9.1)."""
        return self.reuse if uid == self.reuse_uid else 0


def handed_out_twice(state: CPUState) -> CPUSet:
    """Return CPUs that two pods hold, or one holds while they count as free (8.11: cores of unequal size)."""
    held, twice = state.default, 0
    for containers in state.assignments.values():
        own = reduce(or_, containers.values(), 0)
        twice |= held & own
        held |= own
    return twice


def initial_state(manager: CPUManager) -> CPUState:
    """Return the state of a first start (4.5 step 1)."""
    return CPUState(manager.all_cpus)


def validate(manager: CPUManager, state: CPUState) -> CPUState:
    """Check a restored state at start and return the one to go on with (4.5).

    The text is the policy's own; the kubelet prints it after `start cpu manager error: `
    (docs/rules/kubelet-files.md 56 row 10).

    Raises:
        StartError: the state does not go with the machine or the reservation.
    """
    if not manager.static:
        return state
    default, reserved = state.default, manager.reserved
    # 1. An empty default set is a new state, unless somebody holds CPUs.
    if not default:
        if state.assignments:
            raise StartError("default cpuset cannot be empty")
        return initial_state(manager)
    # 2. Reserved CPUs: none of them in the pool under strict-cpu-reservation, otherwise all of them.
    if manager.options.strict_cpu_reservation:
        if default & reserved:
            raise StartError(
                f'some of strictly reserved cpus: "{format_set(default & reserved)}" are present in '
                f'defaultCpuSet: "{format_set(default)}"'
            )
    elif reserved & ~default:
        raise StartError(
            f'not all reserved cpus: "{format_set(reserved)}" are present in defaultCpuSet: "{format_set(default)}"'
        )
    # 3. No assignment overlaps the pool. The kubelet reports any culprit; here it is the first by uid and name.
    union = default
    for uid, containers in sorted(state.assignments.items()):
        for name, cpus in sorted(containers.items()):
            union |= cpus
            if cpus & default:
                raise StartError(
                    f'pod: {uid}, container: {name} cpuset: "{format_set(cpus)}" overlaps with default cpuset '
                    f'"{format_set(default)}"'
                )
    # 4. Nothing is missing and nothing is new; what a pod holds as a whole counts, whatever its containers have of it.
    for cpus in state.pods.values():
        union |= cpus
    if union != manager.all_cpus:
        raise StartError(
            f'current set of available CPUs "{format_set(manager.all_cpus)}" doesn\'t match with CPUs in state '
            f'"{format_set(union)}"'
        )
    return state


def assign(state: CPUState, uid: str, container: ContainerDemand, cpus: CPUSet) -> CPUState:
    """Store an allocation: out of the shared pool, into the assignments, and the reuse set follows (7.6)."""
    containers = {**state.assignments.get(uid, _NO_CONTAINERS), container.name: cpus}
    return CPUState(
        state.default & ~cpus,
        {**state.assignments, uid: containers},
        uid,
        _update_reusable(state, uid, container, cpus),
        state.pods,
    )


def keep(state: CPUState, uid: str, container: ContainerDemand, cpus: CPUSet) -> CPUState:
    """Go on with an assignment that is already there: only the reuse set follows (7.4)."""
    return state._replace(reuse_uid=uid, reuse=_update_reusable(state, uid, container, cpus))


def _update_reusable(state: CPUState, uid: str, container: ContainerDemand, cpus: CPUSet) -> CPUSet:
    """Init containers offer their CPUs to later containers; sidecars and app containers keep theirs (9.2)."""
    reuse = state.reusable(uid)
    return reuse | cpus if container.kind == "init" else reuse & ~cpus


def remove(state: CPUState, uid: str, container: str) -> CPUState:
    """Remove one container; CPUs that other containers of the pod hold stay out of the pool (10.1)."""
    cpus = state.assigned(uid, container)
    if cpus is None:
        return state
    others = {name: held for name, held in state.assignments[uid].items() if name != container}
    for held in others.values():
        cpus &= ~held
    assignments = dict(state.assignments)
    if others:
        assignments[uid] = others
    else:
        del assignments[uid]
    return state._replace(default=state.default | cpus, assignments=assignments)


def remove_pod(state: CPUState, uid: str) -> CPUState:
    """Remove all containers of a pod; without an assignment nothing changes.

    CPUs of the pod as a whole come back as such, whatever its containers hold (docs/rules/kubelet-versions.md 6.9).
    """
    if uid not in state.assignments:
        return state
    assignments = dict(state.assignments)
    containers = assignments.pop(uid)
    if uid in state.pods:
        pods = {other: cpus for other, cpus in state.pods.items() if other != uid}
        return state._replace(default=state.default | state.pods[uid], assignments=assignments, pods=pods)
    default = state.default
    for cpus in containers.values():
        default |= cpus
    return CPUState(default, assignments, state.reuse_uid, state.reuse, state.pods)
