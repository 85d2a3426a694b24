"""Pods admitted in order, each explained on demand: `admit` and `explain` of the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from numalign.analysis.situation import Situation, arrivals
from numalign.api.inputs import setup_of
from numalign.errors import Notice
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.render.json import Data
from numalign.results.admit import PodResult as _PodResult
from numalign.results.explain import ExplainedPod as _ExplainedPod
from numalign.tasks.loaded_pods import Terms
from numalign.values import NamedTuple


class _Question(NamedTuple):
    """What was asked, to explain one pod of it later."""

    setup: Setup
    pods: tuple[Pod, ...]
    terms: Terms


class PodResult(_PodResult):
    """What became of one pod; its fields are those of `numalign.results.admit.PodResult`."""

    question: _Question | None = None

    def to_json(self) -> Data:
        """Write it as `numalign admit -o json` does."""
        from numalign.render.json.admit import pod_json

        return pod_json(self)


class AdmitResult:
    """The pods that came up, in order: iterate over them, or ask for one by its name (`result["web-0"]`)."""

    def __init__(self, question: _Question) -> None:
        from numalign.tasks.admit import admit as run

        self._found = run(*question)
        self.pods: tuple[PodResult, ...] = tuple(PodResult._make(pod) for pod in self._found.pods)
        """None after one that the kubelet does not survive."""
        self.notices: tuple[Notice, ...] = self._found.notices
        """What makes the answer doubtful."""
        for pod in self.pods:
            pod.question = question

    def __iter__(self) -> Iterator[PodResult]:
        return iter(self.pods)

    def __len__(self) -> int:
        return len(self.pods)

    def __getitem__(self, name: str) -> PodResult:
        """Return the pod with this name, or NAMESPACE/NAME."""
        for pod in self.pods:
            if name in (pod.name, pod.full_name):
                return pod
        raise KeyError(name)

    @property
    def admitted(self) -> bool:
        """Whether every pod was admitted."""
        return all(pod.admitted for pod in self.pods)

    def to_json(self) -> Data:
        """Write it as `numalign admit -o json` does."""
        from numalign.render.json.admit import admit_json

        return admit_json(self._found, self.notices)


def admit(
    machine: Machine | str,
    pods: Iterable[Pod],
    config: KubeletConfig | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    kubelet: str | None = None,
    beside: Iterable[Pod] = (),
    started: bool = False,
) -> AdmitResult:
    """Admit pods in order on a machine, as the kubelet would.

    Args:
        machine: the machine, or what `load_machine` takes.
        pods: in the order in which they come up.
        config: the kubelet's configuration, obeyed to the letter. None: the machine file's own, else the ideal node
            of the Topology Manager's announcement (static CPU manager, nothing reserved).
        settings: single settings over it, by the kubelet's flags: `{"topology-manager-policy": "restricted"}`.
        kubelet: which kubelet, such as `1.32`; None: the one that numalign takes by default.
        beside: pods that are there already, admitted first.
        started: the containers of an admitted pod start before the next pod comes.

    Raises:
        InputError: an argument is wrong.
        StartError: the kubelet would refuse to start.
    """
    terms = Terms(tuple(beside), started)
    return AdmitResult(_Question(setup_of(machine, config, settings, kubelet), tuple(pods), terms))


class ExplainedPod(_ExplainedPod):
    """One pod's admission, told; its fields are those of `numalign.results.explain.ExplainedPod`."""

    setup: Setup

    @property
    def why(self) -> tuple[str, ...]:
        """Why it was refused, a sentence each; empty: it was not."""
        from numalign.render.text.words import why

        return () if self.refusal is None else tuple(why(self.refusal, self.besides))

    @property
    def advice(self) -> tuple[str, ...]:
        """Each of `changes` in words, what keeps all devices first; each was tried."""
        from numalign.render.text.changes import change_text

        tried = zip(self.changes, self.after, strict=True)
        return tuple(change_text(change, self.setup.config, after, self) for change, after in tried)


def explain(pod: PodResult) -> ExplainedPod:
    """Explain what became of a pod of `admit`: what is in the way, and the nearest changes that would admit it.

    Raises:
        ValueError: the result does not come from `admit`.
    """
    from numalign.tasks.explain import explain_one

    asked = pod.question
    if asked is None:
        raise ValueError("only a pod of what `admit` returned can be explained")
    place = next(place for place, one in enumerate(asked.pods) if one.full_name == pod.full_name)
    past = arrivals((*asked.terms.beside, *asked.pods[:place]), started=asked.terms.started)
    told = ExplainedPod._make(explain_one(Situation(asked.setup, past=past), asked.pods[place]))
    told.setup = asked.setup
    return told
