"""Kubelet configurations against a machine: would the kubelet start, and one that would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.config.check import report
from numalign.analysis.config.suggest import Suggestion, suggest
from numalign.analysis.config.systems import KUBELET
from numalign.analysis.config.upgrade import upgrade_notices
from numalign.errors import StartError
from numalign.results.node import ConfigCheckResult
from numalign.tasks.setup import LoadedSetup, facts_of, kubelet_asked

if TYPE_CHECKING:
    from collections.abc import Collection

    from numalign.analysis.config.system import Ground, System
    from numalign.kubelet.setup import Setup
    from numalign.model.machine import Machine
    from numalign.tasks.requests import KubeletRequest


def check_config(setup: Setup, ground: Ground | None = None) -> ConfigCheckResult:
    """Check a configuration on its machine, and work out the nearest one that starts."""
    return ConfigCheckResult(setup, report(setup, ground))


def before_upgrade(on: LoadedSetup, flags: Collection[str] = ()) -> LoadedSetup:
    """Add what stops the kubelet after the next upgrades.

    Args:
        on: the machine and the settings.
        flags: names of the flags on the kubelet's command line, where it is known.
    """
    return on._replace(notices=(*on.notices, *upgrade_notices(on.setup, flags)))


def suggest_config(machine: Machine, request: KubeletRequest, system: System | None) -> Suggestion:
    """Write a configuration for a machine that aligns what can be aligned.

    Args:
        machine: the machine.
        request: the settings that are wished for, kept where the kubelet accepts them; and which kubelet it is.
        system: the cloud or distribution that it is for; None: a kubelet by itself.

    Raises:
        InputError: a flag's text cannot be read.
        StartError: no configuration was found that starts there.
    """
    from numalign.sources.kubelet.flags import read_flags

    wishes = read_flags(request.settings)
    suggestion = suggest(machine, wishes, kubelet_asked(request), system or KUBELET, facts_of(machine, request))
    if suggestion.error:
        raise StartError(suggestion.error)
    return suggestion
