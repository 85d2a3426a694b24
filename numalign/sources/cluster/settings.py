"""The scheduler, the timing and the exporters of a cluster file (docs/rules/scheduling.md 3.2, 3.3, 4.2, 6.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, get_args

from numalign.model.apiserver import amounts
from numalign.model.document import AnyForm, Form, as_dict, as_mapping, choice, field, inside, maybe, record
from numalign.model.document.values import boolean, integer, list_of, map_of, number, text, turned
from numalign.model.path import FieldError, unfit
from numalign.model.quantity import QuantityError
from numalign.scheduler import config as configs
from numalign.scheduler.choice import Sampling, TieBreak
from numalign.scheduler.config import (
    CacheConfig,
    ExporterConfig,
    ExporterMode,
    FingerprintPods,
    Kind,
    PreemptionMode,
    SchedulerConfig,
    Timing,
)
from numalign.scheduler.filter_kep import SeedMemory
from numalign.scheduler.kai.topology import KaiOptions, ignore_list, reconstruct_option
from numalign.scheduler.node_fit import NodeStrategy
from numalign.scheduler.nrt.value import amount_text
from numalign.scheduler.resources import Amounts
from numalign.scheduler.score import Strategy

_MAX_NUMBER: Final = 10**9
_SECONDS: Final = number("a number from 0 on", 0, _MAX_NUMBER)
_COUNT: Final = integer(0, _MAX_NUMBER)


def _one_of(kind: object) -> AnyForm:
    """Describe one of the words of a Literal type."""
    return choice(*get_args(kind))


def _text_of(value: object) -> str:
    if isinstance(value, list | dict) or value is None:
        raise unfit("text", value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _amounts(value: object) -> Amounts:
    try:
        found = {resource: quantity.nano for resource, quantity in amounts(as_mapping(value)).items()}
    except (TypeError, QuantityError) as error:
        raise FieldError((), f"expected quantities: {error}") from None
    if min(found.values(), default=0) < 0:
        raise FieldError((), "expected quantities that are not negative")
    return found


def _or_text(form: AnyForm, of_text: Callable[[str], object]) -> AnyForm:
    """Describe what an option of KAI may also say as the text that its plugin reads."""
    return Form(
        lambda value: of_text(value) if isinstance(value, str) else form.read(value),
        form.write,
        {"anyOf": [form.schema, {"type": "string"}]},
    )


AMOUNTS: Final[Form[Amounts]] = Form(
    _amounts,
    lambda known: {name: amount_text(amount) for name, amount in known.items()},
    {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
)
"""A mapping of resources to Kubernetes quantities."""
TEXTS: Final = map_of(Form(_text_of, str, {"type": ["string", "number", "boolean"]}))
"""A mapping of texts to texts; numbers and truth values are written as text."""
_WEIGHTS: Final = turned(
    list_of(record(as_dict, field("name", text("the name of a resource")), field("weight", _COUNT, 1), parts=dict)),
    lambda listed: {one["name"]: one["weight"] for one in listed},
    lambda weights: tuple([{"name": name, "weight": weight} for name, weight in weights.items()]),
)


def _resynced(cache: CacheConfig) -> CacheConfig:
    """Refuse what the plugin reads as another mode (docs/rules/scheduling.md 3.3); a run counts in microseconds."""
    if cache.mode == "over_reserve" and cache.resync_s < 1e-6:
        raise FieldError(("resync_s",), "over_reserve needs a number above 0; fix: mode: passthrough")
    return cache


_CACHE: Final = turned(
    record(
        CacheConfig,
        field("mode", _one_of(configs.CacheMode)),
        field("resync_s", _SECONDS),
        field("foreign_pods", _one_of(configs.ForeignPods)),
        field("method", _one_of(configs.Method)),
        field("informer", _one_of(configs.Informer)),
        field("resync_scope", _one_of(configs.Scope)),
    ),
    _resynced,
    lambda cache: cache,
)
_IGNORED: Final = turned(
    list_of(text(), "a list of resource names"), lambda names: tuple(sorted(set(names))), lambda names: names
)
_KAI: Final = record(
    KaiOptions,
    maybe("ignoreList", _or_text(_IGNORED, ignore_list), to="ignored"),
    maybe("reconstructAvailable", _or_text(boolean, reconstruct_option), to="reconstruct"),
    maybe(
        "queues", map_of(AMOUNTS), to="deserved", says="What each queue deserves: others reclaim what it has beyond."
    ),
)
"""The options of KAI's plugin under its own names (K-1, K-8), as YAML has them or as text, and its queues (K-11)."""
SCHEDULER: Final = record(
    SchedulerConfig,
    field("kind", _one_of(Kind)),
    inside("scoring", field("type", _one_of(Strategy), to="strategy"), maybe("resources", _WEIGHTS, to="weights")),
    maybe("cache", _CACHE),
    field("tie_break", _one_of(TieBreak)),
    field("node_sampling", _one_of(Sampling)),
    field("seed_memory", _one_of(SeedMemory)),
    field("preemptionMode", _one_of(PreemptionMode)),
    field("prefilter", boolean),
    maybe("node_scoring", _one_of(NodeStrategy), to="node_score"),
    maybe("kai", _KAI),
)
EXPORTER: Final = record(
    ExporterConfig,
    field("mode", _one_of(ExporterMode)),
    field("period_s", _SECONDS),
    maybe("phase_s", _SECONDS, says="Time of the first sample; null: by chance within the period."),
    field("event_delay_s", _SECONDS),
    field("publish_delay_s", _SECONDS),
    field("jitter_s", _SECONDS),
    field("loss", number("a probability from 0 to 1", 0, 1), says="Probability that one publication is lost."),
    field("fingerprint", _one_of(FingerprintPods)),
    field("count_terminal_pods", boolean),
    field("touch_on_period", boolean),
)
TIMING: Final = record(
    Timing,
    field("sched_time_s", _SECONDS),
    field("bind_to_admit_s", _SECONDS),
    field("controller_delay_s", _SECONDS),
    field("horizon_s", _SECONDS, says="When the run ends; not given: 600 s after the trace."),
    field("max_failed_pods", _COUNT),
    field("pod_gc_threshold", _COUNT),
)
