"""What `admit` tells build servers: a check a pod."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.analysis.alignment import alignment
from numalign.kubelet.admission import Outcome
from numalign.kubelet.node import Node
from numalign.render.ci.checks import Check, Problem
from numalign.render.page.document import text_of
from numalign.render.text.admit import alignment_text

NOT_ALIGNED = "NotAligned"
"""Title of what an admitted container got: numalign's own word, the kubelet has none."""


def admit_check(node: Node, outcome: Outcome, file: str | None, line: int, fails: bool) -> Check:
    """Make the check of one pod; `fails` says whether it makes the answer no."""
    group = f"{node.machine.name}.{node.policy}"
    problems = [_refusal(outcome, fails)] if not outcome.admit else _unaligned(node, outcome, fails)
    return Check(group, outcome.pod.name, file, line, tuple(problems))


def _refusal(outcome: Outcome, fails: bool) -> Problem:
    who = f"container {outcome.result.container}: " if outcome.result.container else ""
    reason = outcome.reason or outcome.stage
    return Problem("error" if fails else "warning", reason, f"{who}{outcome.message or reason}", fails)


def _unaligned(node: Node, outcome: Outcome, fails: bool) -> Iterator[Problem]:
    for container in outcome.demand.containers:
        judged = alignment(node, outcome.after, outcome.demand.uid, container)
        if judged.aligned is False:
            places = text_of(alignment_text(judged)).removeprefix("NO: ")
            yield Problem("error" if fails else "warning", NOT_ALIGNED, f"container {container.name}: {places}", fails)
