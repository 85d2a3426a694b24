"""The steps of a decision for who wants to check them: hints, combinations, winner; and all aligned allocations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from numalign.analysis.limits import MAX_ALLOCATIONS_SHOWN, MAX_COMBINATIONS_SHOWN
from numalign.render.json import Data
from numalign.render.json.admit import hint_json
from numalign.render.page.document import Cell, Line, Styled, Table
from numalign.render.text.amounts import nodes_text
from numalign.render.text.hint_policies import announced_hint

if TYPE_CHECKING:
    from numalign.analysis.alternatives import Alternatives
    from numalign.analysis.merging import Merging, Said
    from numalign.kubelet.topology.hints import TopologyHint

MAX_HINTS_LISTED = 16
"""How many hints a line holds; of more only the preferred ones are written, and how many there are."""

RULES: Mapping[str, str] = {
    "preferred": "a preferred hint beats one that is not",
    "fewer nodes": "both are preferred, and it has fewer nodes",
    "closer": "equally many nodes, and these are closer to each other",
    "smaller number": "equally many nodes, and its mask is the smaller number",
    "exactly as many nodes as needed": "neither is preferred, and it has exactly as many nodes as the most demanding "
    "resource needs",
    "nearest to the nodes needed": "neither is preferred, and its number of nodes is nearer to what the most demanding "
    "resource needs",
}


def details(steps: Merging) -> Iterator[Line | Table]:
    """Write one decision, step by step."""
    yield Line()
    whom = "the whole pod" if steps.container is None else f"container {steps.container}"
    yield Line(f"  details of {whom}: masks as {{binary, node 0 last: preferred}}", "bold")
    rows = [(said.provider, said.resource or "-", _said(steps.nodes, said)) for said in steps.said]
    yield Table(("PROVIDER", "RESOURCE", "HINTS"), tuple(rows), indent=2)
    yield from _walk(steps)
    if steps.policy == "none":
        yield Line("  policy none asks nobody: what the providers would say is shown, and nothing is merged")
        return
    verdict = "admits" if steps.admit else "refuses"
    yield Line(f"  the merge gives {_winner(steps)}; policy {steps.policy} {verdict}")
    if steps.admit and steps.runner_up is not None and steps.rule is not None:
        yield Line(f"  it beat {hint_text(steps.nodes, steps.runner_up)}: {RULES[steps.rule]}")


def _winner(steps: Merging) -> str:
    mask = steps.winner.numa_affinity
    if not steps.admit:
        return "nothing preferred"
    where = "" if mask is None else f" ({nodes_text(mask)})"
    return f"{hint_text(steps.nodes, steps.winner)}{where}"


def hint_text(nodes: int, hint: TopologyHint) -> str:
    """Write a hint as the announcement of the Topology Manager does, `{01: True}`; `nodes` is the mask of all nodes."""
    return announced_hint(hint, max(nodes.bit_length(), 1))


def _said(nodes: int, said: Said) -> str:
    if said.opinion != "hints":
        return {"no preference": "no preference", "cannot fit": "none: no set of nodes has enough"}[said.opinion]
    if said.hints is None:
        return f"up to {said.number}, too many to list"
    shown: Sequence[TopologyHint] = said.hints
    if said.number > MAX_HINTS_LISTED:
        shown = [hint for hint in said.hints if hint.preferred][:MAX_HINTS_LISTED]
    text = " ".join(hint_text(nodes, hint) for hint in shown) or "none preferred"
    return text if len(shown) == said.number else f"{text} and {said.number - len(shown)} more"


def _walk(steps: Merging) -> Iterator[Line | Table]:
    """The cross product: all of it where it is small, else how large it is."""
    if steps.policy == "none":
        return
    if steps.table and steps.resources:
        yield Line()
        rows: list[tuple[Cell, ...]] = []
        for entry in steps.table:
            merged = hint_text(steps.nodes, entry.merged)
            wins = entry.merged == steps.winner and steps.admit
            rows.append(
                (*(hint_text(steps.nodes, hint) for hint in entry.hints), Styled(merged, "good") if wins else merged)
            )
        yield Table((*steps.resources, "MERGED"), tuple(rows), indent=2)
        return
    count = f"{steps.combinations:,}".replace(",", " ")
    if steps.combinations > MAX_COMBINATIONS_SHOWN:
        yield Line(f"  the kubelet walks {count} combinations, which takes it about {duration(steps.seconds)}")
    elif not steps.combinations:
        yield Line("  there is no combination: some resource has no hint that the policy keeps")


def duration(seconds: float) -> str:
    """Write a time to about one digit: `20 ms`, `4 s`, `12 minutes`, `3 years`."""
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}".replace(",", " ")
    if seconds >= 1:
        return f"{seconds:.0f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def alternatives_lines(container: str | None, found: Sequence[Alternatives]) -> Iterator[Line]:
    """Write all aligned allocations of a container or pod; where there are many, how many."""
    total = sum(one.ways for one in found)
    whom = "the whole pod" if container is None else f"container {container}"
    yield Line()
    if not total:
        yield Line(f"  no aligned allocation for {whom} now")
        return
    yield Line(f"  {total} aligned allocation{'s' * (total != 1)} for {whom}:")
    if total <= MAX_ALLOCATIONS_SHOWN:
        for one in found:
            yield from (Line(f"    {_set(chosen)}") for chosen in one.listed())
        return
    for one in found:
        ways = " × ".join(
            f"{choice.ways} of {choice.resource} ({choice.amount} of {len(choice.members)})" for choice in one.choices
        )
        first = next(one.listed())
        yield Line(f"    {one.ways} on {nodes_text(one.nodes)}: {ways}; for example {_set(first)}")


def _set(chosen: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Write one allocation: `{cpu: {0, 1}, gpu: 0}`."""
    parts = (
        f"{name}: {members[0] if len(members) == 1 else '{' + ', '.join(members) + '}'}" for name, members in chosen
    )
    return f"{{{', '.join(parts)}}}"


def merging_json(steps: Merging) -> Data:
    """Write the steps for programs."""
    return {
        "container": steps.container,
        "hints": [
            {
                "provider": said.provider,
                "resource": said.resource or None,
                "opinion": said.opinion,
                "hints": None if said.hints is None else [hint_json(hint) for hint in said.hints],
                "count": said.number,
            }
            for said in steps.said
        ],
        "combinations": steps.combinations,
        "kubeletSeconds": steps.seconds,
        "crossProduct": [
            {"hints": [hint_json(hint) for hint in entry.hints], "merged": hint_json(entry.merged)}
            for entry in steps.table
        ],
        "winner": hint_json(steps.winner),
        "admit": steps.admit,
        "runnerUp": None if steps.runner_up is None else hint_json(steps.runner_up),
        "rule": steps.rule,
    }


def alternatives_json(container: str | None, found: Sequence[Alternatives]) -> Data:
    """Write the aligned allocations for programs, the first `MAX_ALLOCATIONS_SHOWN` of them."""
    listed = islice(chain.from_iterable(one.listed() for one in found), MAX_ALLOCATIONS_SHOWN)
    return {
        "container": container,
        "count": sum(one.ways for one in found),
        "allocations": [{name: list(members) for name, members in chosen} for chosen in listed],
    }
