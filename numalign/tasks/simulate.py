"""Run a trace on a cluster: once a scheduler, or once a combination of settings; side by side, on all cores."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from numalign.errors import InputError, Notice
from numalign.model.words import few_of
from numalign.results.cluster import NOT_DONE, NamedRun, SimulateResult
from numalign.tasks.parallel import Done, Engine, as_done
from numalign.tasks.sweeps import FIELDS_SWEPT, MAX_RUNS, RUNS
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.scheduler.node import Fleet
    from numalign.scheduler.simulate.report import Report
    from numalign.scheduler.simulate.settings import ReplicaSetBackoff, Simulation, Workload
    from numalign.sources.cluster.fleet import Built
    from numalign.sources.cluster.public_traces import Columns, Form

TraceForm: TypeAlias = 'Form | Literal["numalign"]'


Overrides = tuple[tuple[str, str], ...]
"""(setting, value) pairs laid over a cluster file."""


class SimulateRequest(NamedTuple):
    """What is to be run."""

    cluster: str
    """The cluster's file."""
    trace: str
    """A trace, or what a synthetic one is made of."""
    form: TraceForm = "numalign"
    """`numalign`, or the form of a public trace."""
    columns: Columns | None = None
    seed: int | None = None
    """None: the cluster file's own."""
    retry_on_resync: bool = False
    replicaset_backoff: ReplicaSetBackoff = "none"
    audit: int = 0
    pods: bool = False
    """Whether the report lists every pod."""
    allow_outside: bool = False
    """The cluster file may name files outside of its folder."""


class _Job(NamedTuple):
    """One run, as another process can do it."""

    request: SimulateRequest
    overrides: Overrides


def simulate(
    request: SimulateRequest,
    runs: Sequence[str] = RUNS,
    *,
    progress: Callable[[str, float], None] | None = None,
) -> SimulateResult:
    """Run a trace under several schedulers, one after the other in this process.

    A KeyboardInterrupt ends the run under way; the result is what happened until then.

    Args:
        request: what is to be run.
        runs: some of `RUNS`.
        progress: is told the run and how far it is, from 0 to 1.

    Raises:
        InputError: an input is wrong.
        StartError: the kubelet of a group of nodes would refuse to start.
    """
    loaded = _load(request, ())
    done: list[NamedRun] = []
    for name in runs:
        report = _drive(request, loaded, name, progress)
        done.append(NamedRun(name, report))
        if report.ended_by == "interrupted":
            break
    return _result(request, loaded, done)


def sweep(
    request: SimulateRequest,
    settings: Sequence[tuple[str, Sequence[str]]],
    engine: Engine,
    *,
    progress: Callable[[str, float], None] | None = None,
) -> SimulateResult:
    """Run a trace once for every combination of settings.

    A KeyboardInterrupt ends it: the result has the runs that were done until then, and names the others.

    Args:
        request: what is to be run.
        settings: names of `SWEPT` with the values to try.
        engine: where.
        progress: is told how far it is, from 0 to 1.

    Raises:
        InputError: an input is wrong.
    """
    combinations = list(product(*([(name, one) for one in values] for name, values in settings)))
    if len(combinations) > MAX_RUNS:
        raise InputError(
            f"{len(combinations)} combinations, at most {MAX_RUNS} run; fix: sweep fewer values", "--sweep"
        )
    loaded = _load(request, combinations[0])  # what is wrong with the files is told before anything runs
    jobs = [_Job(request, one) for one in combinations]
    results: list[Done[Report]] = [Done(None, NOT_DONE)] * len(jobs)
    try:
        for count, (place, result) in enumerate(as_done(_run, jobs, engine), start=1):
            results[place] = result
            if progress is not None:
                progress(f"{count} of {len(jobs)} runs", count / len(jobs))
            if result.answer is not None and result.answer.ended_by == "interrupted":
                break
    except KeyboardInterrupt:
        pass
    names = [", ".join(f"{setting}={value}" for setting, value in one) for one in combinations]
    named = [NamedRun(name, one.answer, one.error) for name, one in zip(names, results, strict=True)]
    return _result(request, loaded, named)


def _result(request: SimulateRequest, loaded: _Loaded, runs: Sequence[NamedRun]) -> SimulateResult:
    from numalign.scheduler.causes import text_of

    reports = [run.report for run in runs if run.report is not None]
    codes = sorted({code for one in reports for table in (one.verdicts, one.audited) for code in table.causes})
    return SimulateResult(
        cluster=request.cluster,
        trace=request.trace,
        seed=loaded.seed,
        runs=tuple(runs),
        causes={code: text_of(code) for code in codes},
        notices=loaded.notices,
    )


def _run(job: _Job) -> Report:
    """Do one run of a sweep, in whatever process."""
    loaded = _load(job.request, job.overrides)
    return _drive(job.request, loaded, "aware")


def _drive(
    request: SimulateRequest, loaded: _Loaded, name: str, progress: Callable[[str, float], None] | None = None
) -> Report:
    """Run one simulation; an interrupt ends it with the report so far."""
    from numalign.scheduler.simulate.engine import Run

    steps = 0
    with _no_search_for_cycles():
        run = Run(_settings(request, loaded.fleet, name, loaded.seed), loaded.trace)
        try:
            while run.step():
                steps += 1
                if progress is not None and steps % 1000 == 0:
                    progress(name, run.progress)
        except KeyboardInterrupt:
            run.interrupt()
        report = run.report()
    return report if request.pods else report._replace(pods=())


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Keep Python from looking for cycles again and again: a run holds millions of values, none of them in a cycle.

    The search took a third of the time of a large run and found nothing to free.
    """
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


def _settings(request: SimulateRequest, fleet: Fleet, run: str, seed: int) -> Simulation:
    from numalign.scheduler.simulate.settings import Simulation

    scheduler = fleet.scheduler._replace(seed=seed)
    if run == "unaware":
        scheduler = scheduler._replace(kind="unaware")
    elif run == "instant":
        nodes = [
            node if node.exporter.mode == "none" else node._replace(exporter=node.exporter._replace(mode="instant"))
            for node in fleet.nodes
        ]
        fleet = fleet._replace(nodes=tuple(nodes))
    return Simulation(
        fleet=fleet._replace(scheduler=scheduler),
        seed=seed,
        retry_on_resync=request.retry_on_resync,
        replicaset_backoff=request.replicaset_backoff,
        audit=request.audit,
    )


class _Loaded(NamedTuple):
    """The inputs of a run."""

    fleet: Fleet
    trace: tuple[Workload, ...]
    seed: int
    notices: tuple[Notice, ...]


def _load(request: SimulateRequest, overrides: Overrides) -> _Loaded:
    """Read cluster and trace, with settings laid over the cluster file."""
    from numalign.tasks.cluster import ClusterRequest, check_nodes, load_cluster

    swept = dict(overrides).get("seed")
    given = request.seed if swept is None else int(swept)
    if not overrides:
        loaded = load_cluster(ClusterRequest((request.cluster,), allow_outside=request.allow_outside))
        fleet, found = loaded.fleet, loaded.notices
    else:
        built = _overridden(request, overrides, given)
        fleet, found = built.fleet, built.notices
        check_nodes(fleet, request.cluster)
    seed = fleet.scheduler.seed if given is None else given
    trace, notices = _trace(request, given)
    return _Loaded(fleet, trace, seed, (*found, *notices, *_volumes(trace, request.trace)))


def _volumes(trace: tuple[Workload, ...], where: str) -> Iterator[Notice]:
    """Name what kube-scheduler looks at and a trace cannot say; workloads of one template are looked at once."""
    from numalign.scheduler.neighbours import not_judged

    names = {one.name for one in {id(one.pod): one for one in trace}.values() if any(not_judged(one.pod))}
    if names:
        yield Notice("trace-volumes", f"not checked: volumes of {few_of(sorted(names), 3)}", where)


def _overridden(request: SimulateRequest, overrides: Overrides, seed: int | None) -> Built:
    """Read a cluster file with settings laid over it; a seed of None leaves the file's own."""
    from numalign.sources.cluster import file
    from numalign.sources.text.yaml import load_file

    documents = load_file(request.cluster)
    if len(documents) != 1 or not file.is_cluster_file(documents[0].data):
        raise InputError("a sweep requires a cluster file: one document with nodes", request.cluster)
    document = documents[0]
    given: dict[str, object] = document.data
    for name, value in overrides:
        if name != "seed":
            _lay(given, name, value)
    if seed is not None:
        given["seed"] = seed
    return file.read_cluster(document, outside=request.allow_outside)


def _lay(cluster: dict[str, object], name: str, value: str) -> None:
    """Lay one setting over the data of a cluster file."""
    first, *rest = FIELDS_SWEPT[name]
    given: object = float(value) if name in ("resync", "period") else value
    if first == "scheduler":
        targets = [cluster]
    else:
        targets = [one for one in cast("list[object]", cluster["nodes"]) if isinstance(one, dict)]
    for target in targets:
        inner = target
        for key in (first, *rest[:-1]):
            below = inner.get(key)
            inner[key] = inner = dict(below) if isinstance(below, Mapping) else {}
        inner[rest[-1]] = given


def _trace(request: SimulateRequest, seed: int | None) -> tuple[tuple[Workload, ...], tuple[Notice, ...]]:
    """Read a trace, or make one; a seed of None leaves that of what it is made of."""
    if request.form != "numalign":
        from numalign.sources.cluster.public_traces import read_public

        found = read_public(request.trace, request.form, request.columns)
        return found.workloads, found.notices
    from numalign.sources.cluster.trace import read_arrivals, read_trace

    if not request.trace.endswith((".yaml", ".yml")):
        return read_trace(request.trace), ()
    from numalign.model.path import blaming
    from numalign.scheduler.simulate.generator import generate
    from numalign.sources.text.yaml import load_file

    document = load_file(request.trace)[0]
    with blaming(document.where):
        arrivals = read_arrivals(document.data, os.path.dirname(request.trace), seed)
    return tuple(generate(arrivals)), ()
