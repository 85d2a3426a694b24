"""A drawing in the making: shapes and texts of known size, written as SVG.

Texts are set in a fixed-width font, so that their width is known wherever the picture is opened.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.sax import saxutils

from numalign.render.escape import guarded, printable
from numalign.values import NamedTuple

WIDTH = 1200
"""Of machines and clusters, in pixels."""
CHIP_HEIGHT = 15.0
"""Of a device."""
SMALL = 9.0
"""The smallest text, in pixels at the full width."""
CHARACTER = 0.61
"""Width of a character in the font's size: the widest of the fonts named below."""
FONT = "DejaVu Sans Mono, Liberation Mono, Menlo, Consolas, monospace"
"""Families in which all characters are equally wide."""

PATTERNS = (
    '<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="5" height="5" fill="#ffffff"/><line x1="0" y1="0" x2="0" y2="5" stroke="#dcdcdc" stroke-width="2"/>'
    "</pattern>"
    '<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#fdf0d5"/>'
    '<circle cx="2.5" cy="2.5" r="0.9" fill="#e8c887"/></pattern>'
)


MARKS = {
    "stripes": '<path d="M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" stroke="#333333" stroke-width="0.7"/>',
    "dots": '<circle cx="3" cy="3" r="1" fill="#333333"/>',
    "grid": '<path d="M0,3 h6 M3,0 v6" stroke="#333333" stroke-width="0.6"/>',
}
"""Marks that tell two looks of one colour apart."""


def text_width(text: str, size: float = SMALL) -> float:
    """Return the width of a text in pixels."""
    return len(text) * size * CHARACTER


def shorten(text: str, width: float, size: float = SMALL) -> str:
    """Cut a text to a width; a cut one ends in `…`."""
    most = max(int(width / (size * CHARACTER)), 1)
    return text if len(text) <= most else text[: most - 1] + "…"


def wrap(text: str, width: float, size: float = SMALL) -> list[str]:
    """Break a text at words into lines of a width."""
    return textwrap.wrap(text, max(int(width / (size * CHARACTER)), 1)) or [""]


def _escape(text: str) -> str:
    """Make a text one that XML can hold and that stays one line."""
    return guarded(saxutils.escape(printable(text)))


NIGHT = "@media (prefers-color-scheme: dark) { .night { filter: invert(0.92) hue-rotate(180deg); } }"
"""Who likes it dark sees light and dark exchanged, and each hue as it is."""


class Canvas:
    """Shapes in drawing order."""

    def __init__(self, width: int = WIDTH) -> None:
        self.width = width
        self._parts: list[str] = []
        self._patterns: dict[str, str] = {}
        self.bottom = 0.0
        """The lowest point drawn so far."""

    def rect(self, x: float, y: float, width: float, height: float, look: str, title: str = "") -> None:
        """Draw a rectangle; `look` is its SVG attributes, `title` what a pointer over it tells."""
        inner = f"><title>{_escape(title)}</title></rect>" if title else "/>"
        self._parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}{inner}')
        self.bottom = max(self.bottom, y + height)

    def shape(self, points: Sequence[tuple[float, float]], look: str, title: str = "") -> None:
        """Draw a closed shape through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        inner = f"><title>{_escape(title)}</title></polygon>" if title else "/>"
        self._parts.append(f'<polygon points="{path}" {look}{inner}')
        self.bottom = max(self.bottom, *(y for _, y in points))

    def line(self, x: float, y: float, x2: float, y2: float, look: str) -> None:
        """Draw a line."""
        self._parts.append(f'<line x1="{x:g}" y1="{y:g}" x2="{x2:g}" y2="{y2:g}" {look}/>')
        self.bottom = max(self.bottom, y, y2)

    def text(self, x: float, y: float, text: str, size: float = SMALL, *, bold: bool = False, anchor: str = "") -> None:
        """Write a text; y is its base line. `anchor`: `middle` or `end`, else x is its start."""
        extra = f' text-anchor="{anchor}"' if anchor else ""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{weight}{extra}>{_escape(text)}</text>')
        self.bottom = max(self.bottom, y + size * 0.25)

    def paragraph(
        self, x: float, y: float, text: str, width: float, size: float, step: float, *, bold: bool = False
    ) -> float:
        """Write a text in lines of a width, one a `step` below the other; returns where one more would stand."""
        for line in wrap(text, width, size):
            self.text(x, y, line, size, bold=bold)
            y += step
        return y

    def path(self, points: Sequence[tuple[float, float]], look: str) -> None:
        """Draw a line with corners."""
        self._parts.append(f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in points)}" fill="none" {look}/>')

    def fill(self, colour: str, pattern: str = "") -> str:
        """Return what to fill with: a colour, or a pattern of `MARKS` on it."""
        if not pattern:
            return colour
        name = f"{pattern}{colour.removeprefix('#')}"
        self._patterns[name] = (
            f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" fill="{colour}"/>{MARKS[pattern]}</pattern>'
        )
        return f"url(#{name})"

    def finish(self, title: str, description: str = "") -> str:
        """Return the picture, as high as what is on it; `description` has in words what is on it."""
        height = int(self.bottom) + 24
        said = f'\n<desc id="desc">{_escape(description)}</desc>' * bool(description)
        labelled = 'aria-labelledby="title"' + ' aria-describedby="desc"' * bool(description)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" role="img" {labelled} font-family="{FONT}" fill="#222222">\n'
            f'<title id="title">{_escape(title)}</title>{said}\n<style>{NIGHT}</style>\n'
            f"<defs>{PATTERNS}{''.join(self._patterns.values())}</defs>\n"
            f'<g class="night">\n<rect width="{self.width}" height="{height}" fill="#ffffff"/>\n'
            + "\n".join(self._parts)
            + "\n</g>\n</svg>\n"
        )


class Picture(NamedTuple):
    """An SVG, and what it shows."""

    svg: str
    name: str
    verdict: str = ""
    """What it comes to, in a line."""
