"""The scheduler, the timing and the exporters of a cluster file (docs/rules/scheduling.md 3.2, 3.3, 4.2, 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast, get_args

from numalign.scheduler import cache as caches
from numalign.scheduler.attempt import Kind, SchedulerConfig
from numalign.scheduler.choice import Sampling, TieBreak
from numalign.scheduler.filter_kep import SeedMemory
from numalign.scheduler.kai.topology import KaiOptions
from numalign.scheduler.node_fit import NodeStrategy
from numalign.scheduler.preemption import Mode as PreemptionMode
from numalign.scheduler.score import Strategy
from numalign.scheduler.timing import ExporterConfig, ExporterMode, FingerprintPods, Timing
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path

_MAX_NUMBER: Final = 10**9

_Read = Callable[[object, Path], object]
"""Reads the value of one key, or raises a FieldError."""


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


def _count(value: object, path: Path) -> int:
    return fields.integer(value, path, 0, _MAX_NUMBER)


def _one_of(kind: object) -> _Read:
    """Take one of the words of a Literal type."""
    return lambda value, path: choice(value, get_args(kind), path)


def _given(value: object, path: Path, readers: Mapping[str, _Read]) -> dict[str, object]:
    """Read the keys that are given, each as its reader says.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    data = fields.mapping(value or {}, path)
    fields.only(data, readers, path)
    return {name: readers[name](one, (*path, name)) for name, one in data.items()}


def scheduler(value: object, path: Path, seed: int = 0) -> SchedulerConfig:
    """Read `scheduler:`.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    given = _given(value, path, _SCHEDULER)
    scoring = cast("dict[str, object]", given.pop("scoring", {}))
    changed = {_FIELD_OF.get(name, name): one for name, one in (given | scoring).items()}
    return SchedulerConfig(seed=seed)._replace(**changed)  # type: ignore[arg-type]  # each value was checked above


def exporter(value: object, path: Path) -> ExporterConfig:
    """Read `exporter:` of a group of nodes.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    changed = _given(value, path, _EXPORTER)
    if not 0 <= cast("float", changed.get("loss", 0)) <= 1:
        raise FieldError((*path, "loss"), "expected a probability from 0 to 1")
    return ExporterConfig()._replace(**changed)  # type: ignore[arg-type]  # each value was checked above


def timing(value: object, path: Path) -> Timing:
    """Read `timing:`.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    return Timing()._replace(**_given(value, path, _TIMING))  # type: ignore[arg-type]  # each value was checked above


def _scoring(value: object, path: Path) -> dict[str, object]:
    return _given(value, path, {"type": _one_of(Strategy), "resources": _weights})


def _cache(value: object, path: Path) -> caches.CacheConfig:
    changed = _given(value, path, _CACHE)
    return caches.CacheConfig()._replace(**changed)  # type: ignore[arg-type]  # each value was checked above


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


def text_map(value: object, path: Path) -> Mapping[str, str]:
    """Take a mapping of texts to texts; numbers and truth values are written as text."""
    data = fields.mapping(value or {}, path)
    for key, one in data.items():
        if isinstance(one, list | dict) or one is None:
            raise FieldError((*path, key), f"expected text, got {fields.shown(one)}")
    return {key: str(one).lower() if isinstance(one, bool) else str(one) for key, one in data.items()}


_CACHE: Final[Mapping[str, _Read]] = {
    "mode": _one_of(caches.Mode),
    "resync_s": number,
    "foreign_pods": _one_of(caches.ForeignPods),
    "method": _one_of(caches.Method),
    "informer": _one_of(caches.Informer),
    "resync_scope": _one_of(caches.Scope),
}
_SCHEDULER: Final[Mapping[str, _Read]] = {
    "kind": _one_of(Kind),
    "scoring": _scoring,
    "cache": _cache,
    "tie_break": _one_of(TieBreak),
    "node_sampling": _one_of(Sampling),
    "seed_memory": _one_of(SeedMemory),
    "preemptionMode": _one_of(PreemptionMode),
    "prefilter": fields.boolean,
    "node_scoring": _one_of(NodeStrategy),
    "kai": _kai,
}
_FIELD_OF: Final = {
    "type": "strategy",
    "resources": "weights",
    "preemptionMode": "preemption_mode",
    "node_scoring": "node_score",
}
"""Key -> field of SchedulerConfig, where they differ."""
_EXPORTER: Final[Mapping[str, _Read]] = {
    "mode": _one_of(ExporterMode),
    "period_s": number,
    "phase_s": lambda value, path: None if value is None else number(value, path),
    "event_delay_s": number,
    "publish_delay_s": number,
    "jitter_s": number,
    "loss": number,
    "fingerprint": _one_of(FingerprintPods),
    "count_terminal_pods": fields.boolean,
    "touch_on_period": fields.boolean,
}
_TIMING: Final[Mapping[str, _Read]] = {
    "sched_time_s": number,
    "bind_to_admit_s": number,
    "controller_delay_s": number,
    "horizon_s": number,
    "max_failed_pods": _count,
    "pod_gc_threshold": _count,
}
