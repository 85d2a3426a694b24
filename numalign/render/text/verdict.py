"""A verdict as a cell of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.render.page.document import Cell, Style, Styled
from numalign.render.text.alignment import WORDS
from numalign.render.text.amounts import nodes_text

if TYPE_CHECKING:
    from numalign.analysis import Verdict
    from numalign.analysis.alignment import Alignment


def verdict_cell(judged: Alignment) -> Cell:
    """Write the verdict on a container: `yes, node 0`, `NO, spread`."""
    if judged.verdict == "aligned":
        return Styled(f"{WORDS['aligned']}, {nodes_text(judged.nodes)}", "good")
    return verdict_word(judged.verdict)


def verdict_word(verdict: Verdict) -> Cell:
    """Write the verdict on several containers: `yes`, `NO, spread`."""
    style: Style = "good" if verdict == "aligned" else "" if verdict == "none" else "warn"
    return Styled(WORDS[verdict], style)
