"""The program and this host, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.render.json import Data, head
from numalign.render.page.document import Document, Line, Styled, Table
from numalign.results.about import About, HostCheck


def about_json(about: About) -> Data:
    """Write the program as data."""
    return {
        **head("Version"),
        "version": about.version,
        "python": about.python,
        "kubelets": {
            "oldest": about.oldest_kubelet,
            "newest": about.newest_kubelet,
            "exact": list(about.exact_kubelets),
        },
        "extras": dict(about.extras),
    }


def about_document(about: About) -> Document:
    """Write the program in three lines."""
    there = [name for name, found in about.extras if found]
    return [
        Line(f"numalign {about.version}, Python {about.python}"),
        Line(f"kubelets: {', '.join(about.exact_kubelets)} exactly, from {about.oldest_kubelet} on as far as known"),
        Line(f"extras: {', '.join(there) or 'none'}"),
    ]


def doctor_json(checks: Sequence[HostCheck]) -> Data:
    """Write what was found as data."""
    return {
        **head("DoctorResult"),
        "checks": [
            {"name": one.name, "found": one.found, "detail": one.detail, "usedBy": one.used_by} for one in checks
        ],
    }


def doctor_document(checks: Sequence[HostCheck]) -> Document:
    """Write what was found as a table."""
    rows = tuple(
        (
            one.name,
            Styled("yes", "good") if one.found else Styled("no", "warn"),
            one.detail,
            one.used_by,
        )
        for one in checks
    )
    return [Table(("WHAT", "FOUND", "WHERE, OR WHY NOT", "USED BY"), rows)]
