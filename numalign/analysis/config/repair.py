"""From a configuration that does not start to the nearest one that does, one verified change after the other.

The kubelet tells one error at a time. Each repair below offers changes for one kind of error; a change is taken when
the kubelet's checks, run again, no longer give that error. So nothing here reads error texts, and every step is proven.
"""

from __future__ import annotations

from itertools import chain

from numalign.analysis.config.offers import OFFERS, SettingChange
from numalign.errors import StartError
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import check_start
from numalign.values import NamedTuple

MAX_STEPS = 40
"""After so many complaints nobody looks for the next."""


class Step(NamedTuple):
    """What the kubelet said, and the change that answers it; None where no change was found."""

    error: str
    change: SettingChange | None


class Repaired(NamedTuple):
    """The outcome: the steps in the order in which a person would meet them."""

    config: KubeletConfig
    starts: bool
    steps: tuple[Step, ...]


def start_error(setup: Setup) -> str | None:
    """Return the text with which the kubelet refuses to start; None: it starts."""
    try:
        check_start(setup)
    except StartError as error:
        return error.message
    return None


def repair(setup: Setup, lacks: frozenset[str] = frozenset()) -> Repaired:
    """Change a configuration step by step until the kubelet starts, or no change helps.

    Args:
        setup: the configuration on its machine.
        lacks: fields of KubeletConfiguration that cannot be set.
    """
    steps: list[Step] = []
    seen: set[str] = set()
    config = setup.config
    error = start_error(setup)
    while error is not None and len(steps) < MAX_STEPS:
        seen.add(error)
        now = setup._replace(config=config)
        # Offers come in the order of the start-up checks, so that the nearest change is the first.
        for change in chain.from_iterable(offer(now) for offer in OFFERS):
            if FIELD_NAMES[change.field] in lacks:
                continue
            changed = config._replace(**change.values)
            next_error = start_error(setup._replace(config=changed))
            if next_error not in seen:
                break
        else:
            steps.append(Step(error, None))
            break
        steps.append(Step(error, change))
        config, error = changed, next_error
    return Repaired(config, error is None, tuple(steps))
