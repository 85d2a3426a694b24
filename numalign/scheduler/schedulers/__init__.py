"""Every scheduler that numalign knows, by its name: one file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.scheduler.config import Kind
from numalign.scheduler.record import Scheduler
from numalign.scheduler.schedulers import kai, kep, nrt, unaware
from numalign.scheduler.schedulers.kai import surroundings as surroundings

SCHEDULERS: Final[Mapping[Kind, Scheduler]] = {
    "unaware": unaware.SCHEDULER,
    "kep": kep.SCHEDULER,
    "nrt": nrt.SCHEDULER,
    "kai": kai.SCHEDULER,
}
