"""Pods that belong together: how close their devices are to each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from numalign.tasks.admit import admit
from numalign.tasks.loaded_pods import load_pods
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.setup import load_setup
from numalign.tasks.together import together

CONTAINER = "containers: [{name: app, image: i, resources: {limits: {cpu: '2', memory: 1Gi, %s}}}]"
JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: ranks}\nspec: {template: {spec: {restartPolicy: Never, %s}}}"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, ownerReferences: [%s]}\nspec: {%s}"
OWNER = "{apiVersion: apps/v1, kind: StatefulSet, name: %s, uid: u, controller: %s}"
TWO_GPUS, ONE_GPU, ONE_PORT = "nvidia.com/gpu: 2", "nvidia.com/gpu: 1", "mellanox.com/ib: 1"


def owned(*pods: tuple[str, str]) -> str:
    return "\n---\n".join(POD % (name, owner, CONTAINER % ONE_GPU) for name, owner in pods)


@pytest.mark.parametrize(
    ("text", "replicas", "machine", "expected"),
    [
        pytest.param(
            JOB % (CONTAINER % TWO_GPUS),
            2,
            "dgx-1",
            [("Job", "ranks", 2, {("same node", True): 4})],
            id="ranks of a job, over links",
        ),
        pytest.param(
            JOB % (CONTAINER % ONE_PORT), 2, "dgx-h100", [("Job", "ranks", 2, {("same node", None): 1})], id="NICs"
        ),
        pytest.param(JOB % (CONTAINER % ONE_GPU), 1, "dgx-1", [], id="one pod"),
        pytest.param(JOB % (CONTAINER % ONE_GPU), 40, "xe9680", [("Job", "ranks", 8, {})], id="those admitted"),
        pytest.param(JOB % (CONTAINER % "nvidia.com/gpu: 8"), 2, "dgx-1", [], id="one of two is admitted"),
        pytest.param(
            owned(("a", OWNER % ("kv", "true")), ("b", OWNER % ("kv", "true")), ("c", OWNER % ("other", "true"))),
            None,
            "dgx-1",
            [("StatefulSet", "kv", 2, {("same node", True): 1})],
            id="pods with one controller",
        ),
        pytest.param(
            owned(("a", OWNER % ("kv", "false")), ("b", OWNER % ("kv", "false")), ("c", "")),
            None,
            "dgx-1",
            [],
            id="no controller",
        ),
    ],
)
def test_devices_of_pods_that_belong_together(
    text: str,
    replicas: int | None,
    machine: str,
    expected: list[tuple[str, str, int, dict[tuple[str, bool | None], int]]],
    tmp_path: Path,
) -> None:
    file = tmp_path / "pods.yaml"
    file.write_text(text, encoding="utf-8")
    setup = load_setup(machine, KubeletRequest(settings={"topology-manager-policy": "restricted"})).setup
    up = load_pods(PodsRequest((str(file),), replicas=replicas))
    found = list(together(setup.machine, up.sources, admit(setup, up.tried).pods))

    assert [(one.kind, one.name, len(one.pods)) for one in found] == [one[:3] for one in expected]
    for one, (*_, counts) in zip(found, expected, strict=True):
        pairs = [(pair.closeness, pair.joined) for pair in one.pairs]
        assert not counts or {pair: pairs.count(pair) for pair in pairs} == counts
