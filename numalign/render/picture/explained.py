"""An explanation as a picture: the verdict and why, the machine as it is, the first fix, and the machine with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.kubelet.config import KubeletConfig
from numalign.render.picture.canvas import Picture
from numalign.render.picture.looks import state_of
from numalign.render.picture.occupants import draw_scenes
from numalign.render.picture.said import Said
from numalign.render.text.explain import admitted_text
from numalign.render.text.in_brief import briefs, fix_text
from numalign.results.compare import Scene
from numalign.results.explain import ExplainedPod, ExplainResult, first_problem


def draw_explained(result: ExplainResult, scenes: Sequence[Scene], flags: Sequence[Sequence[str]]) -> Picture:
    """Draw the first pod that was rejected or is not aligned, among the others.

    Args:
        result: the explanation.
        scenes: the node as it is, and with the first fix, if there is one.
        flags: pod by pod and fix by fix, what a fix adds to the command.
    """
    place = first_problem(result.pods)
    if place is None:
        return draw_scenes(scenes)
    told = result.pods[place]
    said = list(briefs(told.pod, told, result.setup))
    several = len(said) > 1
    why = [f"container {one.container}: {one.why}" if several else one.why for one in said]
    if told.pod.admitted:
        head = admitted_text(told.pod)
    else:
        head, why = f"{told.pod.name}: {said[0].verdict}", [*why, said[0].kubelet]
    asked = told.matrices[-1] if told.matrices and not told.pod.admitted else None
    drawn = len(scenes) > 1  # else nothing was tried, as where the manifest keeps CPUs from being pinned
    first = fix_text(told, result.setup.config, 0) if drawn else said[0].fix
    fix = [f"fix: {first}"] * bool(first)
    why = [text for text in (*why, *(() if drawn else fix)) if text]
    between = [*fix, *flags[place][:1], *_aligns(told, result.setup.config, flags[place])] if drawn else ()
    return draw_scenes(scenes, Said(state_of(told.pod), head, why, asked), between)


def _aligns(told: ExplainedPod, config: KubeletConfig, flags: Sequence[str]) -> Iterator[str]:
    """Where the first fix does not align the pod, name the first that does, or say that none was found."""
    if told.changes[0].aligned is not False:
        return
    better = next((place for place, change in enumerate(told.changes) if change.aligned), None)
    if better is None:
        yield "No fix found aligns the pod."
    else:
        yield f"fix that aligns: {fix_text(told, config, better)}"
        yield from flags[better : better + 1]
