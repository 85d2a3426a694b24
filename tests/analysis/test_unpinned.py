"""Why nothing is pinned: who makes the pod Burstable, a manager that pins nobody, a share of a CPU, no CPU at all."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.explanation import unpinned
from numalign.analysis.floating import Lack, cause
from numalign.kubelet.config import KubeletConfig
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.render.text.alignment import cause_text
from tests.analysis.support import GPU, config, limits, outcome

STATIC, NOBODY = config("best-effort"), config("best-effort", cpu_manager_policy="none")
BURSTABLE = {"requests": {"cpu": "100m"}, "limits": {"cpu": "2", "memory": "1Gi"}}


def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = ()) -> Pod:
    """Containers by their resources: `app`, `side`, …; init containers `init`."""
    names = ("app", "side", "other")
    spec = {
        "containers": [{"name": name, "resources": each} for name, each in zip(names, containers, strict=False)],
        "initContainers": [{"name": "init", "resources": each} for each in init],
    }
    return read_pod({"metadata": {"name": "p"}, "spec": spec})


@pytest.mark.parametrize(
    ("settings", "asked", "expected"),
    [
        pytest.param(STATIC, pod({"limits": limits(2)}), [], id="pinned"),
        pytest.param(STATIC, pod({"limits": limits(0.5)}), [], id="a share of a CPU and no device: nothing is missing"),
        pytest.param(STATIC, pod({"limits": limits(0)}), [], id="no CPU and no device"),
        pytest.param(
            NOBODY,
            pod({"limits": limits(2)}),
            [("app", "cpu-manager", [], "cpuManagerPolicy: none")],
            id="the CPU manager pins nobody",
        ),
        pytest.param(
            STATIC,
            pod({"limits": limits(2, gpu=1)}, BURSTABLE),
            [
                ("app", "qos", ["side"], "the pod is Burstable: side requests less cpu than the limit"),
                ("side", "qos", ["side"], "the pod is Burstable: side requests less cpu than the limit"),
            ],
            id="a sidecar of the mesh makes the pod Burstable",
        ),
        pytest.param(
            STATIC,
            pod({"limits": limits(2)}, init=(BURSTABLE,)),
            [("app", "qos", ["init"], "the pod is Burstable: init requests less cpu than the limit")],
            id="an init container makes the pod Burstable",
        ),
        pytest.param(
            STATIC,
            pod({"limits": {GPU: "1"}}),
            [("app", "qos", ["app"], "the pod is BestEffort")],
            id="a device and nothing else",
        ),
        pytest.param(
            STATIC,
            pod({"limits": limits(1.5, gpu=1)}),
            [("app", "fraction", ["app"], "the request is not a whole number of CPUs")],
            id="a share of a CPU beside a device",
        ),
    ],
)
def test_why_nothing_is_pinned(
    settings: KubeletConfig, asked: Pod, expected: list[tuple[str, str, list[str], str]]
) -> None:
    found = outcome(settings, asked)
    assert found.admit
    told = [
        (one.container, one.cause.kind, [blame.container for blame in one.blame], cause_text(one.cause, asked.qos))
        for one in unpinned(found)
    ]
    assert told == expected


def test_each_blame_says_what_to_write() -> None:
    [app, _] = unpinned(outcome(STATIC, pod({"limits": limits(2, gpu=1)}, BURSTABLE)))
    assert [blame.advice for blame in app.blame] == [
        "set requests.cpu to 2",
    ]


@pytest.mark.parametrize(("own", "kind"), [(limits(2), "not-pinned"), (limits(1.5), "fraction")])
def test_a_container_of_a_pod_as_a_whole_has_a_request_of_its_own(own: dict[str, str], kind: str) -> None:
    whole = {"resources": {"limits": limits(4)}, "containers": [{"name": "app", "resources": {"limits": own}}]}
    node, asked = outcome(STATIC, pod({})).before.node, outcome(STATIC, pod({})).demand.containers[0]

    assert not asked.cpus
    assert cause(node, read_pod({"metadata": {"name": "p"}, "spec": whole}), asked).kind == kind


@pytest.mark.parametrize(
    ("containers", "lacks", "asks"),
    [
        ([{"requests": {"cpu": "1"}}], [Lack("app", ("cpu", "memory"), ())], [True]),
        ([{"limits": {"cpu": "0", "memory": "1Gi"}}], [Lack("app", ("cpu",), ())], [False]),
        (
            [{"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}],
            [Lack("app", ("cpu",), ("memory",))],
            [False],
        ),
        ([{"limits": {GPU: "1"}}, BURSTABLE], [
            Lack("app", ("cpu", "memory"), ()), Lack("side", (), ("cpu",)),
        ], [False, True]),
        ([{"limits": limits(2)}, BURSTABLE], [Lack("side", (), ("cpu",))], [True, True]),
        ([{"limits": limits(2)}], [], [True]),
    ],
    ids=["no limits", "a limit of 0 is none", "no CPU", "a device alone", "one container as it must be", "nothing"],
)  # fmt: skip
def test_what_keeps_a_pod_from_being_guaranteed(
    containers: list[dict[str, Any]], lacks: list[Lack], asks: list[bool]
) -> None:
    asked = pod(*containers)
    found = outcome(STATIC, asked)
    causes = [cause(found.before.node, asked, one) for one in found.demand.containers]
    assert [list(one.lacks) for one in causes] == [lacks] * len(containers)
    assert [one.asks for one in causes] == asks
