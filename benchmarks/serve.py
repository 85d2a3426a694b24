"""`serve`: filter and prioritize over 5,000 nodes, beside a loop that only parses and answers; `--stdio` admissions.

The nodes are all different, so no answer is shared among them, and every call asks for another pod: the worst case.
The loop beside it runs in this process, without a connection, so what HTTP costs is numalign's to bear.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.timing import Row, slowdown
from benchmarks.workloads import Workload, load

NODES = 5000
CALLS = 300
ROUNDS = 30
GI = 1 << 30
ZONE_CPUS = 56
ZONE_MEMORY = 256 * GI


def run(nodes: int = NODES, calls: int = CALLS, rounds: int = ROUNDS) -> list[Row]:
    """Time calls of the extender, then admissions over a pipe."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = extender(folder, nodes, calls)
        rows.append(stdio(folder, load("e2e")[0], rounds))
    return rows


def extender(folder: Path, nodes: int, calls: int) -> list[Row]:
    """Time every call by itself; the loop's turn comes right after each."""
    (folder / "nrts.json").write_text(json.dumps(objects(nodes)))
    times: dict[str, list[float]] = {}
    chance = random.Random(2)
    names = [f"n{number}" for number in range(nodes)]
    with server(folder / "nrts.json") as port, closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for number in range(calls):
            limits = {"cpu": str(chance.randint(1, ZONE_CPUS)), "memory": f"{chance.randint(1, 64 * 1024)}Mi"}
            pod = {"metadata": {"name": f"p{number}"}, "spec": {"containers": [container("c", limits)]}}
            body = json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names}).encode()
            for verb in ("filter", "prioritize"):
                start = time.perf_counter()
                connection.request("POST", f"/v1/{verb}", body)
                answer = connection.getresponse().read()
                times.setdefault(verb, []).append(time.perf_counter() - start)
                reply = json.loads(answer)
                start = time.perf_counter()
                json.loads(body)
                json.dumps(reply)
                times.setdefault(f"{verb} loop", []).append(time.perf_counter() - start)
    return [
        {
            "what": verb,
            "nodes": nodes,
            "calls": calls,
            "mean_ms": sum(times[verb]) / calls * 1e3,
            "p99_ms": p99(times[verb]) * 1e3,
            "loop_p99_ms": p99(times[f"{verb} loop"]) * 1e3,
            "p99_above_loop_ms": (p99(times[verb]) - p99(times[f"{verb} loop"])) * 1e3,
        }
        for verb in ("filter", "prioritize")
    ]


def p99(times: list[float]) -> float:
    """Give the 99th percentile."""
    return sorted(times)[max(-(-len(times) * 99 // 100) - 1, 0)]


def container(name: str, limits: dict[str, str]) -> dict[str, object]:
    """Write a container of a Guaranteed pod."""
    return {"name": name, "resources": {"requests": limits, "limits": limits}}


def objects(nodes: int) -> dict[str, object]:
    """Write NodeResourceTopology objects of two NUMA nodes each, free amounts drawn by one seed."""
    chance = random.Random(1)

    def zone(number: int) -> dict[str, object]:
        amounts = {
            "cpu": (ZONE_CPUS, chance.randint(0, ZONE_CPUS)),
            "memory": (ZONE_MEMORY, chance.randint(0, ZONE_MEMORY)),
        }
        resources = [
            {"name": name, "capacity": str(whole), "allocatable": str(whole), "available": str(free)}
            for name, (whole, free) in amounts.items()
        ]
        costs = [{"name": f"node-{other}", "value": 10 if other == number else 21} for other in (0, 1)]
        return {"name": f"node-{number}", "type": "Node", "costs": costs, "resources": resources}

    attributes = [{"name": "topologyManagerPolicy", "value": "single-numa-node"}]
    items = [
        {
            "apiVersion": "topology.node.k8s.io/v1alpha2",
            "kind": "NodeResourceTopology",
            "metadata": {"name": f"n{number}"},
            "attributes": attributes,
            "zones": [zone(0), zone(1)],
        }
        for number in range(nodes)
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


@contextmanager
def server(cluster: Path) -> Iterator[int]:
    """Start the server; gives its port. Its log goes to a file, as it would."""
    log = cluster.with_suffix(".log")
    command = [sys.executable, "-m", "numalign", "serve", "--cluster", str(cluster), "--listen", "127.0.0.1:0"]
    with log.open("w") as sink:
        process = subprocess.Popen(command, stderr=sink)
    try:
        while True:
            events = [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
            address = next((str(one["address"]) for one in events if one.get("event") == "listening"), None)
            if address is not None:
                break
            if process.poll() is not None:
                raise RuntimeError(f"the server ended: {log.read_text()}")
            time.sleep(0.05)
        yield int(address.rpartition(":")[2])
    finally:
        process.terminate()
        process.wait()


def stdio(folder: Path, workload: Workload, rounds: int) -> Row:
    """Play a recorded workload over the pipe, line by line, from an empty node again and again."""
    machine = {**workload["machine"], "name": "a", "kubelet": workload["kubelet"], "devices": workload["devices"]}
    (folder / "machine.json").write_text(json.dumps(machine))
    command = [sys.executable, "-m", "numalign", "serve", "--cluster", str(folder / "machine.json"), "--stdio"]
    admits = 0
    spent = 0.0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(-1, rounds):  # the first round warms up
            for step in [*workload["steps"], {"op": "reset"}]:
                asked = {step["op"]: step.get("pod", True)}
                line = json.dumps(asked).encode() + b"\n"
                start = time.perf_counter()
                process.stdin.write(line)
                process.stdin.flush()
                answer = process.stdout.readline()
                if b'"error"' in answer:
                    raise RuntimeError(answer.decode())
                if step["op"] == "admit" and number >= 0:
                    spent += time.perf_counter() - start
                    admits += 1
        process.stdin.close()
    kubelet: float = workload["kubeletTiming"]["admissionsPerSecond"]
    return {
        "what": f"--stdio {workload['id']}",
        "nodes": 1,
        "calls": admits,
        "mean_ms": spent / admits * 1e3,
        "kubelet_ms": 1e3 / kubelet * slowdown(),
    }
