"""How many pods of a template an object asks for: the count beside it, as its kind means it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from numalign.model.apiserver.types import unexpanded
from numalign.model.path import child, shown
from numalign.sources.pods.roles import Fields, Step, is_role
from numalign.sources.text import inside, listed, mapping

_COUNTS: Final = ("replicas", "numReplicas", "parallelism", "count", "numOfHosts", "instances")
"""Fields that count pods; where several stand on the way to a template they are multiplied."""
_GROUPS: Final = "leaderWorkerTemplate"


class CountError(Exception):
    """A count is no whole number."""

    def __init__(self, path: str, value: object) -> None:
        super().__init__(path)
        self.path = path
        self.message = f"expected a whole number, zero or more, got {shown(value)}{unexpanded(value)}"


def wanted_pods(thing: Fields, kind: str, path: str, steps: Sequence[Step]) -> int:
    """Work out how many pods of a template an object asks for at a time.

    Args:
        thing: the object.
        kind: what it is.
        path: where it stands in its document.
        steps: the way from the object to the template.

    Raises:
        CountError: a count on the way is no whole number.
    """
    if kind in ("DaemonSet", "PodTemplate"):
        return 1
    way = _way(thing, path, steps)
    for index, step in enumerate(steps):
        if step.key == _GROUPS:
            return _in_groups(step.value, *way[index], steps) * _slices(thing, path)
    wanted = 1
    for index in range(len(steps) - 1, -1, -1):
        if is_role(steps, index):
            break
        wanted *= _counted(*way[index])
    return wanted * _BY_KIND[kind](thing, path, steps) if kind in _BY_KIND else wanted


def _way(thing: Fields, path: str, steps: Sequence[Step]) -> list[tuple[object, str]]:
    """List what holds each step, outermost first, with its place."""
    way: list[tuple[object, str]] = [(thing, path)]
    for step in steps:
        way.append((step.value, child(way[-1][1], step.key)))
    return way


def _counted(holder: object, place: str) -> int:
    """Multiply what a mapping counts; a Job makes no more pods at a time than it completes."""
    if not isinstance(holder, Mapping):
        return 1
    wanted = 1
    for field in _COUNTS:
        if not isinstance(holder.get(field), Mapping | list):
            wanted *= count(holder, field, place)
    if holder.get("completions") is not None and holder.get("parallelism") is not None:
        wanted = min(wanted, count(holder, "completions", place))
    return wanted


def _in_groups(template: Fields, holder: object, place: str, steps: Sequence[Step]) -> int:
    """Count in groups of a leader and its workers: `replicas` groups of `size` pods."""
    groups = count(holder, "replicas", place) if isinstance(holder, Mapping) else 1
    size = count(template, "size", child(place, _GROUPS))
    if template.get("leaderTemplate") is None:
        return groups * size
    return groups if any(step.key == "leaderTemplate" for step in steps) else groups * max(0, size - 1)


def _slices(thing: Fields, path: str) -> int:
    """Return the copies of a whole DisaggregatedSet; 1 for other kinds of groups."""
    return count(thing["spec"], "slices", child(path, "spec")) if isinstance(thing.get("spec"), Mapping) else 1


def count(fields: Fields, field: str, place: str) -> int:
    """Read a count; one that is missing, or null, is 1.

    Raises:
        CountError: it is no whole number.
    """
    value = fields.get(field)
    if value is None:
        return 1
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CountError(child(place, field), value)
    return value


def _sets_of_cliques(thing: Fields, path: str, steps: Sequence[Step]) -> int:
    """Multiply by the sets of a PodCliqueSet, and by the copies of the scaling group that the clique belongs to."""
    spec, place = thing["spec"], child(path, "spec")
    wanted = count(spec, "replicas", place)
    clique = next((step.value.get("name") for step in steps if isinstance(step.key, int)), None)
    for number, group in enumerate(listed(spec, "template", "podCliqueScalingGroups")):
        if clique in (inside(group, "cliqueNames") or ()):
            wanted *= count(mapping(group), "replicas", f"{place}.template.podCliqueScalingGroups[{number}]")
    return wanted


def _nodes_of_a_component(_: Fields, path: str, steps: Sequence[Step]) -> int:
    """Multiply by the nodes of a component of a DynamoGraphDeployment."""
    component: Fields = next((step.value for step in steps if isinstance(step.key, int)), {})
    return nodes_of(component, f"{path}.spec.components")


def nodes_of(component: Fields, place: str) -> int:
    """Return on how many nodes one copy of a component of Dynamo runs."""
    several = component.get("multinode")
    return count(several, "nodeCount", f"{place}.multinode") if isinstance(several, Mapping) else 1


def _nodes_of_a_runtime(thing: Fields, path: str, steps: Sequence[Step]) -> int:
    """Multiply by the nodes of a training runtime, for the job that trains."""
    policy = thing["spec"].get("mlPolicy")
    jobs = [step.value for step in steps if isinstance(step.key, int)]
    trains = bool(jobs) and str(jobs[0].get("name")).endswith("node")
    return count(policy, "numNodes", f"{path}.spec.mlPolicy") if isinstance(policy, Mapping) and trains else 1


_BY_KIND: Final[Mapping[str, Callable[[Fields, str, Sequence[Step]], int]]] = {
    "DynamoGraphDeployment": _nodes_of_a_component,
    "PodCliqueSet": _sets_of_cliques,
    "TrainingRuntime": _nodes_of_a_runtime,
    "ClusterTrainingRuntime": _nodes_of_a_runtime,
}
"""What a kind multiplies beside the counts on the way to the template."""
