"""How a verdict and a container look: a sign, cold colours for what is aligned, warm ones for what is not.

Blue and orange stay apart for people who see no red or no green, and no state is told by its colour alone: what is not
aligned has sharp corners and a thick frame, and letters name who is who.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.render.picture.canvas import Canvas
from numalign.render.text.drawing import LETTERS
from numalign.results.admit import PodResult
from numalign.values import NamedTuple

State = Literal["good", "bad", "rejected", "plain", "there"]
"""Aligned; admitted, not aligned; rejected; nothing to align, or unknown; on the node before."""

COLOURS: dict[State, tuple[str, ...]] = {
    "good": ("#a6cee3", "#c3d3f3", "#7fb5d9", "#d3ecf8", "#aebfea"),
    "bad": ("#fdb462", "#f6a38a", "#ffd98a", "#f3b3c4", "#e3c067"),
    "plain": ("#ddd3ec", "#cbbde2", "#ece6f5", "#bfb3d9", "#e2dcea"),
    "there": ("#dcdcdc", "#c6c6c6", "#ebebeb", "#b5b5b5", "#d0d0d0"),
}
EDGES: dict[State, str] = {
    "good": 'stroke="#1f5a85" stroke-width="1" rx="4"',
    "bad": 'stroke="#8a2b00" stroke-width="2"',
    "plain": 'stroke="#5c4a80" stroke-width="1" rx="4"',
    "there": 'stroke="#666666" stroke-width="1" rx="4"',
}
JUDGED: Mapping[bool | None, State] = {True: "good", False: "bad", None: "plain"}
"""Whether a pod or container is aligned -> how it looks."""
PATTERNS = ("", "stripes", "dots", "grid")
RED = "#c62828"
SIGNS: dict[State, str] = {"good": "#14618f", "bad": "#c05600", "rejected": RED, "plain": "#6a6a6a", "there": "#6a6a6a"}
"""Colours of the signs; each has a form of its own, too."""


class Look(NamedTuple):
    """How a container is drawn."""

    label: str
    """A letter; with very many containers also a number."""
    attributes: str
    """SVG attributes of what it holds."""


def look_of(canvas: Canvas, place: int, state: State) -> Look:
    """Give the container of a place its look: 20 of a state, then the letters tell them apart."""
    colours = COLOURS[state]
    pattern = PATTERNS[place // len(colours) % len(PATTERNS)]
    fill = canvas.fill(colours[place % len(colours)], pattern)
    again = place // len(LETTERS)
    return Look(f"{LETTERS[place % len(LETTERS)]}{again + 1 if again else ''}", f'fill="{fill}" {EDGES[state]}')


def state_of(pod: PodResult) -> State:
    """Tell how a pod fared."""
    if not pod.admitted:
        return "rejected"
    return JUDGED[pod.aligned]


def worst_state(pods: tuple[PodResult, ...]) -> State:
    """Tell how the worst of some pods fared."""
    order: tuple[State, ...] = ("rejected", "bad", "good", "plain")
    return next((state for state in order if any(state_of(pod) == state for pod in pods)), "plain")


def draw_sign(canvas: Canvas, state: State, x: float, y: float, size: float) -> None:
    """Draw a tick on a disc, an exclamation mark on a triangle, a cross on a square, or a dash on a disc."""
    look, pen = f'fill="{SIGNS[state]}" stroke="none"', f'stroke="#ffffff" stroke-width="{size / 8:g}"'
    if state == "bad":
        canvas.shape([(x + size / 2, y), (x + size, y + size), (x, y + size)], look, "NOT aligned")
        canvas.line(x + size / 2, y + size * 0.35, x + size / 2, y + size * 0.68, pen)
        canvas.line(x + size / 2, y + size * 0.77, x + size / 2, y + size * 0.9, pen)
    elif state == "rejected":
        canvas.rect(x, y, size, size, look, "rejected")
        canvas.line(x + size * 0.25, y + size * 0.25, x + size * 0.75, y + size * 0.75, pen)
        canvas.line(x + size * 0.75, y + size * 0.25, x + size * 0.25, y + size * 0.75, pen)
    else:
        title = "aligned" if state == "good" else "nothing to align, or unknown"
        canvas.rect(x, y, size, size, f'{look} rx="{size / 2:g}"', title)
        tick = [(0.25, 0.55), (0.43, 0.72), (0.76, 0.32)] if state == "good" else [(0.25, 0.5), (0.75, 0.5)]
        canvas.path([(x + size * a, y + size * b) for a, b in tick], pen)
