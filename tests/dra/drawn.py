"""Published devices, classes and claims by chance, of which each number gives the same ones on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from numalign.dra.features import GATES, RELEASES, Features, features
from tests.dice import Dice
from tests.dra.objects import NUMA, claim, device, device_class, resource_slice

DRIVERS = ("gpu.example.com", "nic.example.com", "gpu.nvidia.com")
ROOT = "resource.kubernetes.io/pcieRoot"
PLACES = (NUMA, ROOT, "gpu.example.com/numa", "gpu.example.com/place", "resource.example/x")
SELECTORS = (
    "device.allowMultipleAllocations",
    "device.driver == 'gpu.example.com'",
    "device.attributes['gpu.example.com'][?'place'].orValue('b') == 'a'",
    f"device.attributes['{NUMA.partition('/')[0]}'].numaNode == 0",
    "device.capacity['gpu.example.com'].m.compareTo(quantity('8')) >= 0",
    "device.attributes['gpu.example.com'].place == 'a'",
    "device.driver ==",
)
LABELS = {"zone": "a", "size": "3"}


def dice(number: int, what: str = "") -> Dice:
    """Give dice that roll alike for a number."""
    return Dice(Random(f"{what}{number}").randbytes(3000))


def seldom(one: Dice) -> bool:
    """Say yes once in six times."""
    return one.below(6) == 5


def rarely(one: Dice) -> bool:
    """Say yes once in thirty times."""
    return one.below(30) == 29


def using(one: Dice) -> Features:
    """Choose a release, and gates that are turned."""
    turned = {gate: not rarely(one) for gate in GATES} if not seldom(one) else {}
    found = features(one.pick(RELEASES), turned)
    return found._replace(list_constraints=found.lists and one.flag())


def filled(**fields: Any) -> dict[str, Any]:
    """Leave out what is nothing."""
    return {key: value for key, value in fields.items() if value}


def policy(one: Dice) -> dict[str, Any]:
    kind = one.below(5)
    if kind == 0:
        return {"default": "2", "validValues": ["2", "4", "6"]}
    if kind == 1:
        return {"validRange": {"min": "1", "max": "9", "step": "3"}}
    if kind == 2:
        return {"default": "1500m", "validRange": {"min": "500m", "step": "500m", "max": "7500m"}}
    return {"validRange": {"min": "2"}} if kind == 3 else {}


def published_device(one: Dice, name: str) -> dict[str, Any]:
    """Make a device, with some of what a device may have."""
    attributes: dict[str, object] = {}
    for place in PLACES:
        if not rarely(one):
            attributes[place] = one.pick(("a", "b")) if place in (ROOT, "gpu.example.com/place") else one.below(2)
    made = device(name, **attributes)
    if rarely(one):
        made["attributes"]["resource.example/x"] = {"ints": one.pick(([0], [0, 1], [1, 2]))}
    if one.flag():
        rules = policy(one) if one.flag() else {}
        made["capacity"] = {"m": {"value": one.pick(("10", "8", "7500m")), **filled(requestPolicy=rules)}}
        made["allowMultipleAllocations"] = one.flag()
    if seldom(one):
        made["taints"] = [
            {"key": one.pick("xy"), "value": "v", "effect": one.pick(("NoSchedule", "NoExecute", "None"))}
            for _ in range(one.between(1, 2))
        ]
    if seldom(one):
        made["consumesCounters"] = [{"counterSet": "s", "counters": {"c": {"value": str(one.between(1, 4))}}}]
    if seldom(one):
        made |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"], "bindsToNode": one.flag()}
    return made


def placement(one: Dice) -> dict[str, Any]:
    kind = one.below(6)
    if kind == 4:
        return {"nodeName": None, "allNodes": True}
    if kind == 5:
        asked = [
            {"key": "zone", "operator": "In", "values": ["a", "b"]},
            {"key": "size", "operator": one.pick(("Gt", "Lt")), "values": ["2"]},
            {"key": "none", "operator": one.pick(("NotIn", "Exists", "DoesNotExist")), "values": ["a"]},
        ]
        return {
            "nodeName": None,
            "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": asked[: one.between(1, 3)]}]},
        }
    return {}


def slices(one: Dice) -> list[dict[str, Any]]:
    """Make slices of some drivers, now and then of an older generation, of another node, or with a part missing."""
    found = []
    for driver in DRIVERS[: one.pick((1, 2, 2, 3))]:
        count = one.pick((1, 1, 2))
        for part in range(count):
            devices = [published_device(one, f"d{part}{place}") for place in range(one.between(2, 4))]
            made = resource_slice(driver, devices, **placement(one))
            made["metadata"]["name"] = f"{driver}-{part}"
            pool = {"generation": 1 + rarely(one), "resourceSliceCount": count + rarely(one)}
            made["spec"]["pool"] |= pool
            if seldom(one):
                made["spec"]["nodeName"] = "node-2"
            found.append(made)
        if any("consumesCounters" in each for made in found for each in made["spec"]["devices"]) and not seldom(one):
            counters = {"c": {"value": str(one.between(3, 6))}}
            found[-1]["spec"]["sharedCounters"] = [{"name": "s", "counters": counters}]
    return found


def classes(one: Dice) -> list[dict[str, Any]]:
    """Make a class for each driver, with parameters now and then."""
    found = [device_class(name) for name in ("gpu", "nic", "all")]
    found[2]["spec"] = {}
    for made in found:
        if seldom(one):
            made["spec"]["config"] = [{"opaque": {"driver": "d", "parameters": {"of": made["metadata"]["name"]}}}]
    return found


def form(one: Dice, name: str) -> dict[str, Any]:
    """Make a request, or an alternative of one."""
    made: dict[str, Any] = {"deviceClassName": "gpus" if rarely(one) else one.pick(("gpu", "nic", "all", "all"))}
    if seldom(one):
        made["allocationMode"] = "All"
    else:
        made["count"] = one.pick((1, 1, 1, 1, 2, 3))
    if seldom(one):
        made["selectors"] = [
            {"cel": {"expression": one.pick(SELECTORS[: 3 + 4 * rarely(one)])}} for _ in range(one.between(1, 2))
        ]
    if seldom(one):
        made["adminAccess"] = True
    if seldom(one):
        made["capacity"] = {"requests": {"n" if rarely(one) else "m": one.pick(("1", "2", "3", "5", "6250m", "12"))}}
    if seldom(one):
        operator = one.pick(("Exists", "Equal"))
        made["tolerations"] = [filled(key=one.pick("xy"), operator=operator, value="v" * (operator == "Equal"))]
    return made | ({"name": name} if name else {})


def request(one: Dice, name: str) -> dict[str, Any]:
    if one.below(4) == 3:
        return {"name": name, "firstAvailable": [form(one, f"f{place}") for place in range(one.between(1, 3))]}
    return {"name": name, "exactly": form(one, "")}


def wanted(one: Dice, name: str) -> dict[str, Any]:
    """Make a claim."""
    names = [f"r{place}" for place in range(one.pick((1, 1, 2, 3)))]
    made = claim(name, *(request(one, each) for each in names))
    some = [*names, *(f"{each}/f{place}" for each in names for place in range(2))]
    spec = made["spec"]["devices"]
    if one.flag():
        kinds = ("matchAttribute", "matchAttribute", "distinctAttribute")
        spec["constraints"] = [
            {one.pick(kinds): one.pick(PLACES), **filled(requests=names_of(one, some))}
            for _ in range(one.between(1, 2))
        ]
    if seldom(one):
        spec["config"] = [
            {"opaque": {"driver": "d", "parameters": {"of": "claim"}}, **filled(requests=names_of(one, some))}
        ]
    return made


def names_of(one: Dice, some: Sequence[str]) -> list[str]:
    return one.shuffled(some)[: one.between(1, 3)] if one.flag() else []


def held(one: Dice, published: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Make the claim of another pod, which holds some of the devices."""
    results = []
    for made in published:
        for each in made["spec"]["devices"]:
            if seldom(one):
                taken = {"request": "r", "driver": made["spec"]["driver"], "pool": "node-1", "device": each["name"]}
                if each.get("allowMultipleAllocations"):
                    taken |= {"shareID": "s", "consumedCapacity": {"m": one.pick(("2", "4"))}}
                results.append({**taken, **filled(adminAccess=seldom(one))})
    return {**claim("other"), "status": {"allocation": {"devices": {"results": results}}}}
