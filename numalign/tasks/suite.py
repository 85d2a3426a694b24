"""Hold pods on machines under settings to what is expected of them, for repositories that want it to stay so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.errors import InputError, StartError
from numalign.model import cpuset
from numalign.model.cpuset import CPUSetError
from numalign.results.admit import AdmitResult
from numalign.results.replay import SuiteCase, SuitePod, SuiteResult
from numalign.sources.recorded import suite
from numalign.sources.recorded.suite import Case, Expectation, Settings
from numalign.tasks.admit import admit
from numalign.tasks.loaded_pods import LoadedPods, Terms, load_pods
from numalign.tasks.problems import explain_problems
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.setup import load_setup
from numalign.worlds.at_fault import field_at_fault


def run_suite(files: Sequence[str]) -> SuiteResult:
    """Run the tests of some files.

    Raises:
        InputError: a file of tests, or a file that it names, is wrong; or a file has no test.
        HostError: a test needs the live host, and it cannot be read.
    """
    read = [(file, suite.read_suite(file)) for file in files]
    for file, found in read:
        if not found:
            raise InputError("no test found: the file is empty", file)
    cases = [(file, case) for file, found in read for case in found]
    return SuiteResult(tuple([tested for file, case in cases for tested in _tested(file, case)]))


def _tested(file: str, case: Case) -> Iterator[SuiteCase]:
    for machine in case.machines:
        for settings in case.kubelets:
            done = SuiteCase(
                name=case.name, machine=machine, settings=settings.text, file=file, line=case.line, problems=()
            )
            yield _ran(done, case, machine, settings)


def _ran(done: SuiteCase, case: Case, machine: str, settings: Settings) -> SuiteCase:
    """Run one combination and say what is not as expected."""
    request = KubeletRequest(settings.config, None, settings.flags, settings.version)
    try:
        on = load_setup(machine, request)
        pods = load_pods(PodsRequest(case.pods, case.beside, case.replicas), on=on.setup)
        result = admit(on.setup, pods.tried, Terms(pods.beside))
    except StartError as error:
        return done._replace(problems=tuple(_start_problems(case.expect, error)))
    problems = tuple(_differences(case.expect, result, len(pods.tried)))
    return done._replace(problems=problems, about=_about(result, pods) if problems else None)


def _start_problems(expect: Expectation, error: StartError) -> Iterator[str]:
    if expect.start_error is None:
        yield f"the kubelet would not start: {error}"
    elif expect.start_error not in str(error):
        yield f"the kubelet would not start, but says {error}"


def _about(result: AdmitResult, pods: LoadedPods) -> SuitePod | None:
    """Explain the first pod that is rejected or not aligned; None: none is, or it stands in no file."""
    explained = explain_problems(result, pods.tried, Terms(pods.beside))
    number, told = next(iter(explained.items()), (0, None))
    if told is None:
        return None
    container = "" if not told.pod.admitted else next(one.name for one in told.pod.containers if one.aligned is False)
    fields: list[list[str]] = [[] for _ in range(number)]
    fields.append([field_at_fault(pods.tried[number], told.pod, told, container)])
    (file, (_, line)) = list(pods.places(fields))[number]
    return None if file is None else SuitePod(told, result.setup, file, line)


def _differences(expect: Expectation, result: AdmitResult, tried: int) -> Iterator[str]:
    admitted = [pod for pod in result.pods if pod.admitted]
    refused = [pod for pod in result.pods if not pod.admitted]
    wanted = tried if expect.admitted == -1 else expect.admitted
    if wanted is not None and len(admitted) != wanted:
        why = f" ({refused[0].name}: {refused[0].reason or refused[0].stage})" if refused else ""
        yield f"{len(admitted)} of {tried} pods admitted, expected {wanted}{why}"
    if expect.start_error is not None:
        yield "the kubelet would start"
    if expect.reason is not None or expect.message is not None:
        if not refused:
            yield "no pod is rejected"
        elif expect.reason is not None and refused[0].reason != expect.reason:
            yield f"{refused[0].name} is rejected with {refused[0].reason}, expected {expect.reason}"
        elif expect.message is not None and expect.message not in refused[0].message:
            yield f"{refused[0].name} is rejected with {refused[0].message!r}"
    for pod in admitted:
        if expect.verdicts and pod.verdict not in expect.verdicts:
            yield f"{pod.name} is {pod.verdict}, expected {' or '.join(expect.verdicts)}"
    yield from _cpus(expect, result)


def _cpus(expect: Expectation, result: AdmitResult) -> Iterator[str]:
    containers = {one.name: one for one in result.pods[0].containers} if result.pods else {}
    for name, text in expect.cpus.items():
        if name not in containers:
            yield f"no container {name} in the first pod, or the pod is rejected"
            continue
        try:
            wanted = cpuset.parse(text)
        except CPUSetError as error:
            yield f"cpus of {name}: {error}"
            continue
        if containers[name].holding.cpus != wanted:
            yield f"{name} has CPUs {containers[name].cpus or 'of the shared pool'}, expected {text}"
