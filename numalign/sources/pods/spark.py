"""Applications of Spark's operator -> the pods of the driver and of the executors, approximately.

Both ask for memory plus an overhead (a tenth, for Python and R four tenths, at least 384Mi), request and limit alike,
and for `cores` CPUs, with a limit only where `coreLimit` is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from numalign.model.path import child
from numalign.model.quantity import MEBI, canonical, from_int
from numalign.sources.pods.counts import count
from numalign.sources.pods.roles import Fields
from numalign.sources.pods.shapes import STEP_FIELDS, Place, Template
from numalign.sources.text import inside, listed, mapping

_GROUP: Final = "sparkoperator.k8s.io/"
_LEAST_OVERHEAD: Final = 384 * MEBI
"""The least that Spark adds to what its JVM has."""
_FACTORS: Final[Mapping[object, float]] = {"Python": 0.4, "R": 0.4}
"""Language -> the share of its memory that it adds; `_FACTOR` for the JVM's own."""
_FACTOR: Final = 0.1
_SIZES: Final = {"k": 10, "m": 20, "g": 30, "t": 40}
"""Suffix of a size as the JVM writes it -> power of two; a number alone is mebibytes."""


def templates_of(thing: Fields, kind: str, path: str) -> Iterator[Template]:
    """Yield the pods of an application; nothing for objects that are none, or that bring pod templates of their own.

    Raises:
        CountError: the number of executors is no whole number.
    """
    if _GROUP not in str(thing.get("apiVersion")):
        return
    spec, place = thing.get("spec"), child(path, "spec")
    if kind == "ScheduledSparkApplication" and isinstance(spec, Mapping):
        spec, place = spec.get("template"), child(place, "template")
    for role in ("driver", "executor"):
        part = inside(spec, role)
        if isinstance(part, Mapping) and not isinstance(part.get("template"), Mapping):
            yield _template(part, mapping(spec), role, child(place, role), kind)


def _template(part: Fields, spec: Fields, role: str, place: str, kind: str) -> Template:
    memory = _size(part.get("memory")) or 1024 * MEBI
    factor = spec.get("memoryOverheadFactor")
    share = float(str(factor)) if _is_number(factor) else _FACTORS.get(spec.get("type"), _FACTOR)
    memory += _size(part.get("memoryOverhead")) or max(int(memory * share), _LEAST_OVERHEAD)
    limits: dict[str, object] = {"memory": canonical(from_int(memory - memory % MEBI, "BinarySI"))}
    device = part.get("gpu")
    if isinstance(device, Mapping) and isinstance(device.get("name"), str):
        limits[device["name"]] = device.get("quantity", 1)
    requests = {**limits, "cpu": part.get("coreRequest", part.get("cores", 1))}
    if part.get("coreLimit") is not None:
        limits["cpu"] = part["coreLimit"]
    main = {"name": f"spark-kubernetes-{role}", "resources": {"requests": requests, "limits": limits}}
    sidecars = listed(part, "sidecars")
    fields = {field: part[field] for field in STEP_FIELDS if part.get(field) is not None}
    return Template(
        path=place,
        manifest={"spec": {"containers": [main, *sidecars], **fields}},
        role=role,
        wanted=count(part, "instances", place),
        places=(
            *(Place(f"spec.containers[{index + 1}]", f"{place}.sidecars[{index}]") for index in range(len(sidecars))),
            Place("spec.containers[0]", place, exact=False),
            Place("spec", place),
        ),
        approximation=f"{kind}: tested as the pods that Spark creates (memory with overhead, cpu limit from "
        "coreLimit alone)",
    )


def _is_number(value: object) -> bool:
    return isinstance(value, str | int | float) and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", str(value)) is not None


def _size(written: object) -> int:
    """Read a size the JVM's way (`512m`, `4g`), in bytes; what is none counts as 0."""
    match = re.fullmatch(r"([0-9]{1,9})(?:([kmgt]?)i?b?)", str(written).strip().lower())
    return int(match[1]) << _SIZES[match[2] or "m"] if match else 0
