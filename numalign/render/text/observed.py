"""That an answer is not what happened: what the kubelet did, and what the answer rests on that is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.page.document import Block, Note, Paragraph

if TYPE_CHECKING:
    from numalign.results.admit import PodResult
    from numalign.results.explain import Observed


def difference_text(pod: PodResult, observed: Observed | None) -> str:
    """Say in a line how an answer differs from what happened; empty: it does not, or nothing is known to have."""
    if observed is None or (observed.rejected, observed.reason) == (not pod.admitted, pod.reason):
        return ""
    did = f"rejected the pod ({observed.reason})" if observed.rejected else "admitted the pod"
    says = "admitted" if pod.admitted else f"rejected ({pod.reason or pod.stage})"
    return f"{pod.name}: the kubelet {did}. The answer of numalign differs: {says}."


def difference_blocks(text: str, message: str, unknown: Sequence[str], node: str) -> list[Block]:
    """Lay out how an answer differs from what happened, why that may be, and what would make it exact."""
    quote = [Paragraph(f'Kubelet: "{message}"', 2)] * bool(message)
    known = [Paragraph(f"Unknown: {clause}.", 2) for clause in unknown]
    fix = [Paragraph(f"fix: run numalign snapshot on {node}, and add --node with its file", 2)] * bool(unknown)
    return [Note(text, "bad"), *quote, *known, *fix, Paragraph()]
