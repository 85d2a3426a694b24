"""What the picture of occupants says: verdicts and reasons, the fix between two scenes, what is far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.order import reasons
from numalign.render.picture.canvas import Canvas, wrap
from numalign.render.picture.looks import SIGNS, State, draw_sign, state_of, worst_state
from numalign.render.picture.room import MARGIN, Box, Guest
from numalign.render.text.admit import summary
from numalign.render.text.alignment import aligned_where, reason_of
from numalign.render.text.explain import admitted_text
from numalign.render.text.words import lines as word_lines
from numalign.results.compare import Scene
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix
    from numalign.results.admit import AdmitResult, Occupant, PodResult


MAX_NAMED = 8
"""How many pods are named that were rejected for one reason, and how many reasons."""
MAX_FAR = 12
"""How many lines to far devices are drawn; more would hide the machine."""
WIDTH = 800
"""How wide the picture is."""


class Said(NamedTuple):
    """What stands above a machine."""

    state: State
    verdict: str
    why: Sequence[str] = ()
    """Paragraphs."""
    asked: Matrix | None = None
    """What a rejected pod requests, NUMA node by NUMA node."""


class Far(NamedTuple):
    """Something that a container holds away from its CPUs."""

    what: str
    """`server: gpu4-7 on NUMA 1`."""
    distance: int | None
    boxes: tuple[Box, ...]
    cpus: Box | None
    """None: the CPUs are not drawn."""

    @property
    def text(self) -> str:
        """What is how far."""
        return f"{self.what} is far from the CPUs{f': distance {self.distance}' if self.distance else ''}"


def said_of(result: AdmitResult) -> Said:
    """Say what became of the pods of a result; of a single one with the reason."""
    pods = result.pods
    if len(pods) != 1:
        counted = summary(pods).removesuffix(".") if pods else f"{result.setup.machine.name}: the pods on the node"
        return Said(worst_state(pods), counted + ", all aligned" * all(pod.aligned for pod in pods) * bool(pods))
    pod = pods[0]
    if not pod.admitted:
        why = [*filter(None, whys(result)), f'Kubelet: "{pod.reason or pod.stage}: {pod.message}"']
        return Said("rejected", f"{pod.name}: rejected ({pod.reason or pod.stage})", why)
    return Said(state_of(pod), admitted_text(pod), list(_reasons(pod)))


def _reasons(pod: PodResult) -> Iterator[str]:
    for one in pod.containers:
        if one.aligned is False:
            yield f"{f'{one.name}: ' * (len(pod.containers) > 1)}{reason_of(one, pod.qos)}"


def whys(result: AdmitResult) -> Iterator[str]:
    """Say in a sentence or two what each rejected pod lacks, in order; empty: nobody asked why."""
    for group in result.refusals:
        why = " ".join(f"{text.strip().removesuffix('.')}." for text in word_lines(reasons(group.refusal)))
        yield from [why] * group.number


def draw_between(canvas: Canvas, lines: Sequence[str], state: State, top: float) -> float:
    """Draw a frame with the fix, the sign of what comes of it, and an arrow to that."""
    wrapped = [(line, text.startswith("fix")) for text in lines for line in wrap(text, WIDTH - 2 * MARGIN - 76, 15)]
    height = max(18 + 21 * len(wrapped), 60)
    fill, pen = ("#fdf1e0", SIGNS["bad"]) if state in ("bad", "rejected") else ("#e7f1f8", SIGNS["good"])
    canvas.rect(MARGIN, top, WIDTH - 2 * MARGIN, height, f'fill="{fill}" stroke="{pen}" stroke-width="2" rx="8"')
    x = MARGIN + 24
    draw_sign(canvas, state, x - 12, top + 9, 24)
    canvas.line(x, top + 40, x, top + height + 4, f'stroke="{pen}" stroke-width="4"')
    canvas.shape([(x - 10, top + height + 2), (x + 10, top + height + 2), (x, top + height + 16)], f'fill="{pen}"')
    for place, (line, bold) in enumerate(wrapped):
        canvas.text(MARGIN + 52, top + 24 + place * 21, line, 15, bold=bold)
    return top + height + 22


def draw_not_started(canvas: Canvas, scene: Scene, top: float) -> float:
    """Say that the kubelet would not start."""
    canvas.text(MARGIN, top + 34, scene.title, 18, bold=True)
    said = f"the kubelet would not start: {scene.error}"
    return canvas.paragraph(MARGIN, top + 58, said, WIDTH - 2 * MARGIN, 13, 18) + 8


def holders_of(scene: Scene) -> Iterator[Occupant]:
    """Yield the containers that hold something."""
    return (one for one in (scene.result.occupants if scene.result else ()) if any(one.holding[:3]))


def key_of(one: Occupant) -> tuple[str, str, str]:
    """Name the container that holds something."""
    return one.namespace, one.pod, one.container


def fared(guest: Guest) -> str:
    """Say what became of a container."""
    if guest.result is None:
        return "on the node"
    judged = guest.result.alignment
    if judged.verdict == "aligned":
        return f"aligned on {aligned_where(judged)}"
    if judged.verdict == "none":
        return "nothing to align"
    word = "alignment unknown" if judged.verdict == "unknown" else f"NOT aligned ({judged.verdict})"
    return f"{word}. {reason_of(guest.result, guest.qos)}"
