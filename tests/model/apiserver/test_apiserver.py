"""What the API server makes of manifests: defaulting, canonical amounts, QoS classes, order of containers."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.gotext import number_text
from numalign.model.quantity import canonical
from tests.dice import Form, draws, rolled


def pod(*resources: dict[str, Any], **spec: Any) -> dict[str, Any]:
    containers = [{"name": f"c{index}", "resources": each} for index, each in enumerate(resources)]
    return {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def texts(amounts: Any) -> dict[str, str]:
    return {name: canonical(quantity) for name, quantity in amounts.items()}


def test_missing_requests_are_filled_in_from_limits() -> None:
    read = read_pod(pod({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}))

    assert texts(read.containers[0].requests) == {"cpu": "1", "memory": "1Gi"}
    assert read.qos == "Burstable"


def test_amounts_are_rounded_to_thousandths_and_made_readable() -> None:
    """docs/rules/kubelet-files.md 55: the memory manager can use `1.5Gi` because it arrives as `1536Mi`."""
    read = read_pod(pod({"limits": {"cpu": "0.0005", "memory": "1.5Gi"}}))

    assert texts(read.containers[0].requests) == {"cpu": "1m", "memory": "1536Mi"}
    assert read.containers[0].requests["memory"].int64 == 1536 << 20


@pytest.mark.parametrize(
    ("resources", "qos"),
    [
        pytest.param([{}], "BestEffort", id="nothing asked"),
        pytest.param([{"limits": {"nvidia.com/gpu": "1"}}], "BestEffort", id="devices do not count"),
        pytest.param([{"limits": {"cpu": "0", "memory": "0"}}], "BestEffort", id="zero does not count"),
        pytest.param([{"limits": {"cpu": "1", "memory": "1Gi"}}], "Guaranteed", id="limits only"),
        pytest.param([{"limits": {"cpu": "1"}}], "Burstable", id="no memory"),
        pytest.param([{"limits": {"cpu": "1", "memory": "1Gi"}}, {}], "Burstable", id="one container asks nothing"),
        pytest.param(
            [
                {"limits": {"cpu": "0.0001", "memory": "1Gi"}, "requests": {"cpu": "0.0005"}},
            ],
            "Guaranteed",
            id="amounts that differ by less than a thousandth are equal",
        ),
    ],
)
def test_the_qos_class_follows_the_sums(resources: list[dict[str, Any]], qos: str) -> None:
    assert read_pod(pod(*resources)).qos == qos


def test_the_class_in_the_status_wins() -> None:
    manifest = {**pod({}), "status": {"qosClass": "Guaranteed"}}

    assert read_pod(manifest).qos == "Guaranteed"


def test_init_containers_and_sidecars_come_first_in_their_order() -> None:
    manifest = pod({}, initContainers=[{"name": "a"}, {"name": "b", "restartPolicy": "Always"}, {"name": "c"}])

    assert [(each.name, each.kind) for each in read_pod(manifest).containers] == [
        ("a", "init"),
        ("b", "sidecar"),
        ("c", "init"),
        ("c0", "app"),
    ]


def test_a_pod_without_a_uid_gets_one_from_its_name() -> None:
    assert read_pod(pod({})).uid == "default/p"


def test_host_ports_are_filled_in_on_the_hosts_network() -> None:
    """docs/rules/admission-fit.md 4.4."""
    manifest = pod(hostNetwork=True)
    manifest["spec"]["containers"] = [{"name": "c", "ports": [{"containerPort": 80}]}]

    assert read_pod(manifest).containers[0].ports == ({"containerPort": 80, "hostPort": 80},)


@pytest.mark.parametrize(
    ("manifest", "where", "message"),
    [
        ([], "", "expected a mapping, got a list"),
        ({}, "spec", "missing; it is required"),
        ({"spec": None}, "spec", "missing; it is required"),
        ({"spec": {}}, "spec.containers", "missing; it is required"),
        ({"spec": {"containers": "x"}}, "spec.containers", 'expected a list, got "x"'),
        ({"spec": {"containers": {}}}, "spec.containers", "expected a list, got a mapping"),
        ({"spec": {"containers": [None]}}, "spec.containers[0]", "expected a mapping, got null"),
        ({"spec": {"containers": [{}]}}, "spec.containers[0].name", "missing; it is required"),
        ({"spec": {"containers": [{"name": 3}]}}, "spec.containers[0].name", "expected a text, got 3"),
        ({"spec": {"containers": [], "hostNetwork": "yes"}}, "spec.hostNetwork", 'expected true or false, got "yes"'),
        ({"metadata": {"name": 1}, "spec": {"containers": []}}, "metadata.name", "expected a text, got 1"),
        (
            pod({"limits": {"cpu": False}}),
            "spec.containers[0].resources.limits.cpu",
            "expected a quantity, got false",
        ),
        (
            pod({"limits": {"nvidia.com/gpu": []}}),
            'spec.containers[0].resources.limits["nvidia.com/gpu"]',
            "expected a quantity, got a list",
        ),
        (
            pod({"requests": {"memory": "4GB"}}),
            "spec.containers[0].resources.requests.memory",
            'expected a quantity such as 2, 500m or 4Gi, got "4GB"; fix: write 4G (the same amount; 4Gi is 7% more)',
        ),
        (pod({"limits": [1]}), "spec.containers[0].resources.limits", "expected a mapping, got a list"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(manifest: Any, where: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_pod(manifest)
    assert (error.value.where, error.value.message) == (where, message)


@pytest.mark.parametrize(
    ("number", "text"),
    [(2, "2"), (0.5, "0.5"), (2.0, "2"), (1e16, "10000000000000000"), (1e21, "1e+21"), (1e-7, "1e-07"), (-0.5, "-0.5")],
)
def test_numbers_are_written_as_kubernetes_tools_write_them(number: float, text: str) -> None:
    assert number_text(number) == text


KEYS = (
    *("metadata", "spec", "status", "containers", "initContainers", "name", "uid", "resources", "limits", "cpu"),
    *("requests", "overhead", "ports", "containerPort", "restartPolicy", "qosClass", "hostNetwork", "labels"),
)
PLAIN = rolled(lambda dice: dice.data(Form(("1", "2Gi"), KEYS)))


@draws(200)
@given(PLAIN)
def test_whatever_the_manifest_nothing_but_an_input_error_is_raised(manifest: Any) -> None:
    for candidate in (manifest, {"spec": manifest}, {"spec": {"containers": manifest}}, pod({"limits": manifest})):
        with contextlib.suppress(InputError):
            read_pod(candidate)
