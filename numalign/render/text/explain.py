"""What `explain` shows: why a pod was refused and what would admit it; or where it is and what that costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.analysis.reasons.order import Told, key
from numalign.analysis.reasons.refusal import in_short
from numalign.errors import CrashError, StartError
from numalign.model.resources import CPU
from numalign.model.words import few_of, sentence
from numalign.render.page.document import Block, Cell, Command, Document, Note, Paragraph, Table, Title
from numalign.render.text.admit import header, machine_line
from numalign.render.text.aligned_then import unaligned
from numalign.render.text.alignment import together_lines
from numalign.render.text.amounts import MAX_IDS_NAMED, listed, nodes_text
from numalign.render.text.changes import Advice, changes_lines
from numalign.render.text.details import alternatives_lines, details, first_of_all, meant, next_lines, plugins_to_mend
from numalign.render.text.judgements import closer_lines, judgements, unpinned_lines
from numalign.render.text.reasons import settings_text
from numalign.render.text.tables import allocated, distance_text, tables
from numalign.render.text.words import lines, words
from numalign.results.explain import ExplainedPod, ExplainResult, reasons_of

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal
    from numalign.kubelet.config import KubeletConfig
    from numalign.model.machine import Machine
    from numalign.results.admit import PodResult
    from numalign.results.dra import NodeClaims
    from numalign.results.dra import Verdict as ClaimsVerdict

VERDICTS = {
    True: ", even on an empty node with these settings",
    False: " now. An empty node would admit the pod.",
}


NEVER_ANOTHER = "even on an empty node, at container"
"""Said instead where another container than the one refused now is in the way on an empty machine."""


def explain_document(result: ExplainResult, origin: str, advice: Sequence[Advice], *, wide: bool = False) -> Document:
    """Tell all pods, under the header that names machine and settings; `wide`: with the full command of each fix."""
    head = header(result.setup, origin, result.reserved_cpus)
    document: list[Block] = [Note(text, "dim") for text in head]
    for one, next_commands in zip(result.pods, advice, strict=True):
        with_claims = _with_claims(result.claims, one.pod)
        document += [Paragraph(), *explanation(result.setup.config, one, next_commands, with_claims, wide=wide)]
        document += _more(one)
    if result.together:
        document += [Paragraph(), *map(Paragraph, together_lines(result.together))]
    if result.claims is not None:
        from numalign.render.text.claimed import claims_document

        document += claims_document(result.claims, write=True)
    return document


def _with_claims(claims: NodeClaims | None, pod: PodResult) -> dict[str, ClaimsVerdict]:
    """Return the verdict over both worlds by container, for those with claims."""
    return {
        container.container: container.verdict
        for one in (claims.pods if claims is not None else ())
        if (one.namespace, one.pod) == (pod.namespace, pod.name)
        for container in one.containers
    }


def start_document(machine: Machine, origin: str, error: StartError, check: str) -> Document:
    """Tell that there is no kubelet to ask; `check` is the command that goes on from here."""
    return [
        Note(machine_line(machine, origin), "dim"),
        Paragraph(),
        *_no_kubelet(error),
        Command(check, 5),
    ]


def _no_kubelet(error: StartError) -> Iterator[Block]:
    if isinstance(error, CrashError):
        yield Note(sentence(error.message), "bad")
        yield Paragraph("For the reason, run:", 2)
        return
    yield Note("The kubelet does not start with these settings on this machine. No pod runs.", "bad")
    yield Paragraph(f'Kubelet: "{error.message}"', 2)
    yield Paragraph("For the errors and a configuration that starts, run:", 2)


def _more(told: ExplainedPod) -> Iterator[Block]:
    for place, table in enumerate(told.matrices):
        if told.details is not None:
            yield from details(told.details[place])
        if told.alternatives is not None:
            yield from alternatives_lines(table.container, told.alternatives[place])


def explanation(
    config: KubeletConfig,
    told: ExplainedPod,
    advice: Advice,
    with_claims: Mapping[str, ClaimsVerdict] = {},
    *,
    wide: bool = False,
) -> Document:
    """Tell one pod; `with_claims` has the verdict over both worlds by container."""
    if told.refusal is None:
        judged = list(judgements(told, with_claims))
        above, below = (judged, []) if told.containers == 1 else ([], judged)
        better = changes_lines(config, told, advice, reasons_of(told, config).steps, wide=wide) if told.changes else ()
        return [
            Note(admitted_text(told.pod), "warn" if told.pod.missing or told.pod.aligned is False else "good"),
            *above,
            *tables(told),
            *_placements(told),
            *below,
            *unpinned_lines(told),
            *_least_bad(told, config),
            *better,
            *closer_lines(told, wide=wide),
        ]
    found = reasons_of(told, config)
    said = found.every
    return [
        Note(f"{told.pod.name}: {verdict_text(told, told.refusal)}", "bad"),
        *(Note(first_of_all(one), "bad", 2) for one in (told.refusal.crash,) if one is not None),
        *(Title(text, 2) for text in lines(said)),
        *(Title(text, 2) for text in next_lines(told)),
        *(Title(text, 2) for text in _no_policy(told, config, said)),
        Paragraph(_kubelet_says(told.refusal, several=told.containers > 1), 2),
        *(Paragraph(text, 2) for text in (meant(told.refusal),) if text),
        *tables(told),
        *changes_lines(config, told, advice, found.steps, wide=wide),
        *(Paragraph(text, 2) for text in plugins_to_mend(told)),
    ]


def _least_bad(told: ExplainedPod, config: KubeletConfig) -> Iterator[Block]:
    """Say that nothing aligns a pod on this machine, and what comes nearest to it."""
    if told.least_bad is None:
        return
    change, then = told.least_bad
    yield Paragraph()
    yield Title("No setting aligns the pod on this machine.", 2)
    yield Paragraph(f"Least bad (tested): {'. '.join(settings_text(change, config)) or 'the settings of now'}.", 2)
    if change.flags:
        yield from (Paragraph(text, 4) for text in unaligned(change, then))


def _no_policy(told: ExplainedPod, config: KubeletConfig, said: Iterable[Told]) -> Iterator[str]:
    """Say where the policy is named as in the way that no other one does."""
    named, found, refusal = config.topology_manager_policy, told.no_policy, told.refusal
    if found is None or refusal is None or refusal.crash is not None:
        return
    if not any(getattr(one.fact, "policy", None) == named for one in said):
        return
    if found.unless:
        start = "does" if len(found.unless) == 1 else "do"
        others = f"{listed(found.unless)} (rejected so far) {start} not start before this pod"
        yield f"{found.policy} admits the pod only if {others}."
    elif never := _never_enough(found.lax):
        yield f"No other policy admits the pod: too little {listed(never)} under every policy."
    else:
        above = {key(one.fact) for one in said}
        lax = next((words(one) for one in (in_short(found.lax) if found.lax else ()) if key(one) not in above), "")
        if found.lost:
            who = few_of(found.lost, MAX_IDS_NAMED)
            lax = f"after a restart the kubelet would reject {who}."
        there = " beside the pods on the node" * found.others
        yield f"No other policy admits the pod{there}{f'. best-effort: {lax}' if lax else '.'}"


def _never_enough(lax: Refusal | None) -> Sequence[str]:
    """Name what an empty machine has too little of under the laxest policy, too."""
    if lax is None or not lax.never:
        return ()
    ever = lax.empty or lax
    counted = ever.stage in ("hints", "allocation") and not ever.odd_cores and not ever.around.unreadable
    return ever.for_ever().resources if counted and ever.lasting else ()


def verdict_text(told: ExplainedPod, refusal: Refusal) -> str:
    """Say what becomes of a pod, and whether an empty machine would do better."""
    if refusal.crash is None:
        other = refusal.empty.at if refusal.empty is not None else None
        if other not in (None, refusal.at) and refusal.at is not None and told.containers > 1:
            return f"rejected{_where(told)} now, {NEVER_ANOTHER} {other}"
        return f"rejected{_where(told)}{VERDICTS[refusal.never]}"
    what = "crashes the kubelet" if refusal.stage == "panic" else "hangs the kubelet"
    empty = refusal.empty
    if not refusal.never:
        return f"{what} now. An empty node would admit the pod."
    if empty is not None and empty.crash is None:
        return f"{what} now. An empty node would reject the pod."
    return f"{what}, even on an empty node"


def _where(told: ExplainedPod) -> str:
    """Name the container of several at which a pod was refused, where the sentences are about that one alone."""
    refusal = told.refusal
    return "" if refusal is None or refusal.at is None or told.containers == 1 else f" at container {refusal.at}"


def admitted_text(pod: PodResult) -> str:
    """Say that a pod is admitted, and whether it is aligned."""
    return f"{pod.name}: admitted{f' without {listed(pod.missing)}' if pod.missing else _judged(pod)}"


def _judged(pod: PodResult) -> str:
    """Say whether a pod is aligned, behind its admission."""
    judged = [one.alignment for one in pod.containers]
    verdicts = {one.verdict for one in judged} - {"none"}
    if not verdicts:
        return ", nothing to align"
    if verdicts == {"aligned"}:
        return f", aligned on {nodes_text(reduce(or_, (one.nodes for one in judged)))}"
    if verdicts & {"spread", "floating", "incomplete"}:
        return f", NOT aligned ({listed(sorted(verdicts - {'aligned', 'unknown'}))})"
    return ", alignment unknown"


DOING: Mapping[str, str] = {
    "hints": "collecting hints",
    "policy": "merging hints",
    "merge": "merging hints",
    "allocation": "allocating",
    "fit": "checking node totals",
    "panic": "during admission",
    "hang": "during admission",
}
"""Stage -> what the kubelet was doing, in an operator's words."""


def _kubelet_says(refusal: Refusal, *, several: bool) -> str:
    """Quote the kubelet; of a whole pod of several containers it names the one at which it stopped."""
    where = DOING[refusal.stage] + (f" for container {refusal.container}" if refusal.container else "")
    if refusal.container and refusal.at is None and several:
        where += " (the first to fail)"
    if refusal.stage == "hang":
        return f"The kubelet gives no other message, {where}: {refusal.message}"
    if refusal.crash is not None:
        return f'Kubelet panic, {where}: "{refusal.message}"'
    return f'Kubelet, {where}: "{refusal.reason}: {refusal.message}"'


def _placements(told: ExplainedPod) -> Iterator[Block]:
    """Lay out where containers are whose tables do not say it."""
    rows: list[tuple[Cell, ...]] = []
    there = allocated(told)
    for placement in told.placements:
        if placement.container in there:
            continue
        pinned = any(place.resource == CPU for place in placement.places)
        for place in placement.places:
            far = distance_text(place.distance, pinned=pinned)
            rows.append((placement.container, place.resource, nodes_text(place.nodes), far))
    if rows:
        yield Paragraph()
        yield Table(("CONTAINER", "RESOURCE", "ALLOCATED", "DISTANCE"), tuple(rows), indent=2)
