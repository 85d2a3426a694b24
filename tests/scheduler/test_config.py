"""What is not set is as the rules say (docs/rules/scheduling.md 2.5, 3.2, 3.3, 4.2, 8)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from numalign.scheduler.config import CacheConfig, ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.kai.topology import KaiOptions

RULES = Path(__file__).parents[2] / "docs" / "rules" / "scheduling.md"
SAID: dict[str, Any] = {
    name: yaml.safe_load(text.strip("`"))
    for name, text in re.findall(r"^\| `(\w+)` \| (\S+|[^|]+?) \|", RULES.read_text(encoding="utf-8"), re.MULTILINE)
}
BY_THE_WAY = {"phase_s": "random in 0..period, seeded", "horizon_s": "end of trace + 600"}
"""What is worked out when it is not set."""


@pytest.mark.parametrize("settings", [ExporterConfig(), Timing()], ids=["exporter", "timing"])
def test_parameters_have_the_defaults_of_the_rules(settings: ExporterConfig | Timing) -> None:
    for name, value in settings._asdict().items():
        assert SAID[name] == (value if value is not None else BY_THE_WAY[name])


def test_a_scheduler_is_set_as_usual() -> None:
    assert CacheConfig() == ("passthrough", 5, "All", "Autodetect", "Dedicated", "All")
    assert KaiOptions() == ((), None, {})
    assert SchedulerConfig()._asdict() == {
        "kind": "nrt",
        "node_fit": True,
        "node_score": "LeastAllocated",
        "strategy": "LeastAllocated",
        "weights": {},
        "cache": CacheConfig(),
        "preemption_mode": "Disabled",
        "prefilter": False,
        "preempts": True,
        "seed_memory": "literal",
        "tie_break": "first",
        "node_sampling": "all",
        "seed": 0,
        "kai": KaiOptions(),
    }
