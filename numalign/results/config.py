"""The result of `config check`: whether the kubelet would start, what stops it, and the configuration that starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.config.check import ConfigReport
    from numalign.analysis.node.finding import NodeFinding
    from numalign.kubelet.setup import Setup


class NodeCheck(NamedTuple):
    """A configuration, held against the files of a node in use."""

    start_error: str
    """What would stop the kubelet there, in its words; empty: nothing."""
    remedy: str
    """What to do about it, in order."""
    findings: tuple[NodeFinding, ...]


class ConfigCheckResult(NamedTuple):
    """A configuration, held against its machine."""

    setup: Setup
    report: ConfigReport
    node: NodeCheck | None = None
    """Whether it comes up with a node's files; None: there is no node."""

    @property
    def starts(self) -> bool:
        """Whether the kubelet comes up, with a node's files where there is one."""
        return self.report.starts and not (self.node and self.node.start_error)
