"""Clocks of the benchmarks, and the loop that translates figures between machines."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

Row = dict[str, Any]

KUBELET_LOOP_SECONDS = 0.20
"""What `loop` took on the machine on which the kubelet was timed."""
LOOP_STEPS = 2_000_000
STEPS = LOOP_STEPS
"""So many of them are really made; the time is that of all."""


def loop() -> float:
    """Time a pure Python loop of two million steps: how fast is this machine, right now?"""
    start = time.perf_counter()
    m = s = 0
    for i in range(STEPS):
        m = (m ^ i * 2654435761) & 0xFFFF
        s += m.bit_count()
    return (time.perf_counter() - start) * LOOP_STEPS / STEPS


def slowdown() -> float:
    """Return how much slower this machine is than the one on which the kubelet was timed."""
    return median(loop() for _ in range(3)) / KUBELET_LOOP_SECONDS


def seconds_per_call(call: Callable[[], object], at_least: float) -> float:
    """Call again and again for `at_least` seconds, in five rounds; the median round counts."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    count = max(1, int(at_least / 5 / max(once, 1e-9)))
    rounds = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - start) / count)
        if sum(rounds) * count > 3 * at_least:
            break
    return median(rounds)


def process_seconds(commands: Sequence[Sequence[str]], runs: int, statuses: Sequence[int] = (0,)) -> list[float]:
    """Return the median whole-process time of each command; they take turns, so that noise hits all alike."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(runs):
        for index, command in enumerate(commands):
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True, check=False)
            times[index].append(time.perf_counter() - start)
            if done.returncode not in statuses:
                raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode().strip()}")
    return [median(of_command) for of_command in times]
