"""The result of `config check`: whether the kubelet would start, what stops it, and the configuration that starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.config.check import ConfigReport
    from numalign.kubelet.setup import Setup


class ConfigCheckResult(NamedTuple):
    """A configuration, held against its machine."""

    setup: Setup
    report: ConfigReport
