"""The PCI bus of a NUMA node as a strip: frames for switches, with the accelerators and network ports below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.analysis.closeness import Bus, is_port
from numalign.model.hardware import PCIFunction
from numalign.render.picture.canvas import CHIP_HEIGHT, SMALL, Canvas, shorten, text_width
from numalign.render.text.hardware import function_name, short_address

FRAME = 'fill="#ffffff" stroke="#2f5d9b" stroke-width="1.2" rx="4"'
ACCELERATOR = 'fill="#e3d5f0" stroke="#6b4a93" stroke-width="1" rx="2"'
PORT = 'fill="#d5ebe6" stroke="#2c7a68" stroke-width="1" rx="7"'
GAP = 4.0
"""Between devices side by side."""
TITLE = "PCIe: in a frame what sits below one switch (square: accelerator, round: network)"


def draw_buses(canvas: Canvas, buses: Iterable[Bus], x: float, y: float, width: float) -> float:
    """Draw a row a root complex; returns where they end."""
    canvas.text(x, y + 9, shorten(TITLE, width), SMALL, bold=True)
    y += 14
    for bus in buses:
        canvas.text(x, y + 11, bus.root, SMALL)
        y += 15
        left, row = x, 0.0
        for switch, listed in bus.switches.items():
            wide, high = _switch(Canvas(), switch, listed, 0, 0, width)
            if left > x and left + wide > x + width:
                left, y, row = x, y + row + GAP, 0.0
            _switch(canvas, switch, listed, left, y, width)
            left += wide + GAP
            row = max(row, high)
        y += row + 2 * GAP
    return y


def _switch(
    canvas: Canvas, switch: str, listed: Sequence[PCIFunction], x: float, y: float, width: float
) -> tuple[float, float]:
    """Draw what is below a switch, framed where there is one; returns the width and height it takes."""
    title = shorten(f"switch {short_address(switch)}" if switch else "no switch", width - 2 * GAP)
    spots, right, down = [], text_width(title) + 2 * GAP, 14.0
    left = GAP
    for function in listed:
        label = shorten(function_name(function), width - 4 * GAP)
        wide = text_width(label) + 10
        if left > GAP and left + wide > width - GAP:
            left, down = GAP, down + CHIP_HEIGHT + GAP
        spots.append((function, label, left, down, wide))
        left += wide + GAP
        right = max(right, left)
    high = down + CHIP_HEIGHT + GAP
    if switch:
        canvas.rect(x, y, right, high, FRAME)
    canvas.text(x + GAP, y + 10, title)
    for function, label, left, top, wide in spots:
        look = PORT if is_port(function) else ACCELERATOR
        canvas.rect(x + left, y + top, wide, CHIP_HEIGHT, look, function.address)
        canvas.text(x + left + wide / 2, y + top + 10.8, label, anchor="middle")
    return right, high
