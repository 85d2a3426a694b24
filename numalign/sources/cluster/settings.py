"""The scheduler, the timing and the exporters of a cluster file (docs/rules/scheduling.md 3.2, 3.3, 4.2, 6.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from numalign.scheduler.attempt import SchedulerConfig
from numalign.scheduler.cache import CacheConfig
from numalign.scheduler.kai.topology import KaiOptions
from numalign.scheduler.timing import ExporterConfig, Timing
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path

KINDS: Final = ("unaware", "kep", "nrt", "kai")
STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes")
_SCHEDULER: Final = (
    "kind",
    "scoring",
    "cache",
    "tie_break",
    "node_sampling",
    "seed_memory",
    "preemptionMode",
    "prefilter",
    "node_scoring",
    "kai",
)
_CACHE: Final = ("mode", "resync_s", "foreign_pods", "method", "informer", "resync_scope")
_EXPORTER: Final = ExporterConfig._fields
_TIMING: Final = Timing._fields
_MAX_NUMBER: Final = 10**9


def scheduler(value: object, path: Path, seed: int = 0) -> SchedulerConfig:
    """Read `scheduler:`.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    data = fields.mapping(value or {}, path)
    fields.only(data, _SCHEDULER, path)
    start = SchedulerConfig()
    scoring = fields.mapping(data.get("scoring") or {}, (*path, "scoring"))
    fields.only(scoring, ("type", "resources"), (*path, "scoring"))
    changed: dict[str, object] = {
        "kind": choice(data.get("kind", start.kind), KINDS, (*path, "kind")),
        "strategy": choice(scoring.get("type", start.strategy), STRATEGIES, (*path, "scoring", "type")),
        "weights": _weights(scoring.get("resources"), (*path, "scoring", "resources")),
        "cache": _cache(data.get("cache"), (*path, "cache")),
        "tie_break": choice(data.get("tie_break", "first"), ("first", "random"), (*path, "tie_break")),
        "node_sampling": choice(data.get("node_sampling", "all"), ("all", "kube"), (*path, "node_sampling")),
        "seed_memory": choice(data.get("seed_memory", "literal"), ("literal", "lenient"), (*path, "seed_memory")),
        "node_score": choice(data.get("node_scoring", "LeastAllocated"), STRATEGIES[:2], (*path, "node_scoring")),
        "preemption_mode": choice(
            data.get("preemptionMode", "Disabled"), ("Disabled", "Enabled"), (*path, "preemptionMode")
        ),
        "prefilter": fields.boolean(data.get("prefilter", False), (*path, "prefilter")),
        "seed": seed,
        "kai": _kai(data.get("kai"), (*path, "kai")),
    }
    return start._replace(**changed)  # type: ignore[arg-type]  # each value was checked against its own choices


def _cache(value: object, path: Path) -> CacheConfig:
    data = fields.mapping(value or {}, path)
    fields.only(data, _CACHE, path)
    start = CacheConfig()
    choices = {
        "mode": ("passthrough", "discard_reserved", "over_reserve"),
        "foreign_pods": ("All", "OnlyExclusiveResources", "None"),
        "method": ("Autodetect", "All", "OnlyExclusiveResources"),
        "informer": ("Dedicated", "Shared"),
        "resync_scope": ("All", "OnlyResources"),
    }
    changed: dict[str, object] = {
        name: choice(data[name], known, (*path, name)) for name, known in choices.items() if name in data
    }
    if "resync_s" in data:
        changed["resync_s"] = number(data["resync_s"], (*path, "resync_s"))
    return start._replace(**changed)  # type: ignore[arg-type]  # each value was checked against its own choices


def _kai(value: object, path: Path) -> KaiOptions:
    """Read the options of KAI's plugin under its own names (K-1, K-8)."""
    data = fields.mapping(value or {}, path)
    fields.only(data, ("ignoreList", "reconstructAvailable"), path)
    here = (*path, "ignoreList")
    listed = fields.sequence(data.get("ignoreList") or (), here, "a list of resource names")
    names = tuple(sorted({fields.text(name, (*here, place)) for place, name in enumerate(listed)}))
    rebuilt = data.get("reconstructAvailable")
    return KaiOptions(names, None if rebuilt is None else fields.boolean(rebuilt, (*path, "reconstructAvailable")))


def _weights(value: object, path: Path) -> dict[str, int]:
    """Read the weights of resources: a list of `{name, weight}`."""
    result = {}
    for place, one in enumerate(fields.sequence(value or (), path)):
        entry = fields.mapping(one, (*path, place))
        fields.only(entry, ("name", "weight"), (*path, place))
        name = fields.text(entry.get("name"), (*path, place, "name"), "the name of a resource")
        result[name] = fields.integer(entry.get("weight", 1), (*path, place, "weight"), 0, _MAX_NUMBER)
    return result


def exporter(value: object, path: Path) -> ExporterConfig:
    """Read `exporter:` of a group of nodes.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    data = fields.mapping(value or {}, path)
    fields.only(data, _EXPORTER, path)
    changed: dict[str, object] = {}
    for name, given in data.items():
        here = (*path, name)
        if name == "mode":
            changed[name] = choice(given, ("none", "periodic", "event", "both", "instant"), here)
        elif name == "fingerprint":
            changed[name] = choice(given, ("none", "all", "exclusive"), here)
        elif name in ("count_terminal_pods", "touch_on_period"):
            changed[name] = fields.boolean(given, here)
        elif name == "phase_s" and given is None:
            changed[name] = None
        else:
            changed[name] = number(given, here)
    if not 0 <= cast("float", changed.get("loss", 0)) <= 1:
        raise FieldError((*path, "loss"), "expected a probability from 0 to 1")
    return ExporterConfig()._replace(**changed)  # type: ignore[arg-type]  # each value was checked above


def timing(value: object, path: Path) -> Timing:
    """Read `timing:`.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    data = fields.mapping(value or {}, path)
    fields.only(data, _TIMING, path)
    changed: dict[str, object] = {}
    for name, given in data.items():
        if name in ("max_failed_pods", "pod_gc_threshold"):
            changed[name] = fields.integer(given, (*path, name), 0, _MAX_NUMBER)
        else:
            changed[name] = number(given, (*path, name))
    return Timing()._replace(**changed)  # type: ignore[arg-type]  # each value was checked above


def choice(value: object, known: Sequence[str], path: Path) -> str:
    """Take one of several words."""
    if value not in known:
        raise FieldError(path, f"expected {', '.join(known)}, got {fields.shown(value)}")
    return str(value)


def number(value: object, path: Path) -> float:
    """Take a number of seconds, or another that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_NUMBER:
        raise FieldError(path, f"expected a number from 0 on, got {fields.shown(value)}")
    return value


def text_map(value: object, path: Path) -> Mapping[str, str]:
    """Take a mapping of texts to texts; numbers and truth values are written as text."""
    data = fields.mapping(value or {}, path)
    for key, one in data.items():
        if isinstance(one, list | dict) or one is None:
            raise FieldError((*path, key), f"expected text, got {fields.shown(one)}")
    return {key: str(one).lower() if isinstance(one, bool) else str(one) for key, one in data.items()}
