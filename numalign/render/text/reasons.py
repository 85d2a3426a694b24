"""Why the parts of changes are needed, line by line, and no reason twice: what is told above is not told again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.whatif.settings import POLICY
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.render.text.amounts import amount_text, listed, quantity_text
from numalign.render.text.because import because
from numalign.render.text.held import STAYS, TOO_LITTLE_NOW
from numalign.render.text.refusal.short import no_others_count
from numalign.render.text.refusal.why import Sentence, sentences
from numalign.render.text.settings import effects
from numalign.render.text.steps import Step, grouped, without_container

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.explain import ExplainedPod

FREE = re.compile(r"\bfree\b|requested by other pods|, where it goes, has ")
"""What is told of the state of the node."""

ABOVE = "as told above"

LONG = 72
"""Texts of so many characters, about a line of a terminal, are told once."""

THEN = r" then(?= \()"
"""What is free after another part of a change is told so, also where it is what is free now."""

TAKES = ": takes "
"""Said of a resource that takes several nodes."""

WIDTHS = " wants each on as few nodes as it can do with"
"""The rule about resources that differ in width, which is told after each of them."""

ABOUT_PODS = ("without ", "these ", "else ", ABOVE, "as in ")
"""How sentences about pods to move begin that say what they hold or ask for, or where that is said."""

MANY_PODS = 4
"""So many pods that are moved are not named once more."""


def every_step(told: ExplainedPod, config: KubeletConfig, above: Iterable[Sentence]) -> list[list[Step]]:
    """Put the parts of each change together; pods to move first, as what may be asked then is told without them.

    Args:
        told: the pod.
        config: the settings as they are.
        above: the sentences about the refusal itself, with all that refuses the pod besides.
    """
    head = [one.text for one in sentences(told.refusal)] if told.refusal is not None else []
    known = [one.text for one in above]
    if told.refusal is not None and told.refusal.at is not None:
        known += [f"container {told.refusal.at}: {one}" for one in known]
    said: dict[tuple[str, ...], int] = {}
    steps = []
    for number, (change, after) in enumerate(zip(told.changes, told.after, strict=True), start=1):
        parts = sorted(change.parts, key=lambda part: not part.change.pods)
        reasons = [because(part, told.refusal, after, config, whole=change, head=head) for part in parts]
        found = grouped(change, list(zip(parts, reasons, strict=True)))
        steps.append([_shortened(each, known, said, number, config) for each in found])
    return steps


def _shortened(
    step: Step, above: Collection[str], said: dict[tuple[str, ...], int], number: int, config: KubeletConfig
) -> Step:
    """Shorten a reason; of a setting say what it does about what is told above."""
    texts = _short(step, above, said, number)
    if len(texts) == 1 and texts[0].startswith(ABOVE):
        texts = ["; ".join([texts[0], *effects(step.part.change, config)])]
    return step._replace(sentences=texts)


def _short(step: Step, above: Collection[str], said: dict[tuple[str, ...], int], number: int) -> Sequence[str]:
    """Leave out of a reason what is told of the refusal itself, or refer to the change where it is told."""
    sentences = list(step.sentences)
    if not long(sentences):
        return sentences
    new = [one for one in sentences if re.sub(THEN, "", one) not in above]
    if not new:
        return [f"{ABOVE}{_of_which(step, sentences)}"]
    of_pods = bool(step.part.change.pods) and sentences[: len(new)] == new  # what they hold, then what is in the way
    of_widths = any(WIDTHS in one for one in sentences) and any(TAKES in one for one in new)
    if of_pods or of_widths:
        sentences = new
    first = said.setdefault(tuple(sentences), number)
    return [f"as in {first}."] if first != number and long(sentences) else sentences


def _of_which(step: Step, texts: Sequence[str]) -> str:
    """Name the resources that a reason is about, where what is done does not."""
    told = [] if step.part.change.amounts else map(without_container, texts)
    names = [one.partition(": ")[0] for one in told if ": " in one]
    return f" of {listed(list(dict.fromkeys(names)))}" * bool(names) if not any(" " in one for one in names) else ""


def long(texts: Sequence[str]) -> bool:
    """Tell whether a text is so long that to look it up is quicker than to read it again."""
    return sum(map(len, texts)) > LONG


def reason_lines(step: Step, whole: WayOut) -> Iterator[str]:
    """Write why a part, or so many of them, are needed; what is free is told as it is without pods that are moved."""
    part, sentences, of = step.part, step.sentences, len(step.changes)
    whose = {1: "", 2: "both"}.get(of, f"all {of}")
    head = f"why{f' {whose}' * (of > 1)}{_next_cores(part)}: "
    if part.larger and (not all(part.change.amounts.values()) or _to_whole_ones(part)):
        [(_, resource)] = part.change.amounts
        head = f"why not even {amount_text(resource, part.larger // NANO)}{f' of {whose}' * (of > 1)}: "
    elif part.larger:
        head = f"why no more{f' of {whose}' * (of > 1)}{_next_cores(part)}: "
    if whole.pods and not part.change.pods and any(FREE.search(one) for one in sentences):
        names = listed([pod.name for pod in whole.pods]) if len(whole.pods) < MANY_PODS else "these pods"
        head = f"{head.removesuffix(': ')}, once {names} {'is' if len(whole.pods) == 1 else 'are'} gone: "
    below = " below" * (len(whole.parts) > 1 and bool(part.change.pods))  # pods to move come first
    for place, text in enumerate(_while_there(part, sentences)):
        yield f"{'     ' if place else head}{text.replace(' as reduced', f' as reduced{below}')}"
    if POLICY in part.change.flags and whole.too_strict:
        yield from (f"     {policy} {_still(one)}" for policy, one in whole.too_strict.items())


def _while_there(part: Part, sentences: Sequence[str]) -> Iterator[str]:
    """Say of what follows what pods to move hold that it is so as long as they stay, where that is not said of each."""
    names = [pod.name for pod in part.change.pods]
    told = not names or any(text.endswith(STAYS) or TOO_LITTLE_NOW in text for text in sentences)
    for text in sentences:
        held = text.partition(" ")[0] in names or text.startswith(ABOUT_PODS)
        yield text if told or held else f"as long as {'it stays' if len(names) == 1 else 'they stay'}: {text}"
        told = told or not held


def _still(refusal: Refusal) -> str:
    """Say what becomes of a pod under a policy that does not do, and why."""
    if refusal.crash is not None:
        return f"{'hangs' if refusal.stage == 'hang' else 'crashes'} the kubelet, too"
    return f"still refuses it{_in_a_word(refusal)}"


def _in_a_word(refusal: Refusal) -> str:
    """Say why a policy refuses a pod, as short as can be."""
    rows = {row.resource: row.width for row in refusal.culprits}
    joint = refusal.around.joint
    together = [f"{listed(list(joint.resources))} together take {joint.width}"] if joint is not None else []
    rows = {name: width for name, width in rows.items() if joint is None or name not in joint.resources}
    if refusal.stage == "policy" and (together or len(set(rows.values())) > 1):
        few = [name for name, width in rows.items() if width == 1]
        many = [*(f"{name} takes {width}" for name, width in rows.items() if width > 1), *together]
        return f": {listed(few)} {'fits' if len(few) == 1 else 'fit'} one node, {listed(many)}" if few else ""
    if refusal.stage == "policy" and len(rows) == 1:
        [(name, width)] = rows.items()
        return f": it takes {name} from {'one node' if width == 1 else f'{width} nodes'} only"
    if refusal.stage == "merge":
        return f": {listed(list(rows))} are not free on the same nodes"
    if refusal.stage == "allocation" and rows:
        return f": the nodes chosen cannot give it {listed(list(rows))}"
    unknown = [
        row.resource for row in refusal.culprits if row.loose is not None and no_others_count(row, row.loose, refusal)
    ]
    return f": it counts no {listed(unknown)} of an unknown node, either" if unknown else ""


def _to_whole_ones(part: Part) -> bool:
    """Tell whether a part asks for a share of a CPU, and more would be whole ones."""
    shares = any(key[1] == CPU and nano % NANO for key, nano in part.change.amounts.items())
    return shares and not part.larger % NANO and len(part.change.amounts) == 1 and part.change.own_cpus


def _next_cores(part: Part) -> str:
    """Name the next larger number of CPUs where only whole cores are given out; that may be what is asked."""
    keys, cores = list(part.change.amounts), part.change.cores
    if len(keys) != 1 or keys[0][1] != CPU or cores < 2:
        return ""
    nano, asked = part.change.amounts[keys[0]], part.change.asked[keys[0]]
    if nano % NANO:
        return ""
    if not part.larger and asked - nano != cores * NANO:
        return ""
    return f" (the next whole core makes {quantity_text(part.larger or asked)})"
