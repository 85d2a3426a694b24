"""A node that pods come to and leave: `Node` of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from numalign.analysis.situation import Event, played
from numalign.api.admission import PodResult
from numalign.api.inputs import setup_of
from numalign.kubelet import admission
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.start.resize import Resized
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.values import NamedTuple
from numalign.worlds.pod_result import pod_result


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
        return cls(admission.open_session(setup_of(machine, config, settings, kubelet)))

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
        setup = setup_of(node.machine, node.config, settings, kubelet or version_text(node.kubelet.version))
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
