"""What came of decisions with an expectation: replayed scenarios, and files of tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.holding import Holding
    from numalign.kubelet.memory.state import Block
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.model.pod import QoS
    from numalign.results.explain import ExplainedPod


class ReplayedContainer(NamedTuple):
    """What one container of an admitted pod got."""

    name: str
    hint: TopologyHint
    holding: Holding


class PodPart(NamedTuple):
    """What a pod with pod-level resources holds as a whole."""

    cpus: int | None
    memory: tuple[Block, ...] | None


class StepResult(NamedTuple):
    """What one step came to."""

    shared_pool: int | None
    """The shared pool after it, as a set of CPUs; None with CPU manager `none`."""
    qos: QoS | None = None
    """Of the pod that came up; None: a pod's containers started, or it ended."""
    admitted: bool = False
    reason: str = ""
    message: str = ""
    containers: tuple[ReplayedContainer, ...] = ()
    pod_level: PodPart | None = None
    start_errors: Mapping[str, str] = {}
    """Container -> why it does not start."""
    panic: str | None = None
    """The Go error with which the kubelet crashes in this step; None: it survives."""
    readmitted: tuple[tuple[str, StepResult], ...] | None = None
    """Of a restart: pods that came again, by name, with what the kubelet decided. None: another step."""
    start_error: str = ""
    """Of a restart: why the kubelet does not come up; the scenario ends there."""
    resized: bool | None = None
    """Of a pod that is resized: whether it asks for other amounts. None: another step, or no such pod."""
    inactive: bool = False
    """There is no such pod to resize."""


class FinalState(NamedTuple):
    """What pods hold after the last step."""

    memory: Mapping[str, object]
    """The Memory Manager's tables as plain data (see `kubelet.memory.state.machine_state`)."""
    pods: Mapping[str, Mapping[str, Holding]]
    """Pod -> container -> what it holds."""
    shared_pool: int | None
    pod_level: Mapping[str, PodPart]
    """Pod -> what it holds as a whole."""


class ReplayResult(NamedTuple):
    """What became of one scenario."""

    start_error: str = ""
    """Why the kubelet does not start; nothing else is known then."""
    start_panic: str = ""
    """Why the kubelet crashes at its start; nothing else is known then."""
    hang: bool = False
    """The kubelet would not come back from a step; nothing else is known then."""
    reserved_cpus: int | None = None
    """CPUs that are never given out exclusively, as a set; None with CPU manager `none`."""
    steps: tuple[StepResult, ...] = ()
    final: FinalState | None = None
    """None: the kubelet crashed on the way."""


class SuitePod(NamedTuple):
    """A pod of a test, explained."""

    told: ExplainedPod
    setup: Setup
    file: str
    line: int
    """Of what is at fault."""


class SuiteCase(NamedTuple):
    """One test on one machine under one setting."""

    name: str
    machine: str
    settings: str
    file: str
    line: int
    problems: tuple[str, ...]
    """What is not as expected, a clause each; empty: all is."""
    about: SuitePod | None = None
    """The first pod that is rejected or not aligned, where something is not as expected."""

    @property
    def passed(self) -> bool:
        """Whether all is as expected."""
        return not self.problems


class SuiteResult(NamedTuple):
    """All tests, in the order of the files."""

    cases: tuple[SuiteCase, ...]

    @property
    def failed(self) -> int:
        """How many are not as expected."""
        return sum(not one.passed for one in self.cases)
