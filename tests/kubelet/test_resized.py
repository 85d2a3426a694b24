"""Pods that are resized in place, beside others (docs/rules/kubelet-1.37.md 8; recorded: family `podrequests`)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.kubelet.admission import admit, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.kubelet.resized import by_container, by_spec, by_sum, by_sum_of_containers
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import PodLevel
from numalign.model.quantity import parse
from tests.kubelet.regular import regular

Manifest = dict[str, Any]


def pod(name: str, asked: str, allocated: str | None = None, actuated: str | None = None, *reasons: str) -> Manifest:
    status: Manifest = {"name": "c"}
    if allocated:
        status["allocatedResources"] = {"cpu": allocated}
    if actuated:
        status["resources"] = {"requests": {"cpu": actuated}}
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": asked}}}]},
        "status": {
            "containerStatuses": [status],
            "conditions": [{"type": "PodResizePending", "reason": reason} for reason in reasons],
        }
        if allocated or actuated
        else {},
    }


CASES = [
    ("grows", pod("there", "3", "1", "1"), {"1.32": False, "1.33": False, "1.36": False, "1.37": False}),
    ("shrinks", pod("there", "1", "3", "3"), {"1.32": True, "1.33": False, "1.36": False, "1.37": False}),
    ("cannot grow", pod("there", "3", "1", "1", "Infeasible"), {"1.36": True, "1.37": True}),
    ("has to wait", pod("there", "3", "1", "1", "Deferred"), {"1.36": False, "1.37": False}),
    ("is not resized", pod("there", "1", "1", "1"), {"1.32": True, "1.36": True, "1.37": True}),
]


@pytest.mark.parametrize(
    ("there", "admitted"), [case[1:] for case in CASES], ids=[f"one that {case[0]}" for case in CASES]
)
def test_a_pod_beside_one_is_admitted(there: Manifest, admitted: dict[str, bool]) -> None:
    """Four CPUs: two are asked for, three are too many for the other."""
    asked = read_pod(pod("comes", "2"))
    for release, expected in admitted.items():
        of = kubelet(parse_version(release))
        session = open_session(Setup(regular(nodes=1, cores=2), KubeletConfig(eviction_hard={}), "ideal", of))
        assert admit(admit(session, read_pod(there)).then, asked).admit is expected, release


def test_a_pod_that_comes_asks_by_its_spec() -> None:
    session = open_session(Setup(regular(nodes=1, cores=2), KubeletConfig(eviction_hard={}), "ideal"))
    assert admit(session, read_pod(pod("comes", "2", "9", "9"))).admit


def test_a_pod_without_a_status_counts_by_its_spec() -> None:
    new = read_pod(pod("new", "2"))
    assert by_spec(new) is None
    assert by_container(new) == by_sum(new) == by_sum_of_containers(new) == {"cpu": 2 * 10**9}


STATUS: Manifest = {
    "containerStatuses": [
        {"name": "c", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "4"}}},
        {"name": "d", "allocatedResources": {"cpu": "3"}},
    ],
    "allocatedResources": {"cpu": "5"},
    "resources": {"requests": {"cpu": "6"}},
}


@pytest.mark.parametrize(
    ("asked", "level", "infeasible", "counted"),
    [
        # Of each container the largest, together; the largest sum of what is asked for, set aside, in force;
        # what the status says of the pod takes the place of the latter two.
        (("1", "1"), None, False, (5, 7, 6)),
        (("8", "1"), None, False, (9, 9, 9)),
        (("8", "1"), None, True, (5, 7, 6)),
        (("1", "1"), "9", False, (9, 9, 9)),
        (("1", "1"), "9", True, (6, 6, 6)),
        (("1", "1"), "1", False, (6, 6, 6)),
    ],
)
def test_how_a_pod_counts_that_is_resized(
    asked: tuple[str, str], level: str | None, infeasible: bool, counted: tuple[int, int, int]
) -> None:
    """docs/rules/kubelet-1.37.md 8."""
    reasons = ["Infeasible"] if infeasible else []
    spec: Manifest = {
        "containers": [
            {"name": name, "resources": {"requests": {"cpu": cpus}}} for name, cpus in zip("cd", asked, strict=True)
        ]
    }
    if level:
        spec["resources"] = {"requests": {"cpu": level}}
    conditions = [{"type": "PodResizePending", "reason": reason} for reason in reasons]
    made = read_pod({"metadata": {"name": "p"}, "spec": spec, "status": {**STATUS, "conditions": conditions}})
    found = [count(made) for count in (by_container, by_sum_of_containers, by_sum)]
    assert [one and one["cpu"] / 10**9 for one in found] == list(counted)


def test_what_is_in_force_counts_where_nothing_is_said_to_be_set_aside() -> None:
    """Of a container and, with requests of its own, of the pod as a whole."""
    status = {
        "containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}],
        "resources": {"requests": {"cpu": "6"}},
    }
    spec: Manifest = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    for level, counted in (({}, 4), ({"resources": {"requests": {"cpu": "1"}}}, 6)):
        made = read_pod({"metadata": {"name": "p"}, "spec": {**spec, **level}, "status": status})
        found = [count(made)["cpu"] / 10**9 for count in (by_container, by_sum_of_containers, by_sum)]
        assert found == [counted] * 3


def test_what_a_pod_asks_of_its_own_in_vain_counts_by_its_status_alone() -> None:
    """Of a resource that the status of the pod lacks it has none; devices are the containers' business."""
    resources = {"requests": {"cpu": "1", "memory": "1Gi", "v/g": "1"}, "limits": {"v/g": "1"}}
    made = read_pod({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": resources}]},
        "status": {
            "resources": {"requests": {"cpu": "6"}},
            "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
        },
    })  # fmt: skip
    own = {name: parse("9") for name in ("cpu", "memory", "v/g")}
    made = made._replace(level=PodLevel(own, {}))
    found = by_container(made)
    assert by_sum(made._replace(status=made.status._replace(infeasible=False)))["v/g"] == 10**9
    assert {name: nano / 10**9 for name, nano in found.items()} == {"cpu": 6, "memory": 0, "v/g": 1}
