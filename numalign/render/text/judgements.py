"""Whether each container of an admitted pod is aligned, and what brings it closer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.render.page.document import Block, Command, Note, Paragraph
from numalign.render.text.alignment import bus_text, cause_text, least_text, nearby_texts, reason_of
from numalign.render.text.amounts import listed, nodes_text
from numalign.render.text.hardware import CLOSENESS, pair_text
from numalign.render.text.spread import one_side_text
from numalign.render.text.tables import in_the_table, mean_distance

if TYPE_CHECKING:
    from numalign.analysis import Verdict
    from numalign.analysis.placement import Placement
    from numalign.results.admit import ContainerResult
    from numalign.results.dra import Verdict as ClaimsVerdict
    from numalign.results.explain import ExplainedPod


def judgements(told: ExplainedPod, with_claims: Mapping[str, ClaimsVerdict]) -> Iterator[Block]:
    """Say of each container whether it is aligned; of the only one the verdict on the pod says it."""
    if told.containers > 1:
        yield Paragraph()
    for container, placement in zip(told.pod.containers, told.placements, strict=True):
        yield from _judgement(told, container, placement, with_claims.get(container.name, "aligned"))
        for pair in [pair for pair in container.neighbours if not pair.alike]:
            words = f"{pair.resource} {pair.device} and {pair.other_resource} {pair.other_device}"
            yield Note(f"{words}: {pair_text(pair)}", "warn" if pair.closeness == "other node" else "", 4)
        gpus = [pair for pair in container.neighbours if pair.alike]
        yield from [Paragraph(bus_text(gpus), 4 if told.containers > 1 else 2)] * bool(gpus)


def closer_lines(told: ExplainedPod, *, wide: bool) -> Iterator[Block]:
    """Say what brings GPUs and NICs closer, container by container; `wide`: with what to write of claims."""
    now = {one.name: one.devices for one in told.pod.containers}
    for name, ways in groupby(told.closer, key=lambda one: one.container):
        whose = f" of container {name}" * (told.containers > 1)
        yield from (Paragraph(), Paragraph(f"To bring each GPU{whose} closer to a NIC:", 2))
        for way in ways:
            where = CLOSENESS[way.closeness]
            if way.amounts:
                parts = [f"{new} {one} (now {len(now[name][one])})" for one, new in way.amounts.items()]
                yield Paragraph(f"fix: request {listed(parts)}: {where} (tested)", 4)
                yield Command(" ".join(f"--set {name}:{one}={number}" for one, number in way.amounts.items()), 9)
            elif way.numa:
                pool = f"fix: offer the NICs of {nodes_text(way.numa)} as a separate resource, and request it"
                yield Paragraph(f"{pool}: {where} (tested on an empty node)", 4)
            elif way.write:
                yield Paragraph(f"fix: claim the devices of DRA drivers: {where} (tested on an empty node)", 4)
                yield from (Paragraph(line, 9) for line in way.write if wide)
            else:
                yield Paragraph(
                    "No fix found. Tested: larger requests of NICs, and claims if the PCIe roots are known.", 4
                )


def unpinned_lines(told: ExplainedPod) -> Iterator[Block]:
    """Say why containers have no CPUs of their own, where their verdict does not; and what to write instead."""
    floating = {one.name for one in told.pod.containers if one.alignment.verdict == "floating"}
    for one in told.unpinned:
        if one.container not in floating:
            yield Note(
                f"Container {one.container}: the CPUs are not pinned ({cause_text(one.cause, told.pod.qos)}).",
                "warn",
                2,
            )
    if not told.changes and any(one.cause.kind == "cpu-manager" for one in told.unpinned):
        yield Paragraph("fix: --cpu-manager-policy static", 2)
    every = {(blame.container, blame.message): blame for one in told.unpinned for blame in one.blame}
    if every:
        yield Paragraph("To pin the CPUs:", 2)
    for blame in every.values():
        yield Paragraph(f"Container {blame.container}: {blame.message}", 4)
        yield Paragraph(f"fix: {blame.advice}", 6)


def _judgement(
    told: ExplainedPod, container: ContainerResult, placement: Placement, with_claims: ClaimsVerdict
) -> Iterator[Block]:
    """Say whether a container is aligned: what the kubelet gives may be while a claimed device lies elsewhere."""
    name, judged, several = f"Container {container.name}: ", container.alignment, told.containers > 1
    if judged.verdict == "none":
        if several:
            yield Paragraph(f"{name}nothing to align", 2)
        return
    far = [] if container.name in in_the_table(told) else list(_distance(placement))
    if judged.verdict == "aligned":
        near = [f"{text}." for text in nearby_texts(judged)]
        if with_claims == "aligned":
            where = [f"{name}aligned on {nodes_text(judged.nodes)}."] * several
            if where or far or near:
                yield Note(" ".join([*where, *far, *near]), "good", 2)
            return
        word = "alignment unknown" if with_claims == "unknown" else f"NOT aligned ({with_claims})"
        without = f"without claims aligned on {nodes_text(judged.nodes)}."
        yield Note(" ".join([f"{name}{word} with its claims, {without}", *far, *near]), "warn", 2)
        return
    least = [f"{least_text(judged)}."] * bool(judged.remote and not one_side_text(container))
    verdict = [f"{name}{VERDICT_WORDS[judged.verdict]}."] * several
    yield Note(" ".join([*verdict, reason_of(container, told.pod.qos), *far, *least]), "warn", 2)


def _distance(placement: Placement) -> Iterator[str]:
    if mean := mean_distance(placement):
        yield f"Mean NUMA distance: {mean} (local: {placement.local})."


VERDICT_WORDS: Mapping[Verdict, str] = {
    "spread": "NOT aligned (spread)",
    "floating": "NOT aligned (floating)",
    "incomplete": "NOT aligned (incomplete)",
    "unknown": "alignment unknown",
}
"""Verdict -> how it is told of a container that is not aligned."""
