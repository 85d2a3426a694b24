"""How a kubelet reads a pod: its requests, its sidecars, its gates (docs/rules/kubelet-versions.md 5, 6.1, 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from numalign.kubelet.reading import (
    Requests,
    always,
    as_written,
    behind,
    of_app_status,
    of_spec,
    of_status,
    reader,
    without_sidecar_ports,
    without_sidecars,
)
from numalign.kubelet.releases.table import kubelet
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import NO_STATUS, Pod, PodLevel, PodStatus, ResizeStatus
from numalign.model.quantity import Quantity, parse


def amounts(cpus: str) -> Mapping[str, Quantity]:
    return {"cpu": parse(cpus)}


def pod() -> Pod:
    """A sidecar, an init container and three app containers; the status knows some of them."""
    limits = {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
    ports = [{"containerPort": 80, "hostPort": 80}]
    spec = {
        "initContainers": [
            {"name": "sidecar", "restartPolicy": "Always", "ports": ports, **limits},
            {"name": "init", **limits},
        ],
        "containers": [{"name": name, "ports": ports, **limits} for name in ("known", "silent", "unknown")],
    }
    status = PodStatus(
        containers={"known": ResizeStatus(allocated=amounts("2")), "silent": ResizeStatus()},
        init_containers={"sidecar": ResizeStatus(allocated=amounts("3")), "init": ResizeStatus(allocated=amounts("4"))},
    )
    return read_pod({"metadata": {"name": "p", "uid": "p"}, "spec": spec})._replace(status=status)


@pytest.mark.parametrize(
    ("read", "cpus"),
    [
        (of_spec, {"sidecar": 1, "init": 1, "known": 1, "silent": 1, "unknown": 1}),
        (of_status, {"sidecar": 3, "init": 1, "known": 2, "silent": None, "unknown": 1}),
        (of_app_status, {"sidecar": 1, "init": 1, "known": 2, "silent": None, "unknown": 1}),
    ],
)
def test_requests_are_read_from_the_spec_or_from_what_is_allocated(read: Requests, cpus: dict[str, int | None]) -> None:
    """A container of which the status has nothing allocated has no requests."""
    asked = pod()
    found = {one.name: read(asked, one).get("cpu") for one in asked.containers}
    assert {name: one and one.int64 for name, one in found.items()} == cpus


@pytest.mark.parametrize(
    ("see", "kinds", "ports"),
    [
        (as_written, ["sidecar", "init", "app", "app", "app"], [1, 0, 1, 1, 1]),
        (without_sidecar_ports, ["sidecar", "init", "app", "app", "app"], [0, 0, 1, 1, 1]),
        (without_sidecars, ["init", "init", "app", "app", "app"], [1, 0, 1, 1, 1]),
    ],
)
def test_what_a_kubelet_sees_of_sidecars(see: Callable[[Pod], Pod], kinds: list[str], ports: list[int]) -> None:
    seen = see(pod())
    assert [one.kind for one in seen.containers] == kinds
    assert [len(one.ports) for one in seen.containers] == ports


def test_a_pod_without_such_ports_stays_as_it_is() -> None:
    plain = pod()._replace(containers=pod().containers[1:])
    assert without_sidecar_ports(plain) is plain


def test_a_part_hangs_on_all_of_its_gates() -> None:
    part = behind(("A", "B"), always("on"), always("off"))
    for a, b in ((True, True), (True, False), (False, True), (False, False)):
        assert part({"A": a, "B": b}.__getitem__) == ("on" if a and b else "off")
    assert part is behind(("A", "B"), always("on"), always("off"))


def test_devices_that_a_claim_provides_are_marked() -> None:
    """docs/rules/kubelet-versions.md 7.2: with the gate, from 1.35 on."""
    asked = pod()
    pairs = {("known", "v/a"), ("known", "v/b"), ("init", "v/c")}
    claimed = asked._replace(status=asked.status._replace(claimed=frozenset(pairs)))
    for minor, on, marked in ((36, True, True), (36, False, False), (34, True, False)):
        of = kubelet((1, minor))
        _, demand = reader(of.reading, of.gates_with({"DRAExtendedResource": on})).read(claimed)
        found = {one.name: one.claimed for one in demand.containers if one.claimed}
        assert found == ({"known": {"v/a", "v/b"}, "init": {"v/c"}} if marked else {})


@pytest.mark.parametrize(("own", "pinned"), [({}, True), ({"cpu": "8"}, False)])
def test_resources_of_a_pod_that_name_none_change_nothing(own: dict[str, str], pinned: bool) -> None:
    """docs/rules/kubelet-1.37.md 4.2, kubelet-versions.md 6.3: others are pinned no more."""
    of = kubelet((1, 37))
    level = PodLevel({name: parse(text) for name, text in own.items()}, {})
    _, demand = reader(of.reading, of.gates_with({})).read(pod()._replace(status=NO_STATUS, level=level))
    assert [one.cpus for one in demand.containers] == [int(pinned)] * 5


def test_the_class_of_a_pod_that_runs_is_that_of_its_status() -> None:
    of = kubelet((1, 36))
    level = PodLevel(*[{name: parse("8") for name in ("cpu", "memory")}] * 2)
    for said, qos in (("Burstable", "Burstable"), (None, "Guaranteed")):
        asked = pod()._replace(level=level, status=PodStatus(qos=said))
        seen, _ = reader(of.reading, of.gates_with({})).read(asked)
        assert seen.qos == qos


def test_a_sidecar_is_looked_for_among_app_containers_first() -> None:
    said = {name: {"sidecar": ResizeStatus(allocated=amounts(cpus))} for name, cpus in (("app", "5"), ("init", "3"))}
    asked = pod()._replace(status=PodStatus(containers=said["app"], init_containers=said["init"]))
    assert of_status(asked, asked.containers[0]) == amounts("5")
