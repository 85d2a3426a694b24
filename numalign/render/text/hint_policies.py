"""The feedback document's comparison of policies, in its own table form, in a short one and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.kubelet.proposals import FEEDBACK_POLICIES
from numalign.kubelet.releases.release import version_text
from numalign.render.json import Data, head
from numalign.render.json.admit import hint_json
from numalign.render.page.document import Cell, Document, Line, Styled, Table

if TYPE_CHECKING:
    from numalign.analysis.compare.hint_policies import Compared, Verdict
    from numalign.kubelet.releases.release import Kubelet
    from numalign.kubelet.topology.hints import TopologyHint

TITLES = {"preferred": "Best-Effort", "strict": "Strict", "proposed-strict": "Proposed Strict"}
"""The document's names. Its `preferred` is what it wants to be called best-effort."""

LABEL = "beyond the kubelet: policies of Topology Manager Feedback, round 2 (2019)"


def feedback_document(compared: Sequence[Compared], nodes: int) -> Document:
    """Draw the document's table: hints as tuples, a cell a policy."""
    rows = [("Providers", "Hints", *TITLES.values())]
    cells: list[Sequence[Sequence[str]]] = [[[text] for text in rows[0]]]
    for one in compared:
        providers: list[str] = []
        hints: list[str] = []
        for name, listed in one.providers.items():
            providers += [name, *[""] * (len(listed) - 1)]
            hints += [_tuple(hint, nodes) for hint in listed] or ["()"]
        verdicts = [verdict for verdict in one.verdicts if verdict.policy in FEEDBACK_POLICIES]
        cells.append(
            [
                providers,
                hints,
                *(["Merged Hint:", _tuple(verdict.hint, nodes), f"Admit Pod: {verdict.admit}"] for verdict in verdicts),
            ]
        )
    return [Line(LABEL, "dim"), Line(), *map(Line, _grid(cells))]


def _tuple(hint: TopologyHint, nodes: int) -> str:
    """Write a hint as the document does: `((0, 1), True)`, the highest node first."""
    if hint.numa_affinity is None:
        return f"(None, {hint.preferred})"
    digits = ", ".join(format(hint.numa_affinity, f"0{nodes}b"))
    return f"(({digits}{',' * (nodes == 1)}), {hint.preferred})"


def _grid(rows: Sequence[Sequence[Sequence[str]]]) -> Iterable[str]:
    """Draw cells of several lines with a frame around each; five columns of two nodes' hints fit 80 columns."""
    widths = [max(len(line) for row in rows for line in row[place]) for place in range(len(rows[0]))]
    rule = "+" + "+".join("-" * width for width in widths) + "+"
    yield rule
    for row in rows:
        for place in range(max(map(len, row))):
            lines = [cell[place] if place < len(cell) else "" for cell in row]
            yield "|" + "|".join(line.ljust(width) for line, width in zip(lines, widths, strict=True)) + "|"
        yield rule


def policies_document(compared: Sequence[Compared], nodes: int, kubelet: Kubelet) -> Document:
    """Lay out all policies, a row for each set of hints."""
    names = list(compared[0].providers)
    policies = [verdict.policy for verdict in compared[0].verdicts]
    rows: list[tuple[Cell, ...]] = []
    for one in compared:
        lists = [" ".join(short_hint(hint, nodes) for hint in one.providers[name]) or "none" for name in names]
        rows.append((*lists, *(_verdict(verdict, nodes) for verdict in one.verdicts)))
    document: list[Line | Table] = [
        Line(LABEL, "dim"),
        Line(f"{', '.join(policies[len(FEEDBACK_POLICIES) :])}: kubelet {version_text(kubelet.version)}", "dim"),
        Line(),
        Table((*names, *(policy.upper() for policy in policies)), tuple(rows)),
    ]
    if len(compared) == 1 and compared[0].cross_product:
        document += [Line(), _cross_product(compared[0], nodes)]
    return document


def _cross_product(compared: Compared, nodes: int) -> Table:
    """Write the combinations as the announcement does."""
    rows = tuple(
        (*(announced_hint(hint, nodes) for hint in entry.hints), announced_hint(entry.merged, nodes))
        for entry in compared.cross_product
    )
    return Table((*compared.providers, "MERGED"), rows)


def announced_hint(hint: TopologyHint, nodes: int) -> str:
    """Write a hint as the announcement of the Topology Manager does: `{01: True}`."""
    mask = "no mask" if hint.numa_affinity is None else format(hint.numa_affinity, f"0{nodes}b")
    return f"{{{mask}: {hint.preferred}}}"


def short_hint(hint: TopologyHint, nodes: int) -> str:
    """Write a hint in short: `01:T`, the highest node first, or `nil:T` without a mask."""
    mask = "nil" if hint.numa_affinity is None else format(hint.numa_affinity, f"0{nodes}b")
    return f"{mask}:{'T' if hint.preferred else 'F'}"


def _verdict(verdict: Verdict, nodes: int) -> Styled:
    return Styled(
        f"{short_hint(verdict.hint, nodes)} {'admit' if verdict.admit else 'refuse'}",
        "good" if verdict.admit else "bad",
    )


def policies_json(compared: Iterable[Compared], nodes: int, kubelet: Kubelet) -> Data:
    """Write the comparison for programs."""
    return {
        **head("HintComparison"),
        "numaNodes": nodes,
        "kubeletVersion": version_text(kubelet.version),
        "combinations": [
            {
                "providers": {name: [hint_json(hint) for hint in hints] for name, hints in one.providers.items()},
                "policies": [
                    {"policy": verdict.policy, "hint": hint_json(verdict.hint), "admit": verdict.admit}
                    for verdict in one.verdicts
                ],
                "crossProduct": [
                    {"hints": [hint_json(hint) for hint in entry.hints], "merged": hint_json(entry.merged)}
                    for entry in one.cross_product
                ],
            }
            for one in compared
        ],
        "warnings": [{"code": "beyond-policy", "message": LABEL, "path": "--hints"}],
    }
