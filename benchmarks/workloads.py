"""The recorded workloads beside this module (README.md says what they are)."""

from __future__ import annotations

import gzip
import json
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "workloads.jsonl.gz"

Workload = dict[str, Any]


def load(family: str) -> list[Workload]:
    """Return the lines of one family, `merge` or `e2e`."""
    with gzip.open(FILE) as lines:
        return [line for line in map(json.loads, lines) if line["family"] == family]


def varied(workload: Workload, seed: int) -> Workload:
    """Return an end-to-end line with other limits for CPU and memory; who is admitted may differ."""
    chance = random.Random(seed)
    other = deepcopy(workload)
    other["id"] += f"-varied-{seed}"
    del other["expectAdmit"]
    for step in other["steps"]:
        if step["op"] == "admit":
            for container in step["pod"]["spec"]["containers"]:
                limits = container.get("resources", {}).get("limits", {})
                if "cpu" in limits:
                    limits["cpu"] = str(chance.choice((1, 2, 3, 4, 6, 8, 12, 16)))
                if "memory" in limits:
                    limits["memory"] = f"{chance.choice((1, 2, 4, 8))}Gi"
    return other
