"""Of several problems of an object the first is told: fields are read in the order in which these objects have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from numalign.dra.reading import read_claim, read_class, read_node, read_slice, read_taint_rule
from numalign.errors import InputError

TAINT = {"key": "k", "value": "v", "effect": "e"}
CONDITION = {"key": "k", "operator": "In", "values": ["v"]}
COUNTERS = {"counters": {"c": {"value": "1"}}}
PLACE = {
    "nodeName": "n",
    "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [CONDITION], "matchFields": [CONDITION]}]},
    "allNodes": True,
}
POLICY = {"default": "1", "validValues": ["1"], "validRange": {"min": "1", "max": "1", "step": "1"}}
DEVICE = {
    "name": "d",
    "attributes": {"a": {"int": 1}},
    "capacity": {"c": {"value": "1", "requestPolicy": POLICY}},
    "consumesCounters": [{"counterSet": "s", **COUNTERS}],
    "taints": [TAINT],
    "allowMultipleAllocations": True,
    **PLACE,
    "bindingConditions": ["b"],
    "bindingFailureConditions": ["b"],
    "bindsToNode": True,
}
SLICE = {
    "driver": "d",
    "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
    **PLACE,
    "perDeviceNodeSelection": True,
    "devices": [DEVICE],
    "sharedCounters": [{"name": "s", **COUNTERS}],
}
SELECTORS = [{"cel": {"expression": "true"}}]
CONFIG = [{"requests": ["r"]}]
CLASS = {"selectors": SELECTORS, "config": CONFIG, "extendedResourceName": "e"}
FORM = {
    "deviceClassName": "c",
    "selectors": SELECTORS,
    "allocationMode": "All",
    "count": 1,
    "adminAccess": True,
    "tolerations": [{"key": "k", "operator": "Exists", "value": "v", "effect": "e"}],
    "capacity": {"requests": {"c": "1"}},
}
CLAIM = {
    "requests": [{"name": "r", "exactly": FORM, "firstAvailable": [{"name": "f", **FORM}]}],
    "constraints": [{"requests": ["r"], "matchAttribute": "m", "distinctAttribute": "d"}],
    "config": CONFIG,
}
TAKEN = {
    "driver": "d",
    "pool": "p",
    "device": "d",
    "request": "r",
    "adminAccess": True,
    "shareID": "s",
    "consumedCapacity": {"c": "1"},
}
METADATA = {"metadata": {"name": "n"}}
BASIC = {"name": "d", "basic": {field: value for field, value in DEVICE.items() if field != "name"}}
OBJECTS: list[tuple[Callable[[Any], object], Mapping[str, Any]]] = [
    (read_slice, {**METADATA, "spec": SLICE}),
    (
        lambda data: read_slice({"apiVersion": "resource.k8s.io/v1beta1", **data}),
        {**METADATA, "spec": {**SLICE, "devices": [BASIC]}},
    ),
    (read_class, {**METADATA, "spec": CLASS}),
    (
        read_claim,
        {
            "metadata": {"name": "c", "namespace": "n"},
            "spec": {"devices": CLAIM},
            "status": {"allocation": {"devices": {"results": [TAKEN], "config": CONFIG}}},
        },
    ),
    (
        read_node,
        {"metadata": {"name": "n", "labels": {"l": "v"}}, "status": {"nodeInfo": {"kubeletVersion": "v1.36.0"}}},
    ),
    (
        read_taint_rule,
        {"spec": {"deviceSelector": {"driver": "d", "pool": "p", "device": "d"}, "taint": TAINT}},
    ),
]


@pytest.mark.parametrize(
    ("read", "right"), OBJECTS, ids=["slice", "slice of v1beta1", "class", "claim", "node", "taint rule"]
)
def test_the_first_problem_is_told(read: Callable[[Any], object], right: Mapping[str, Any]) -> None:
    """Everything is wrong at first; what is told is put right until nothing is."""
    given = spoiled(right)
    for field in fields(right):
        with pytest.raises(InputError) as caught:
            read(given)
        assert caught.value.where == field
        mend(given, right, field)
    read(given)


def spoiled(right: Any) -> Any:
    """Put a list in place of each value."""
    if isinstance(right, Mapping):
        return {key: spoiled(value) for key, value in right.items()}
    return [spoiled(value) for value in right] if isinstance(right, list) else []


def fields(right: Any, path: str = "") -> Iterator[str]:
    """Yield the place of each value."""
    if isinstance(right, Mapping):
        for key, value in right.items():
            yield from fields(value, f"{path}.{key}" if path else key)
    elif isinstance(right, list):
        for number, value in enumerate(right):
            yield from fields(value, f"{path}[{number}]")
    else:
        yield path


def mend(given: Any, right: Any, field: str) -> None:
    """Put the right value into its place."""
    *way, last = (int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", field))
    for step in way:
        given, right = given[step], right[step]
    given[last] = right[last]
