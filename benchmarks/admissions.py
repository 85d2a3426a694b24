"""Admissions a second on the recorded workloads, beside the compiled kubelet's figures, translated to this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.timing import Row, seconds_per_call, slowdown
from benchmarks.workloads import Workload, load, varied
from numalign.kubelet import node as twin
from numalign.kubelet.demand import read_demand
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.setup import Setup
from numalign.sources.recorded import scenario

SEEDS = (1, 2)


def run(seconds: float = 0.5, seeds: Sequence[int] = SEEDS) -> list[Row]:
    """Time admission and removal alone, and the whole of `replay` on one process and on two; check who is admitted.

    Args:
        seconds: how long each figure is measured.
        seeds: each line is also run with other amounts, once a seed.
    """
    rows = []
    for workload in load("e2e"):
        kubelet: float = workload["kubeletTiming"]["admissionsPerSecond"]
        for one in (workload, *(varied(workload, seed) for seed in seeds)):
            kubelet_here = kubelet / slowdown()
            alone = admissions_per_second(one, seconds)
            whole, shared = (replayed_per_second(one, alone, seconds, jobs) for jobs in (1, 2))
            rows.append(
                {
                    "workload": one["id"],
                    "admissions_per_s": alone,
                    "kubelet_per_s": kubelet_here,
                    "times_kubelet": alone / kubelet_here,
                    "replay_per_s": whole,
                    "replay_times_kubelet": whole / kubelet_here,
                    "replay_on_2_times_kubelet": shared / kubelet_here,
                }
            )
    return rows


def admissions_per_second(workload: Workload, seconds: float) -> float:
    """Replay the steps from an empty node again and again; pods are read and the node is started beforehand."""
    play, admits, admitted = prepare(workload)
    if "expectAdmit" in workload:
        expected = [step["admit"] for step in workload["expectAdmit"] if "admit" in step]
        if admitted() != expected:
            raise RuntimeError(f"{workload['id']}: the decisions are not the recorded ones")
    return admits / seconds_per_call(play, seconds)


def prepare(workload: Workload, kubelet: Kubelet = V1_32) -> tuple[Callable[[], object], int, Callable[[], list[bool]]]:
    """Return a function that plays the steps, how many admissions there are, and one that tells who is admitted."""
    one = scenario.read_scenario(json.dumps(workload).encode())
    node, empty = twin.start(Setup(one.machine, one.config, "kubelet", kubelet))
    steps = [(None if step.pod is None else read_demand(step.pod), step.name) for step in one.steps]
    uids = {name: pod.uid for pod, name in steps if pod is not None}

    def play() -> object:
        state = empty
        for pod, name in steps:
            if pod is None:
                state = twin.remove(node, state, uids[name])
            else:
                state, _ = twin.admit(node, state, pod)
        return state

    def admitted() -> list[bool]:
        state = empty
        answers = []
        for pod, name in steps:
            if pod is None:
                state = twin.remove(node, state, uids[name])
            else:
                state, result = twin.admit(node, state, pod)
                answers.append(result.admit)
        return answers

    return play, sum(pod is not None for pod, _ in steps), admitted


def replayed_per_second(workload: Workload, expected: float, seconds: float, jobs: int) -> float:
    """Run `numalign replay` on a file of as many copies of the line as should take 4 × `seconds`; start-up counts."""
    admits: int = sum(step["op"] == "admit" for step in workload["steps"])
    copies = max(1, int(expected * seconds / admits * 2))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenarios.jsonl"
        file.write_text((json.dumps(workload) + "\n") * copies)
        command = [
            sys.executable,
            "-m",
            "numalign",
            "replay",
            "--kubelet-version",
            "1.32",
            "--jobs",
            str(jobs),
            str(file),
        ]
        took = seconds_per_call(lambda: subprocess.run(command, stdout=subprocess.PIPE, check=True), seconds)
    return admits * copies / took
