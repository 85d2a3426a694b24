"""Whole-process times of `status` and `verify` on a full node: 250 pods, 5,000 threads, in a built tree."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.timing import Row, process_seconds
from numalign.kubelet.cpu import checkpoint
from numalign.model.cpuset import format_set
from tests.node.fake_root import FakeContainer, FakeRoot, Layout

PODS = 250
THREADS = 20
"""Of each pod's container."""
NODES = {0: "0-159", 1: "160-319"}
CONFIG = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cpuManagerPolicy: static
topologyManagerPolicy: single-numa-node
reservedSystemCPUs: "0-1"
"""
LIMITS = {"status": 1.0, "verify": 2.0}
"""Seconds that each may take on an ordinary machine."""


def build(root: Path, pods: int = PODS, threads: int = THREADS) -> None:
    """Write the tree: each pod has one container with one CPU of its own, and its sandbox."""
    built = FakeRoot(root, NODES, Layout())
    entries = {}
    taken = 0
    for number in range(pods):
        uid, cpu = f"00000000-0000-4000-8000-{number:012x}", str(number + 2)
        taken |= 1 << number + 2
        entries[uid] = {"main": cpu}
        built.pod(uid, "default", f"pod-{number}")
        built.sandbox(uid)
        built.run(
            FakeContainer(uid, "main", cpu, "0-1", threads=(cpu,) * threads, memory={number * 2 // pods: 1 << 30})
        )
    pool = format_set((1 << 320) - 1 & ~taken)
    state = checkpoint.sealed(checkpoint.CPUCheckpoint("current", "static", pool, entries))
    built.write("var/lib/kubelet/cpu_manager_state", checkpoint.write(state))
    built.write("var/lib/kubelet/config.yaml", CONFIG)


def run(runs: int = 5, pods: int = PODS, threads: int = THREADS) -> list[Row]:
    """Time both commands, and a walk of the same tree by the shell's own tools beside `verify`."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        build(root, pods, threads)
        commands = [
            [sys.executable, "-m", "numalign", "status", "--node", folder, "-o", "json"],
            [sys.executable, "-m", "numalign", "verify", "--node", folder, "-o", "json"],
            ["grep", "-r", "-c", "allowed", f"{folder}/proc"],
        ]
        status, verify, grep = process_seconds(commands, runs, statuses=(0, 1))
    return [
        {
            "command": name,
            "pods": pods,
            "threads": pods * threads,
            "s": took,
            "limit_s": LIMITS[name],
            "grep": took / grep,
        }
        for name, took in (("status", status), ("verify", verify))
    ]
