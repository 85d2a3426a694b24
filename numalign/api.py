"""numalign as a library: the tasks with plain arguments, one exception base, nothing printed (docs/library.md).

`import numalign` brings these names; each is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from numalign.analysis.situation import Event, Situation, arrivals, played
from numalign.errors import HostError, InputError, Notice, NumalignError, StartError
from numalign.kubelet import admission
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.resize import Resized
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.render.json import Data
from numalign.results.admit import ContainerResult
from numalign.results.admit import PodResult as _PodResult
from numalign.results.compare import ComparedRow
from numalign.results.compare import CompareResult as _CompareResult
from numalign.results.explain import ExplainedPod as _ExplainedPod
from numalign.results.lint import LintResult as _LintResult
from numalign.results.node import ConfigCheckResult as _ConfigCheckResult
from numalign.tasks import setup as _setup_task
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.values import NamedTuple
from numalign.worlds.pod_result import pod_result

__all__ = [
    "IDEAL",
    "AdmitResult",
    "CompareResult",
    "ComparedRow",
    "ConfigCheckResult",
    "ContainerResult",
    "ExplainedPod",
    "HostError",
    "InputError",
    "KubeletConfig",
    "LintResult",
    "Machine",
    "MemoryReservation",
    "Node",
    "Notice",
    "NumalignError",
    "Pod",
    "PodResult",
    "Resized",
    "StartError",
    "admit",
    "check_config",
    "compare",
    "explain",
    "lint",
    "load_config",
    "load_machine",
    "load_pods",
    "load_running",
    "this_host",
]


def load_machine(name: str) -> Machine:
    """Read a machine: the name of a bundled one, a machine file, or a short form (`sockets=2,coresPerNumaNode=8`).

    Raises:
        InputError: there is no such machine, or its file is wrong.
    """
    return _setup_task.load_machine(name).machine


def this_host() -> Machine:
    """Read the live host as its kubelet sees it.

    Raises:
        HostError: the host cannot be read.
    """
    return _setup_task.load_machine(None).machine


def load_config(path: str) -> KubeletConfig:
    """Read a KubeletConfiguration file, or the JSON of a node's /configz.

    Raises:
        InputError: the file is wrong.
        StartError: the kubelet would not accept it.
    """
    from numalign.sources.kubelet import configuration

    return configuration.load(path)[0]


def load_pods(*names: str, replicas: int | None = None) -> tuple[Pod, ...]:
    """Read the pods of files and folders: Pods, Lists, and whatever carries a pod template.

    Args:
        names: files and folders.
        replicas: how many pods of each template; None: one.

    Raises:
        InputError: an input cannot be read or has no pod, or a pod is one the API server would refuse.
    """
    loaded = _setup_task.load_pods(PodsRequest(names, replicas=replicas))
    if loaded.broken:
        raise loaded.broken[0]
    return loaded.tried


def load_running(path: str) -> tuple[Pod, ...]:
    """Read pods that are on the node already (`kubectl get pods -o json`), oldest first, without finished ones.

    Raises:
        InputError: the file cannot be read, or there is neither pod nor list in it.
    """
    from numalign.sources.pods.beside import read_beside

    return read_beside(path).pods


class _Question(NamedTuple):
    """What was asked, to explain one pod of it later."""

    setup: Setup
    pods: tuple[Pod, ...]
    beside: tuple[Pod, ...]
    started: bool


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

        setup, pods, beside, started = question
        self._found = run(setup, pods, beside=beside, started=started)
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
    return AdmitResult(_Question(_setup(machine, config, settings, kubelet), tuple(pods), tuple(beside), started))


class Node(NamedTuple):
    """A node and what is on it. It never changes: what happens on it gives another node."""

    session: admission.Session

    @classmethod
    def start(
        cls,
        machine: Machine | str,
        config: KubeletConfig | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        kubelet: str | None = None,
    ) -> Self:
        """Start a kubelet on an empty node; the arguments are those of `numalign.admit`.

        Raises:
            InputError: an argument is wrong.
            StartError: the kubelet would refuse to start.
        """
        return cls(admission.open_session(_setup(machine, config, settings, kubelet)))

    def admit(self, pod: Pod, *, started: bool = False) -> tuple[Self, PodResult]:
        """Admit a pod; returns the node that the next pod finds, and what became of this one.

        Args:
            pod: the pod.
            started: its containers start at once.
        """
        outcome = admission.admit(self.session, pod)
        then = played(outcome.then, (Event("start", pod),)) if started and outcome.admit else outcome.then
        return type(self)(then), PodResult._make(pod_result(outcome))

    def end(self, name: str) -> Self:
        """End a pod, NAME or NAMESPACE/NAME: everything it held is free.

        Raises:
            KeyError: there is no such pod.
        """
        for pod in self.session.pods:
            if name in (pod.name, pod.full_name):
                return type(self)(admission.end(self.session, pod.uid))
        raise KeyError(name)

    def restart(
        self, *, settings: Mapping[str, str] | None = None, kubelet: str | None = None
    ) -> tuple[Self, tuple[PodResult, ...]]:
        """Restart its kubelet; returns the node behind it, and what became of each pod that ran, in order.

        Args:
            settings: single settings over its own, by the kubelet's flags.
            kubelet: which kubelet starts, such as `1.36`; None: the same.

        Raises:
            InputError: an argument is wrong.
            StartError: the kubelet does not start with what it finds.
        """
        from numalign.kubelet.start.restart import restart, running_of

        node, state, view, pods = self.session
        setup = _setup(node.machine, node.config, settings, kubelet or version_text(node.kubelet.version))
        again = restart(
            setup._replace(base="ideal"), node, state, pods, running=running_of(pods), fit_check=view is not None
        )
        return type(self)(again.there), tuple([PodResult._make(pod_result(outcome)) for outcome in again.pods])

    def resize(self, pod: Pod) -> tuple[Self, Resized]:
        """Ask for other amounts of a pod in place; only the managers decide. What it holds stays as it is.

        Args:
            pod: as it is wanted, under the name of a pod of the node.

        Raises:
            KeyError: there is no such pod.
        """
        from numalign.kubelet.start.resize import resize

        before = next((one for one in self.session.pods if one.full_name == pod.full_name), None)
        if before is None:
            raise KeyError(pod.full_name)
        wanted, demand = self.session.node.read_pod(pod._replace(uid=before.uid))
        answer = resize(self.session.node, self.session.state, before, wanted, demand)
        pods = [wanted if answer.admit and one is before else one for one in self.session.pods]
        return type(self)(self.session._replace(state=answer.state, pods=ActivePods(pods))), answer

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods on it, in order of admission."""
        return self.session.pods


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
    past = arrivals((*asked.beside, *asked.pods[:place]), started=asked.started)
    told = ExplainedPod._make(explain_one(Situation(asked.setup, past=past), asked.pods[place]))
    told.setup = asked.setup
    return told


class CompareResult(_CompareResult):
    """The same pods under other settings and on other machines; `rows` has a row a variant."""

    def to_json(self) -> Data:
        """Write it as `numalign compare -o json` does."""
        from numalign.render.json.compare import compare_json

        return compare_json(self, self.notices)


def compare(
    machine: Machine | str | Sequence[Machine | str],
    pods: Iterable[Pod],
    config: KubeletConfig | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    kubelet: str | None = None,
    beside: Iterable[Pod] = (),
    started: bool = False,
    options: Iterable[str] = (),
) -> CompareResult:
    """Compare what pods get under every policy and scope, with options, and on several machines.

    Args:
        machine: one machine or several; see `admit`, as for the other arguments.
        pods: one set of pods; copies of it are admitted until one is refused.
        config: the kubelet's configuration; all but policy, scope and `options` stays.
        settings: single settings over it.
        kubelet: which kubelet.
        beside: pods that are there already.
        started: the containers of an admitted pod start before the next pod comes.
        options: policy options, each tried by itself.

    Raises:
        InputError: an argument is wrong.
    """
    from numalign.tasks.compare import compare as run

    machines: Sequence[Machine | str] = [machine] if isinstance(machine, Machine | str) else [*machine]
    setups = [_setup(one, config, settings, kubelet) for one in machines]
    return CompareResult._make(run(setups, tuple(pods), beside=tuple(beside), started=started, options=tuple(options)))


class LintResult(_LintResult):
    """What in each manifest keeps its pods from being aligned."""

    def to_json(self) -> Data:
        """Write it as `numalign lint -o json` does."""
        from numalign.render.json.lint import lint_json

        return lint_json(self, ())


def lint(*names: str, machine: Machine | str | None = None, ignore: Iterable[str] = ()) -> LintResult:
    """Tell what in manifests keeps pods from being aligned.

    Args:
        names: files and folders.
        machine: the machine to judge by, with an ideal kubelet; None: what depends on it is a note.
        ignore: codes to pass over.

    Raises:
        InputError: an input cannot be read, or an unknown code.
    """
    from numalign.sources.pods.manifest import read_pods
    from numalign.tasks.lint import lint as run

    on = None if machine is None else _setup(machine)
    given = read_pods(names, unique=False)
    if given.broken:
        raise given.broken[0]
    return LintResult._make(run(given.sources, on=on, ignore=tuple(ignore)))


class ConfigCheckResult(_ConfigCheckResult):
    """A configuration, held against its machine: `report` says whether it starts, and what would."""

    def to_json(self) -> Data:
        """Write it as `numalign config check -o json` does."""
        from numalign.render.json.node import check_json

        return check_json(self, ())


def check_config(machine: Machine | str, config: KubeletConfig | None = None) -> ConfigCheckResult:
    """Tell whether the kubelet would start, or what stops it and the nearest configuration that starts.

    Args:
        machine: see `admit`.
        config: see `admit`.

    Raises:
        InputError: there is no such machine.
    """
    from numalign.tasks.config import check_config as run

    return ConfigCheckResult._make(run(_setup(machine, config)))


def _setup(
    machine: Machine | str,
    config: KubeletConfig | None = None,
    settings: Mapping[str, str] | None = None,
    kubelet: str | None = None,
) -> Setup:
    """Put machine and settings together as the command line does."""
    found = load_machine(machine) if isinstance(machine, str) else machine
    request = KubeletRequest(settings=settings or {}, version=kubelet)
    return _setup_task.setup_on(found, found.name, request, config).setup
