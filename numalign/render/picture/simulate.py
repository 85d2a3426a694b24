"""A simulation as one HTML file: figures, plots, and filter against kubelet; nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from numalign.render.escape import printable
from numalign.render.page.document import Document, Line, Table, text_of
from numalign.render.picture.plots import Series, legend, plot
from numalign.results.simulate import SimulateResult
from numalign.scheduler.simulate.report import Moment

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #8884; text-align: left; }
td.right, th.right { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; }
svg text { font-size: 11px; fill: currentColor; }
svg .grid { stroke: #8884; }
.key { margin-right: 1.2rem; } .key i { display: inline-block; width: 1rem; height: .25rem; margin-right: .4rem;
vertical-align: middle; }
.bad { color: #c0392b; font-weight: bold; } .warn { color: #b36b00; }
"""

_PLOTS: tuple[tuple[str, Callable[[Moment], float], bool], ...] = (
    ("CPUs in use", lambda moment: moment.cpu, True),
    ("Room lost at NUMA borders", lambda moment: moment.fragmentation, True),
    ("Pods that wait", lambda moment: moment.waiting, False),
    ("Pods refused until then", lambda moment: moment.rejected, False),
    ("Pods that run", lambda moment: moment.running, False),
)


def simulate_html(result: SimulateResult, document: Document) -> str:
    """Write the page: the document of the same result for people, with plots."""
    done = [one for one in result.runs if one.report is not None]
    plots = []
    for title, value, share in _PLOTS:
        series = [
            Series(one.name, tuple([(moment.at_s, value(moment)) for moment in one.report.moments]))
            for one in done
            if one.report is not None
        ]
        plots.append(f"<h2>{title}</h2>\n{plot(title, series, share=share)}")
    body = "\n".join(_part(part) for part in document)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Simulation of {_text(result.cluster)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Simulation</h1>\n{body}\n<p>{legend([one.name for one in done])}</p>\n"
        + "\n".join(plots)
        + "\n</body>\n</html>\n"
    )


def _part(part: Line | Table) -> str:
    if isinstance(part, Line):
        return f'<p class="{part.style}">{_text(part.text)}</p>' if part.text else ""
    right = [' class="right"' if column in part.right else "" for column in part.columns]
    head = "".join(f"<th{look}>{_text(column)}</th>" for column, look in zip(part.columns, right, strict=True))
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td{look}>{_text(text_of(cell))}</td>" for cell, look in zip(row, right, strict=True))
        + "</tr>"
        for row in part.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _text(text: str) -> str:
    return escape(printable(text))
