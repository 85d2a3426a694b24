"""From which nodes a slice or a device can be used (docs/rules/dra.md D-3)."""

from __future__ import annotations

from numalign.dra.values import Node, Placement, Requirement, Slice, Term


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
        left, right = int(value[:20]), int(requirement.values[0][:20])
    except ValueError:
        return False
    return left > right if requirement.operator == "Gt" else left < right
