"""The pools of devices that a node can use, and from which nodes slices and devices can (docs/rules/dra.md 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.dra.features import Features
from numalign.dra.values import Node, Placement, Requirement, Slice, Term
from numalign.model.gotext import ConversionError, parse_int
from numalign.values import NamedTuple


class Pool(NamedTuple):
    """The slices of one pool that belong to a node, all of the pool's newest generation."""

    driver: str
    name: str
    slices: tuple[Slice, ...]
    elsewhere: tuple[Slice, ...]
    """Slices of the same generation that belong to other nodes: their allocated devices use up counters too."""
    incomplete: bool = False
    invalid: str = ""
    """Why it cannot be used; empty if it can."""

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"

    @property
    def is_usable(self) -> bool:
        """Whether devices may be taken from it."""
        return not self.incomplete and not self.invalid


class Published(NamedTuple):
    """All slices of a cluster, sorted once for all nodes."""

    by_pool: dict[tuple[str, str], tuple[Slice, ...]]
    """(driver, pool) -> slices by name, pools in their order."""
    by_node: dict[str, frozenset[tuple[str, str]]]
    """Node -> pools with a slice of just this node."""
    anywhere: frozenset[tuple[str, str]]
    """Pools with a slice that may belong to several nodes."""


def published(slices: Iterable[Slice]) -> Published:
    """Sort slices by pool, and pools by the nodes they can belong to."""
    by_pool: dict[tuple[str, str], list[Slice]] = {}
    by_node: dict[str, set[tuple[str, str]]] = {}
    anywhere: set[tuple[str, str]] = set()
    for slice_ in slices:
        key = (slice_.driver, slice_.pool)
        by_pool.setdefault(key, []).append(slice_)
        if slice_.placement.node_name is not None and not slice_.per_device and not slice_.counters:
            by_node.setdefault(slice_.placement.node_name, set()).add(key)
        else:
            anywhere.add(key)
    ordered = {key: tuple(sorted(by_pool[key], key=lambda one: one.name)) for key in sorted(by_pool)}
    return Published(ordered, {name: frozenset(keys) for name, keys in by_node.items()}, frozenset(anywhere))


def pools_of(node: Node, cluster: Published, features: Features) -> tuple[Pool, ...]:
    """Give the pools of a node in the order in which they are tried (D-2, D-4, D-4a)."""
    keys = sorted(cluster.anywhere | cluster.by_node.get(node.name, frozenset()))
    found = [pool for key in keys if (pool := _pool(key, cluster.by_pool[key], node, features)) is not None]
    if features.binding:
        found.sort(key=_binds)
    return tuple(found)


def _binds(pool: Pool) -> bool:
    """Tell whether a device of the pool has a binding condition."""
    return any(device.binding_conditions for slice_ in pool.slices for device in slice_.devices)


def _pool(key: tuple[str, str], slices: Sequence[Slice], node: Node, features: Features) -> Pool | None:
    """Judge a pool; None if nothing of it belongs to the node, or a newer generation is on its way."""
    relevant = [one for one in slices if reaches(one, node, partitionable=features.partitionable)]
    if not relevant:
        return None
    generation = max(one.generation for one in relevant)
    current = tuple(one for one in relevant if one.generation == generation)
    elsewhere = tuple(one for one in slices if one.generation == generation and one not in current)
    wanted = current[-1].slice_count
    incomplete = False
    if len(current) != wanted:
        if features.release == "1.34":
            incomplete = True
        elif any(one.generation > generation for one in slices):
            return None
        else:
            incomplete = len(current) + len(elsewhere) != wanted
    invalid = "" if incomplete and features.release != "1.34" else _invalid(current, elsewhere, features)
    driver, name = key
    return Pool(driver=driver, name=name, slices=current, elsewhere=elsewhere, incomplete=incomplete, invalid=invalid)


def _invalid(current: tuple[Slice, ...], elsewhere: tuple[Slice, ...], features: Features) -> str:
    """Say why a pool cannot be used, or nothing."""
    names: set[str] = set()
    for slice_ in current:
        for device in slice_.devices:
            if device.name in names:
                return f"duplicate device name {device.name}"
            names.add(device.name)
    if not features.partitionable:
        return ""
    sets: dict[str, frozenset[str]] = {}
    for slice_ in (*current, *elsewhere):
        for name, counters in slice_.counters:
            if name in sets:
                return f"duplicate counter set name {name}"
            sets[name] = frozenset(counters)
    for slice_ in (*current, *elsewhere):
        for device in slice_.devices:
            for use in device.consumes:
                if use.counter_set not in sets:
                    return f"counter set {use.counter_set} not found"
                missing = [name for name in use.counters if name not in sets[use.counter_set]]
                if missing:
                    return f"counter {min(missing)} not found in counter set {use.counter_set}"
    return ""


def reaches(slice_: Slice, node: Node, *, partitionable: bool) -> bool:
    """Tell whether a slice belongs to a node. What only partitionable devices have counts only with that feature."""
    if partitionable and slice_.counters:
        return True
    if partitionable and slice_.per_device:
        return any(matches(device.placement, node) for device in slice_.devices)
    return matches(slice_.placement, node)


def matches(placement: Placement, node: Node) -> bool:
    """Tell whether a placement allows a node."""
    if placement.node_name is not None:
        return placement.node_name == node.name
    if placement.all_nodes:
        return True
    return placement.selector is not None and any(_term_holds(term, node) for term in placement.selector)


def _term_holds(term: Term, node: Node) -> bool:
    """Tell whether all of a term's conditions hold; an empty term holds for no node."""
    if not term.expressions and not term.fields:
        return False
    fields = {"metadata.name": node.name}
    return all(_holds(one, node.labels.get(one.key)) for one in term.expressions) and all(
        _holds(one, fields.get(one.key)) for one in term.fields
    )


def _holds(requirement: Requirement, value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _is_beyond(value, requirement)
    return False


def _is_beyond(value: str | None, requirement: Requirement) -> bool:
    if value is None or len(requirement.values) != 1:
        return False
    try:
        left, right = parse_int(value), parse_int(requirement.values[0])
    except ConversionError:
        return False
    return left > right if requirement.operator == "Gt" else left < right
