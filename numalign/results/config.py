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
    """What would stop the kubelet there, in its words; empty: nothing, or its words are not known."""
    remedy: str
    """What to do about all that stops it, in order; empty: it comes up."""
    findings: tuple[NodeFinding, ...]

    @property
    def starts(self) -> bool:
        """Whether the kubelet would come up there."""
        return not self.remedy


class ConfigCheckResult(NamedTuple):
    """A configuration, held against its machine."""

    setup: Setup
    report: ConfigReport
    node: NodeCheck | None = None
    """Whether it comes up with a node's files; None: there is no node."""

    @property
    def starts(self) -> bool:
        """Whether the kubelet comes up, with a node's files where there is one."""
        return self.report.starts and (self.node is None or self.node.starts)
