"""What the rules of `lint` find."""

from __future__ import annotations

from typing import Literal, get_args

from numalign.values import NamedTuple

Effect = Literal["note", "unaligned", "rejected", "impossible"]
"""What comes of it, mildest first: something to know; the kubelet leaves CPUs, memory or a device out of the alignment;
the pod is refused on a node that another pod could use; no node, or not the given machine, can ever run it."""

EFFECTS: tuple[Effect, ...] = get_args(Effect)


class Finding(NamedTuple):
    """One thing in a manifest that stands in the way of alignment."""

    message: str
    """What is there and what comes of it."""
    advice: str
    """The change of the manifest that helps."""
    path: str
    """Field of the pod, or where it would be."""
    effect: Effect
    container: str = ""
    """Name; empty: the pod as a whole."""
    code: str = ""
    """Stable, kebab-case; filled in by `lint`."""


def reaches(finding: Finding, bar: str) -> bool:
    """Tell whether a finding is at least as bad as an effect; `nothing` is never reached."""
    return bar in EFFECTS and EFFECTS.index(finding.effect) >= EFFECTS.index(bar)
