"""The program and this host, for people."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.render.page.document import Document, Paragraph, Styled, Table
from numalign.results.about import About, HostCheck


def about_document(about: About) -> Document:
    """Write the program in three lines."""
    there = [name for name, found in about.extras if found]
    return [
        Paragraph(f"numalign {about.version}, Python {about.python}"),
        Paragraph(f"kubelets: {', '.join(about.exact_kubelets)} exact; {about.oldest_kubelet} and later approximate"),
        Paragraph(f"{', '.join(about.published_kubelets)}: from published changes, not recorded"),
        Paragraph(f"extras: {', '.join(there) or 'none'}"),
    ]


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
