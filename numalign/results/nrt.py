"""The results of writing and of checking NodeResourceTopology objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.scheduler.nrt.differences import Difference
    from numalign.scheduler.nrt.value import NodeResourceTopology


class CheckedNRT(NamedTuple):
    """A published object beside what the node would publish now."""

    name: str
    oddities: tuple[Notice, ...]
    """What readers would stumble over, whatever the node says."""
    differences: tuple[Difference, ...] | None
    """What is not as the node has it; None: there is no such node."""
    actual: NodeResourceTopology | None
    """What the node would publish now."""

    @property
    def true(self) -> bool:
        """Whether the object says what is so, and every reader reads it."""
        return self.differences == () and not self.skipped

    @property
    def stale(self) -> bool:
        """Whether it speaks of other pods than those of the node."""
        return any(one.what == "stale" for one in self.differences or ())

    @property
    def skipped(self) -> tuple[Notice, ...]:
        """The oddities that make a reader skip a zone."""
        return tuple([one for one in self.oddities if one.code in ("nrt-zone-name", "nrt-zone-type")])


class NRTCheckResult(NamedTuple):
    """All objects of a file, checked."""

    objects: tuple[CheckedNRT, ...]

    @property
    def true(self) -> bool:
        """Whether all of them are."""
        return all(one.true for one in self.objects)
