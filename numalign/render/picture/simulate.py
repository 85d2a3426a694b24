"""A simulation as one HTML file: figures, plots, and filter against kubelet; nothing is loaded from elsewhere.

Plots are made by hand: a report needs a few plain lines over time, and a plotting library would weigh more than all
of numalign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final
from xml.sax import saxutils

from numalign.render.page import html
from numalign.render.page.document import Document
from numalign.results.cluster import SimulateResult
from numalign.scheduler.simulate.report import Moment
from numalign.values import NamedTuple

COLOURS: Final = ("#3b6fb6", "#c2572b", "#3f8f4f", "#8457a8", "#8a6d00", "#1a8a8f")
DASHES: Final = ("none", "8 4", "4 3", "10 3 2 3", "5 5", "1 5")
"""Lines are told apart without colours, and one below another shows through its gaps."""
WIDTH: Final = 720
HEIGHT: Final = 220
_LEFT, _BOTTOM, _TOP, _RIGHT = 64, 28, 12, 12


class Series(NamedTuple):
    """A line."""

    name: str
    points: tuple[tuple[float, float], ...]
    """(time in seconds, value)."""


def plot(title: str, series: Sequence[Series], *, share: bool) -> str:
    """Draw lines over time.

    Args:
        title: what the values are; also the text for those who cannot see it.
        series: the lines.
        share: the values are shares and are written in per cent.
    """
    end = max((point[0] for one in series for point in one.points), default=0) or 1
    most = 1.0 if share else _round_up(max((point[1] for one in series for point in one.points), default=0))
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_label(title)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for step in range(5):
        y = _TOP + high * (4 - step) / 4
        value = most * step / 4
        label = f"{100 * value:.0f} %" if share else f"{value:,.0f}"
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:g}" y2="{y:g}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{label}</text>')
        x = _LEFT + wide * step / 4
        parts.append(f'<text x="{x:g}" y="{HEIGHT - 8}" text-anchor="middle">{end * step / 4:,.0f} s</text>')
    for place, one in enumerate(series):
        path = " ".join(
            f"{_LEFT + wide * time / end:.1f},{_TOP + high * (1 - min(value / most, 1)):.1f}"
            for time, value in one.points
        )
        parts.append(f'<polyline points="{path}" fill="none" {_pen(place)}/>')
    return "".join((*parts, "</svg>"))


def legend(names: Sequence[str]) -> str:
    """Name the lines by their colours and dashes."""
    return "".join(
        f'<span class="key"><svg viewBox="0 0 40 8" aria-hidden="true"><path d="M0,4 h40" {_pen(place)}/></svg> '
        f"{_label(name)}</span>"
        for place, name in enumerate(names)
    )


def _pen(place: int) -> str:
    return f'stroke="{COLOURS[place % len(COLOURS)]}" stroke-dasharray="{DASHES[place % len(DASHES)]}" stroke-width="2"'


def _label(text: str) -> str:
    return saxutils.escape(text, {'"': "&quot;"})


def _round_up(value: float) -> float:
    """Return the next figure that is easy to read: 1, 2 or 5 with zeros, but at least 4."""
    figures = (factor * 10.0**power for power in count() for factor in (1, 2, 4, 5))
    return next(figure for figure in figures if figure >= max(value, 4))


_STYLE: Final = """
svg { width: 100%; height: auto; }
svg text { font-size: 11px; fill: currentColor; }
svg .grid { stroke: #8884; }
.key { margin-right: 1.2rem; white-space: nowrap; } .key svg { width: 2.5rem; vertical-align: middle; }
"""

_PLOTS: tuple[tuple[str, Callable[[Moment], float], bool], ...] = (
    ("CPUs in use", lambda moment: moment.cpu, True),
    ("CPUs stranded at NUMA borders", lambda moment: moment.fragmentation, True),
    ("Pods that wait", lambda moment: moment.waiting, False),
    ("Pods rejected so far", lambda moment: moment.rejected, False),
    ("Pods that run", lambda moment: moment.running, False),
)


def simulate_html(result: SimulateResult, document: Document, command: str) -> str:
    """Write the page: the document of the same result for people, with plots; `command` made it."""
    done = [(one.name, one.report) for one in result.runs if one.report is not None]
    plots = []
    for title, value, share in _PLOTS:
        series = [Series(name, tuple([(one.at_s, value(one)) for one in report.moments])) for name, report in done]
        plots.append(f"<h2>{title}</h2>\n{plot(title, series, share=share)}")
    verdict = "; ".join(
        f"{name}: {one.admitted:,} of {one.submitted:,} pods admitted, rejections: {sum(one.rejected.values()):,}"
        for name, one in done
    )
    body = f"{html.blocks(document)}\n<p>{legend([name for name, _ in done])}</p>\n" + "\n".join(plots)
    return html.page(f"Simulation of {result.cluster}", verdict, command, body, _STYLE)
