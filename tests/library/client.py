"""A program that uses numalign as a library: mypy checks it strictly, and the tests run it."""

from __future__ import annotations

import json

import numalign


def report(machine: numalign.Machine, *pods: numalign.Pod) -> dict[str, str]:
    """Say of each pod where its containers run, or why it does not."""
    result = numalign.admit(machine, pods, settings={"topology-manager-policy": "single-numa-node"})
    told: dict[str, str] = {}
    for pod in result:
        if pod.admitted:
            told[pod.name] = ", ".join(f"{one.name} on {one.cpus or 'shared CPUs'}" for one in pod.containers)
        else:
            explained: numalign.ExplainedPod = numalign.explain(pod)
            told[pod.name] = f"{pod.reason}: {'; '.join(explained.why)}"
    return told


def fill(machine: numalign.Machine, pod: numalign.Pod) -> int:
    """Count how many copies of a pod fit."""
    node, fitted = numalign.Node.start(machine), 0
    while True:
        name = f"{pod.name}-{fitted}"
        node, result = node.admit(pod._replace(name=name, uid=name))
        if not result.admitted:
            return fitted
        fitted += 1


def best_policies(machine: numalign.Machine, *pods: numalign.Pod) -> list[str]:
    """Name the policies under which all pods are aligned."""
    rows: tuple[numalign.ComparedRow, ...] = numalign.compare(machine, pods).rows
    return sorted({row.setup.config.topology_manager_policy for row in rows if row.admit and row.aligned})


def document(result: numalign.AdmitResult) -> str:
    """Write a result as JSON."""
    return json.dumps(result.to_json())
