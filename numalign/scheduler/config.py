"""The settings of a scheduler, and how fast a cluster's parts are, as a cluster file gives them.

docs/rules/scheduling.md 3.2, 3.3, 4.2 and 6.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.scheduler import choice
from numalign.scheduler.filter_kep import SeedMemory
from numalign.scheduler.kai.topology import KaiOptions
from numalign.scheduler.node_fit import NodeStrategy
from numalign.scheduler.score import Strategy
from numalign.values import NamedTuple

Kind = Literal["unaware", "kep", "nrt", "kai"]
"""Which scheduler: a key of `schedulers.SCHEDULERS`."""
CacheMode = Literal["passthrough", "discard_reserved", "over_reserve"]
ForeignPods = Literal["All", "OnlyExclusiveResources", "None"]
Method = Literal["Autodetect", "All", "OnlyExclusiveResources"]
Informer = Literal["Dedicated", "Shared"]
Scope = Literal["All", "OnlyResources"]
PreemptionMode = Literal["Disabled", "Enabled"]


class CacheConfig(NamedTuple):
    """The settings of the cache of NodeResourceTopologyMatch."""

    mode: CacheMode = "passthrough"
    resync_s: float = 5
    foreign_pods: ForeignPods = "All"
    method: Method = "Autodetect"
    informer: Informer = "Dedicated"
    resync_scope: Scope = "All"


class SchedulerConfig(NamedTuple):
    """The settings of a scheduler."""

    kind: Kind = "nrt"
    node_fit: bool = True
    """Whether a machine's total is checked too."""
    node_score: NodeStrategy | None = "LeastAllocated"
    """How the machine's total is scored; None: not at all."""
    strategy: Strategy = "LeastAllocated"
    weights: Mapping[str, int] = {}
    cache: CacheConfig = CacheConfig()
    preemption_mode: PreemptionMode = "Disabled"
    prefilter: bool = False
    """Whether the plugin is on at PreFilter (P-1)."""
    preempts: bool = True
    """Whether kube-scheduler's own preemption is on."""
    seed_memory: SeedMemory = "literal"
    tie_break: choice.TieBreak = "first"
    node_sampling: choice.Sampling = "all"
    seed: int = 0
    kai: KaiOptions = KaiOptions()


ExporterMode = Literal["none", "periodic", "event", "both", "instant"]
FingerprintPods = Literal["none", "all", "exclusive"]
"""Over which pods of a machine a fingerprint is taken."""


class ExporterConfig(NamedTuple):
    """How a machine's exporter publishes; times in seconds."""

    mode: ExporterMode = "both"
    """`none`: the machine has no NRT. `instant`: without any delay."""
    period_s: float = 60
    phase_s: float | None = None
    """Time of the first sample; None: by chance within the period, from the seed."""
    event_delay_s: float = 1
    publish_delay_s: float = 0.1
    jitter_s: float = 0
    loss: float = 0
    """Probability that one publication is lost."""
    fingerprint: FingerprintPods = "all"
    count_terminal_pods: bool = True
    touch_on_period: bool = False


class Timing(NamedTuple):
    """How long things take, in seconds, and when a run ends."""

    sched_time_s: float = 0.01
    bind_to_admit_s: float = 0.4
    controller_delay_s: float = 0.1
    horizon_s: float | None = None
    """None: 600 s after the trace ends."""
    max_failed_pods: int = 100_000
    pod_gc_threshold: int = 12_500
