"""How fast a cluster's parts are: exporters, the scheduler, controllers (docs/rules/scheduling.md 3.2, 4.2, 6.1)."""

from __future__ import annotations

from typing import Literal

from numalign.values import NamedTuple

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
