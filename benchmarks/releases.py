"""What a newer kubelet costs: admissions of the two-node workload under each release from 1.32 on, side by side."""

from __future__ import annotations

import time

from benchmarks.admissions import prepare
from benchmarks.timing import Row
from benchmarks.workloads import Workload, load
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import known_kubelets

ROUNDS = 30


def run(rounds: int = ROUNDS) -> list[Row]:
    """Play the line under each release in turn, so that noise hits all alike; the fastest round of each counts.

    Raises:
        RuntimeError: a release admits other pods than 1.32: the figures could not be compared.
    """
    workload: Workload = load("e2e")[0]
    prepared = {kubelet.version: prepare(workload, kubelet) for kubelet in known_kubelets()}
    fastest = dict.fromkeys(prepared, float("inf"))
    decided = [admitted() for _, _, admitted in prepared.values()]
    if any(one != decided[0] for one in decided):
        raise RuntimeError(f"{workload['id']}: the releases do not admit the same pods")
    for _ in range(rounds):
        for version, (play, _, _) in prepared.items():
            start = time.thread_time()
            play()
            fastest[version] = min(fastest[version], time.thread_time() - start)
    first = fastest[min(fastest)]
    return [
        {
            "workload": workload["id"],
            "kubelet": version_text(version),
            "admissions_per_s": prepared[version][1] / seconds,
            "times_1.32": first / seconds,
        }
        for version, seconds in fastest.items()
    ]
