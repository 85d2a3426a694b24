"""Family `cpuset`: reading CPU lists."""

from __future__ import annotations

from typing import Any

from numalign.model import cpuset

LISTED = 256
"""Sets up to this size were recorded with the list of their members."""


def decide(case: dict[str, Any]) -> dict[str, Any]:
    try:
        ranges = cpuset.ranges(case["s"])
    except cpuset.CPUSetError as error:
        return {"error": str(error)}
    size = sum(high - low + 1 for low, high in ranges)
    if all(high <= cpuset.MAX_ID for _, high in ranges):
        normalized = cpuset.format_set(cpuset.parse(case["s"]))
    else:
        normalized = ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)
    answer: dict[str, Any] = {"normalized": normalized, "size": size}
    if size <= LISTED:
        answer["list"] = [member for low, high in ranges for member in range(low, high + 1)]
    return answer
