"""A cluster over time: 100,000 pods on 5,000 machines, how the time grows, and what a second process gains.

The trace is synthetic and fixed by its seed: arrivals as fast as a scheduler can take them, durations such that about
85 % of the CPUs are in use when the last pods arrive.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from benchmarks.timing import Row
from numalign.tasks.parallel import Engine
from numalign.tasks.simulate import SimulateRequest, simulate, sweep

SIZES = (500, 1000, 2000, 5000)
PODS_PER_MACHINE = 20
OFFERED = 0.92
"""Of the CPUs, in the long run. The arrivals end before that: `filled_at_most` says how far it went, some 85 %."""
ROUNDS = 5
SWEPT = 20
STEPS = 20_000_000

CLUSTER = """\
version: 1
nodes:
- name: "n{{i}}"
  count: {count}
  machine: sockets=2,numaNodesPerSocket=1,coresPerNumaNode=28,threadsPerCore=2,memoryPerNumaNode=512Gi
  kubelet:
    topologyManagerPolicy: single-numa-node
    memoryManagerPolicy: Static
    kubeReserved: {{memory: 1Gi}}
    reservedMemory:
    - numaNode: 0
      limits: {{memory: 1Gi}}
scheduler:
  kind: nrt
  cache: {{mode: over_reserve}}
"""
SHAPES = (("2", "4Gi"), ("4", "8Gi"), ("8", "16Gi"), ("12", "48Gi"), ("16", "64Gi"), ("20", "32Gi"), ("28", "100Gi"))
CPUS = 112


def write(folder: Path, machines: int) -> SimulateRequest:
    """Write cluster and trace of a size."""
    mean = sum(int(cpus) for cpus, _ in SHAPES) / len(SHAPES)
    workloads = PODS_PER_MACHINE * machines
    rate = 80 * machines / max(SIZES)
    duration = OFFERED * CPUS * machines / mean / rate
    shapes = "".join(
        f'- pod: {{containers: [{{name: c, limits: {{cpu: "{cpus}", memory: {memory}}}}}]}}\n'
        for cpus, memory in SHAPES
    )
    (folder / "cluster.yaml").write_text(CLUSTER.format(count=machines))
    (folder / "arrivals.yaml").write_text(
        f"workloads: {workloads}\nper_second: {rate}\nduration_s: {duration}\nseed: 1\nshapes:\n{shapes}"
    )
    return SimulateRequest(str(folder / "cluster.yaml"), str(folder / "arrivals.yaml"))


def run(sizes: Sequence[int] = SIZES, swept: int = SWEPT, rounds: int = ROUNDS, steps: int = STEPS) -> list[Row]:
    """Time one run a size, then sweeps on two processes beside a plain loop.

    Args:
        sizes: numbers of machines.
        swept: runs of a sweep, each on that part of the largest size.
        rounds: sweeps, of which the median counts.
        steps: how long the plain loop is.
    """
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for machines in sizes:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:  # so that memory is its own
                rows.append(fresh.submit(one, write(folder, machines)).result())
        machines = max(sizes) // swept
        rows.append({"machines": machines, **gain(write(folder, machines), swept, rounds, steps)})
    return rows


def one(request: SimulateRequest) -> Row:
    """Run one simulation, reading and reporting included."""
    start, used = time.perf_counter(), time.process_time()
    result = simulate(request, ["aware"])
    took, used = time.perf_counter() - start, time.process_time() - used
    (report,) = [one.report for one in result.runs]
    assert report is not None
    return {
        "machines": report.machines,
        "pods": report.api_objects_created,
        "seconds": took,
        "cpu_seconds": used,
        "us_per_pod": used / max(report.api_objects_created, 1) * 1e6,
        "filled_at_most": report.utilisation["cpu"].most,
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20),
    }


def gain(request: SimulateRequest, swept: int, rounds: int, steps: int) -> Row:
    """Hold a sweep on two processes against what a plain loop gains on two processes in the same minute."""
    settings = [("seed", [str(seed) for seed in range(swept)])]
    ratios = []
    for _ in range(rounds):
        times = {}
        for jobs in (1, 2):
            start = time.perf_counter()
            sweep(request, settings, Engine(jobs=jobs))
            times["sweep", jobs] = time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(2):
            spin(steps)
        times["loop", 1] = time.perf_counter() - start
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            list(pool.map(spin, [100, 100]))  # both are up
            start = time.perf_counter()
            list(pool.map(spin, [steps, steps]))
            times["loop", 2] = time.perf_counter() - start
        ratios.append((times["sweep", 1] / times["sweep", 2]) / (times["loop", 1] / times["loop", 2]))
    return {"sweep": f"{swept} runs", "gain_of_2_beside_a_loop": median(ratios)}


def spin(steps: int) -> int:
    """Keep a processor busy."""
    m = s = 0
    for i in range(steps):
        m = (m ^ i * 2654435761) & 0xFFFF
        s += m.bit_count()
    return s
