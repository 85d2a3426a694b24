"""A cluster as a heat map: a square a NUMA node, coloured by what is free for a pod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.picture.canvas import Canvas, Picture, shorten, text_width
from numalign.render.text.capacity import alignment_text

if TYPE_CHECKING:
    from numalign.results.capacity import CapacityResult, NodeCapacity, ShapeCapacity, ZoneRoom

WIDTH, MARGIN = 800, 24.0
TEXT = 12.0
"""Size of names and counts."""
MAX_NODES_NAMED = 60
"""Up to so many nodes have their names beside them."""
COLOURS = ("#b2182b", "#ef8a62", "#fddbc7", "#d1e5f0", "#67a9cf", "#2166ac")
"""From full to empty; told apart by people who see no red, too."""
NEVER_FITS = "#9e9e9e"
"""Colour of a node that holds no copy even when it is empty."""
UNSEEN = "#eeeeee"
"""Colour of a node of which nobody knows, or was asked."""
LABELS = ("none fits", "up to 1/5 of the copies that fit when empty", "2/5", "3/5", "4/5", "all")
LEGEND = (
    *zip(COLOURS, LABELS, strict=True),
    (NEVER_FITS, "none even when empty"),
    (UNSEEN, "unknown, or not requested"),
)


def heat_map(result: CapacityResult, origin: str) -> Picture:
    """Draw every shape's map, one below the other."""
    canvas = Canvas(WIDTH)
    top = MARGIN
    for shape in result.shapes:
        top = _shape(canvas, shape, origin, top) + MARGIN
    title = f"NUMA nodes of {origin}: what is free for {', '.join(one.name for one in result.shapes)}"
    fits = [f"{one.name}: {_fits(one.whole)}" for one in result.shapes]
    return Picture(canvas.finish(title, "; ".join(fits)), origin, f"fits now: {'; '.join(fits)}")


def _fits(one: NodeCapacity) -> str:
    return alignment_text(one.now, one.aligned, one.nothing)


def colour(zone: ZoneRoom) -> str:
    """Choose the colour of a NUMA node: red nothing fits, blue as many as when it is empty."""
    if not zone.total:
        return UNSEEN
    if not zone.most:
        return NEVER_FITS
    if not zone.copies:
        return COLOURS[0]
    return COLOURS[max(1, min(len(COLOURS) - 1, zone.copies * (len(COLOURS) - 1) // zone.most))]


def _shape(canvas: Canvas, shape: ShapeCapacity, origin: str, top: float) -> float:
    """Draw one map; returns where it ends."""
    title = f"{shape.name} on {origin}: fits now: {_fits(shape.whole)}"
    y = _legend(canvas, canvas.paragraph(MARGIN, top + 14, title, WIDTH - 2 * MARGIN, 16, 22, bold=True) - 8)
    if len(shape.nodes) <= MAX_NODES_NAMED:
        return _named(canvas, shape.nodes, y)
    return _dense(canvas, shape.nodes, y)


def _legend(canvas: Canvas, top: float) -> float:
    x = MARGIN
    for look, label in LEGEND:
        wide = 36 + text_width(label, TEXT)
        if x + wide - 14 > WIDTH - MARGIN:
            x, top = MARGIN, top + 20
        canvas.rect(x, top, 14, 14, f'fill="{look}" stroke="#888888" stroke-width="0.5"')
        canvas.text(x + 20, top + 11, label, TEXT)
        x += wide
    return top + 28


def _named(canvas: Canvas, nodes: Sequence[NodeCapacity], top: float) -> float:
    """Draw a row a node, with its name and its count."""
    size, name = 16.0, 180.0
    for place, node in enumerate(nodes):
        y = top + place * (size + 4)
        canvas.text(MARGIN, y + 12, shorten(node.node, name, TEXT), TEXT)
        _squares(canvas, node, MARGIN + name, y, size)
        count = "unknown" if node.now is None else f"{node.now} fit"
        canvas.text(MARGIN + name + max(len(node.zones), 1) * (size + 2) + 8, y + 12, count, TEXT)
    return top + len(nodes) * (size + 4)


def _dense(canvas: Canvas, nodes: Sequence[NodeCapacity], top: float) -> float:
    """Draw nodes beside each other, without names; a pointer over a square tells them."""
    size, x, y = 7.0, MARGIN, top
    for node in nodes:
        width = max(len(node.zones), 1) * size + 4
        if x + width > WIDTH - MARGIN:
            x, y = MARGIN, y + size + 3
        _squares(canvas, node, x, y, size)
        x += width
    return y + size


def _squares(canvas: Canvas, node: NodeCapacity, x: float, y: float, size: float) -> None:
    gap = 2 if size > 10 else 0
    if not node.zones:
        canvas.rect(x, y, size, size, f'fill="{UNSEEN}" stroke="#888888" stroke-width="0.5"', f"{node.node}: unknown")
    for place, zone in enumerate(node.zones):
        free = ", ".join(f"{name} {amount} of {zone.total[name]}" for name, amount in zone.free.items())
        copies = f"{zone.copies} of {zone.most} copies; free: {free}" if free else "nothing requested"
        title = f"{node.node}, NUMA node {zone.id}: {copies}"
        look = f'fill="{colour(zone)}" stroke="#888888" stroke-width="0.5"'
        canvas.rect(x + place * (size + gap), y, size, size, look, title)
