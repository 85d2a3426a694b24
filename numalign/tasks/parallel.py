"""Many independent pieces of work on all cores, or on a Dask cluster; the results come in the order of the work.

The answers are the same bytes from one process, eight, or Dask: every piece is a function of its own arguments, and
nothing depends on which piece ends first. A piece whose worker died is done again; one that fails is told with its
error, and the others stand.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from numalign.errors import InputError, NumalignError
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.synchronize import Semaphore

Work = TypeVar("Work")
Answer = TypeVar("Answer")

MAX_RETRIES: Final = 2
"""So often a piece is done again after its worker died."""
AHEAD: Final = 2
"""So many pieces a process are read before their answers are wanted."""
MAX_ALONE: Final = 64
"""So few pieces are spread over no processes: starting them would take longer."""
AT_ONCE: Final = 16
"""So many pieces that lie here a process takes at once."""

_inherited: list[Callable[[int], object]] = []
"""Does the pieces from a place on; a copy of this process has it, too."""

CONNECT_TIMEOUT = 10.0
"""Seconds in which a Dask scheduler has to answer."""


class Engine(NamedTuple):
    """Where work is done."""

    jobs: int | None = None
    """Processes; None: as many as there are cores. 1: this process."""
    dask: bool = False
    address: str | None = None
    """Of a Dask scheduler; None: a cluster of `jobs` workers on this host."""


class Done(NamedTuple, Generic[Answer]):
    """What came of one piece of work."""

    answer: Answer | None
    error: str = ""
    """Why there is no answer."""


def run_all(
    function: Callable[[Work], Answer],
    work: Sequence[Work],
    engine: Engine,
    *,
    done: Callable[[int], None] | None = None,
) -> list[Done[Answer]]:
    """Do all the work.

    Args:
        function: what is done with each piece; a function of a module, so that other processes find it.
        work: the pieces; they and the answers can be pickled.
        engine: where.
        done: is told how many pieces are done, from time to time.

    Raises:
        InputError: Dask is asked for and not installed, or its scheduler cannot be reached.
        KeyboardInterrupt: as it comes; what runs elsewhere is stopped.
    """
    results: list[Done[Answer]] = [Done(None, "did not run")] * len(work)
    for count, (place, result) in enumerate(as_done(function, work, engine), start=1):
        results[place] = result
        if done is not None:
            done(count)
    return results


def as_done(
    function: Callable[[Work], Answer], work: Sequence[Work], engine: Engine
) -> Iterator[tuple[int, Done[Answer]]]:
    """Do all the work, and give each place in it with what came of it, as soon as it is there; else like `run_all`."""
    jobs = min(engine.jobs or os.cpu_count() or 1, max(len(work), 1))
    if engine.dask:
        return _on_dask(function, work, engine, jobs)
    if jobs == 1:
        return ((place, _guarded(function, piece)) for place, piece in enumerate(work))
    return _in_processes(function, work, jobs)


def spread(function: Callable[[Work], Answer], work: Sequence[Work], jobs: int) -> list[Answer]:
    """Do work that lies in this process in processes that inherit it: nothing is sent to them but places in it.

    Args:
        function: what is done with each piece; it changes nothing that others see.
        work: the pieces; only the answers are pickled.
        jobs: how many processes; 1: this one.
    """
    if jobs < 2 or len(work) <= MAX_ALONE:
        return [function(piece) for piece in work]
    _inherited.append(lambda place: [function(piece) for piece in work[place : place + AT_ONCE]])
    try:
        found = in_order(_do, range(0, len(work), AT_ONCE), jobs, inherit=True)
        return [answer for _, answers in found for answer in cast("list[Answer]", answers)]
    finally:
        _inherited.pop()


def _do(place: int) -> object:
    return _inherited[-1](place)


def in_order(
    function: Callable[[Work], Answer], work: Iterable[Work], jobs: int, *, inherit: bool = False
) -> Iterator[tuple[Work, Answer]]:
    """Do work that comes bit by bit in processes of this host, and give each piece with its answer, in order.

    Few pieces are in memory at a time. What a process that died had is done here.

    Args:
        function: what is done with each piece; a function of a module, so that other processes find it.
        work: the pieces; they and the answers can be pickled.
        jobs: how many processes.
        inherit: they are copies of this process, so that the function finds what lies here.
    """
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    pool, gate = _pool(function, jobs, inherit=inherit)
    under_way: deque[tuple[Work, Future[Answer]]] = deque()

    def answered() -> tuple[Work, Answer]:
        piece, future = under_way.popleft()
        try:
            return piece, future.result()
        except BrokenProcessPool:
            return piece, function(piece)

    try:
        for piece in work:
            try:
                future = pool.submit(function, piece)
            except BrokenProcessPool as error:
                future = Future()
                future.set_exception(error)
            under_way.append((piece, future))
            if len(under_way) == jobs:
                _open(gate, jobs)
            if len(under_way) > AHEAD * jobs:
                yield answered()
        _open(gate, jobs)
        while under_way:
            yield answered()
    finally:
        _open(gate, jobs)
        pool.shutdown(wait=not under_way, cancel_futures=True)


def _pool(
    function: Callable[..., object], jobs: int, *, inherit: bool = False
) -> tuple[ProcessPoolExecutor, Semaphore]:
    """Return processes of this host, and the gate at which they wait until all of them are started.

    They are copies of this process, or of one without threads, which has imported what this one knows. The gate is
    there because a process that dies while another is being started takes the one they are copied from with it.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    known = [name for name in sys.modules if name.startswith("numalign.") and not name.startswith("numalign.cli")]
    context = get_context("fork" if inherit else "forkserver")
    context.set_forkserver_preload(["concurrent.futures.process", *known, function.__module__])
    gate = context.Semaphore(0)
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(gate,)), gate


def _begin(gate: Semaphore) -> None:
    """Begin a process: it waits for the others, and an interrupt at the terminal ends it at once and without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gate.acquire()


def _open(gate: Semaphore, jobs: int) -> None:
    """Let so many processes begin; an event would wait here for one that died waiting."""
    for _ in range(jobs):
        gate.release()


def _guarded(function: Callable[[Work], Answer], piece: Work) -> Done[Answer]:
    """Do one piece; its own failure is part of the answer."""
    try:
        return Done(function(piece))
    except NumalignError as error:
        return Done(None, str(error))
    except Exception as error:
        return Done(None, f"{type(error).__name__}: {error}")


def _in_processes(
    function: Callable[[Work], Answer], work: Sequence[Work], jobs: int
) -> Iterator[tuple[int, Done[Answer]]]:
    """Do the work in processes of this host; if one dies, what is not done yet is done again by new ones."""
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children

    others = set(active_children())
    waiting = dict(enumerate(work))
    for attempt in range(MAX_RETRIES + 1):
        if not waiting:
            return
        processes = min(jobs, len(waiting))
        pool, gate = _pool(function, processes)
        try:
            futures = {}
            for place, piece in waiting.items():
                futures[pool.submit(_guarded, function, piece)] = place
                if len(futures) == processes:
                    _open(gate, processes)
            for future in as_completed(futures):
                try:
                    result: Done[Answer] = future.result()
                except BrokenProcessPool:
                    continue
                del waiting[futures[future]]
                yield futures[future], result
        except BrokenProcessPool:
            pass
        finally:
            if waiting:  # nobody waits for work that is not wanted any more
                for process in set(active_children()) - others:
                    process.terminate()
            _open(gate, processes)
            pool.shutdown(cancel_futures=True)
        jobs = max(jobs // 2, 1) if attempt else jobs  # a worker may have died for want of memory
    for place in waiting:
        yield place, Done(None, "its worker process died each time")


def _on_dask(
    function: Callable[[Work], Answer], work: Sequence[Work], engine: Engine, jobs: int
) -> Iterator[tuple[int, Done[Answer]]]:
    """Do the work on a Dask cluster, which does what a lost worker had again by itself."""
    try:
        import distributed
    except ImportError:
        raise InputError("Dask is not installed; fix: pip install 'numalign[dask]'", "--engine dask") from None
    client = _client(distributed, engine, jobs)
    try:
        futures = client.map(_guarded, [function] * len(work), list(work), pure=False, retries=MAX_RETRIES)
        places = {future.key: place for place, future in enumerate(futures)}
        for future in distributed.as_completed(futures):
            place = places[future.key]
            error = future.exception()
            yield place, future.result() if error is None else Done(None, f"{type(error).__name__}: {error}")
    finally:
        client.close()
        if client.cluster is not None:
            client.cluster.close()


def _client(distributed: Any, engine: Engine, jobs: int) -> Any:
    """Reach a Dask scheduler, or start a cluster of processes here."""
    if engine.address is None:
        import dask

        with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):  # imported once for all
            # No address would mean port 8787 of every interface, and a warning where another cluster has it.
            cluster = distributed.LocalCluster(
                n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=50
            )
        return distributed.Client(cluster)
    try:
        return distributed.Client(engine.address, timeout=CONNECT_TIMEOUT)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {engine.address}: {error}", "--address") from None
