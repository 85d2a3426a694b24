"""An answer in brief: what became of a pod and why, the first fix, the kubelet's own words. For CI and for pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.render.text.aligned_then import aligned_then, where_then
from numalign.render.text.alignment import reason_of
from numalign.render.text.changes import what_text
from numalign.render.text.explain import verdict_text
from numalign.render.text.words import lines
from numalign.results.explain import ExplainedPod, reasons_of
from numalign.values import NamedTuple
from numalign.worlds.missing import nearest_device

if TYPE_CHECKING:
    from numalign.kubelet.config import KubeletConfig
    from numalign.kubelet.setup import Setup
    from numalign.model.machine import Machine
    from numalign.results.admit import PodResult

NOT_ALIGNED = "NotAligned"
"""Title of what an admitted container got: numalign's own word, the kubelet has none."""
MISSING = "DeviceMissing"
"""Title of a container that goes without a device."""


class Brief(NamedTuple):
    """What is to be said of a pod that was rejected, or of a container that is not aligned."""

    title: str
    """The kubelet's reason, or ours."""
    container: str
    """Empty: the pod as a whole."""
    verdict: str
    why: str
    """Sentences."""
    fix: str = ""
    """Tested, as an order; empty: none is known."""
    kubelet: str = ""
    """The kubelet's own words; empty: it admits the pod."""

    @property
    def message(self) -> str:
        """The verdict and why, as sentences."""
        where = f"container {self.container}: " * bool(self.container)
        return f"{where}{self.verdict.removesuffix('.')}. {self.why}".strip()


def briefs(pod: PodResult, told: ExplainedPod | None, setup: Setup) -> Iterator[Brief]:
    """Sum a pod up; nothing of one that is aligned or has nothing to align.

    Args:
        pod: what became of it.
        told: the explanation; None: there is none, and the kubelet's words have to do.
        setup: the machine and the settings.
    """
    config = setup.config
    if not pod.admitted:
        yield _rejected(pod, told, config)
    for one in pod.containers:
        if one.aligned is False:
            title, verdict = (MISSING, "incomplete") if one.missing else (NOT_ALIGNED, one.alignment.verdict)
            fix = _pinning(told, one.name) or _fix(told, config) or _naming(one.missing, setup.machine)
            why = reason_of(one, pod.qos)
            yield Brief(title, one.name, f"NOT aligned ({verdict})", why=why, fix=fix)


def _rejected(pod: PodResult, told: ExplainedPod | None, config: KubeletConfig) -> Brief:
    reason = pod.reason or pod.stage
    kubelet = f'Kubelet: "{reason}: {pod.message}"' if pod.message else ""
    if told is None or told.refusal is None:
        return Brief(reason, pod.refused_at or "", "rejected", why="", kubelet=kubelet)
    said = lines(reasons_of(told, config).every)
    fix = _fix(told, config)
    why = " ".join([*(f"{text.strip().removesuffix('.')}." for text in said), *(["No fix found."] * (not fix))])
    return Brief(reason, "", verdict_text(told, told.refusal), why=why, fix=fix, kubelet=kubelet)


def _fix(told: ExplainedPod | None, config: KubeletConfig) -> str:
    """Write the first change that was found."""
    return fix_text(told, config, 0) if told is not None and told.changes else ""


def fix_text(told: ExplainedPod, config: KubeletConfig, place: int) -> str:
    """Write one of the changes that were found; of several parts each is a sentence."""
    change, after = told.changes[place], told.after[place]
    parts = [what_text(part.change, config, told.containers) for part in change.parts]
    what = ". ".join(parts) if len(parts) > 1 else what_text(change, config, told.containers)
    return f"{what}{aligned_then(change, after, told)}{where_then(change, after, told)}"


def _naming(missing: Sequence[str], machine: Machine) -> str:
    """Write the name of a device that the machine has and that was probably meant."""
    near = {name: nearest_device(machine, name) for name in missing}
    return " and ".join(f"Request {meant} in place of {name}" for name, meant in near.items() if meant)


def _pinning(told: ExplainedPod | None, container: str) -> str:
    """Write what pins the CPUs of a container, where the manifest or the CPU Manager keeps them in the shared pool."""
    for one in told.unpinned if told is not None else ():
        if one.container == container:
            if one.cause.kind == "cpu-manager":
                return "--cpu-manager-policy static"
            for blame in one.blame:
                return f"{blame.advice} (container {blame.container})"
    return ""
