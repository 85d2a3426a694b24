"""What the API server rejects in resources of a pod as a whole, in host ports and in mentions of claims."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.model.apiserver.validation import validate


def found(spec: dict[str, Any]) -> list[str]:
    return [one.path for one in validate({"metadata": {"name": "p"}, "spec": spec})]


def level(resources: dict[str, Any], *containers: dict[str, Any], init: tuple[dict[str, Any], ...] = ()) -> Any:
    listed = [{"name": f"c{place}", "resources": one} for place, one in enumerate(containers or ({},))]
    before = [{"name": f"i{place}", "resources": one} for place, one in enumerate(init)]
    return {"containers": listed, "initContainers": before, "resources": resources}


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (level({"limits": {"cpu": "2", "memory": "1Gi"}}), []),
        (level({"requests": {"cpu": "2"}}, {"requests": {"cpu": "1"}}, {"requests": {"cpu": "1"}}), []),
        (level({"limits": {"nvidia.com/gpu": "1"}}), ['spec.resources.limits["nvidia.com/gpu"]']),
        (level({"limits": {"ephemeral-storage": "1Gi"}}), ["spec.resources.limits.ephemeral-storage"]),
        (level({"requests": {"cpu": "3"}, "limits": {"cpu": "2"}}), ["spec.resources.requests.cpu"]),
        (
            level({"requests": {"cpu": "1"}}, {"requests": {"cpu": "1"}}, {"requests": {"cpu": "100m"}}),
            ["spec.resources.requests.cpu"],
        ),
        (level({"requests": {"cpu": "1"}}, init=({"requests": {"cpu": "2"}},)), ["spec.resources.requests.cpu"]),
        (level({"limits": {"cpu": "1"}}, {"requests": {"cpu": "2"}}), ["spec.resources.limits.cpu"]),
        (
            level({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}),
            ["spec.resources.limits.cpu"],
        ),
    ],
)
def test_resources_of_the_pod_as_a_whole(spec: Any, paths: list[str]) -> None:
    assert found(spec) == paths


def test_claims_belong_to_containers() -> None:
    spec = {**level({"claims": [{"name": "x"}]}), "resourceClaims": [{"name": "x", "resourceClaimName": "y"}]}
    assert found(spec) == ["spec.resources.claims"]


def claiming(*entries: dict[str, Any], mentions: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"containers": [{"name": "c", "resources": {"claims": list(mentions)}}], "resourceClaims": list(entries)}


G = {"name": "g", "resourceClaimName": "one"}


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (claiming(G, mentions=({"name": "g"},)), []),
        (claiming(G, mentions=({"name": "g", "request": "a"}, {"name": "g", "request": "b"})), []),
        (claiming({"name": "g"}), ["spec.resourceClaims[0]"]),
        (claiming({**G, "resourceClaimTemplateName": "t"}), ["spec.resourceClaims[0]"]),
        (
            claiming({**G, "resourceClaimTemplateName": ""}),
            ["spec.resourceClaims[0]", "spec.resourceClaims[0].resourceClaimTemplateName"],
        ),
        (claiming({"name": "g", "source": {"resourceClaimName": "one"}}), ["spec.resourceClaims[0].source"]),
        (claiming(G, G), ["spec.resourceClaims[1].name"]),
        (claiming({**G, "name": "G"}), ["spec.resourceClaims[0].name"]),
        (claiming({**G, "resourceClaimName": "A b"}), ["spec.resourceClaims[0].resourceClaimName"]),
        (claiming(G, mentions=({"name": "g"}, {"name": "g"})), ["spec.containers[0].resources.claims[1]"]),
        (
            claiming(G, mentions=({"name": "g"}, {"name": "g", "request": "a"})),
            ["spec.containers[0].resources.claims[1]"],
        ),
        (
            claiming(G, mentions=({"name": "g", "request": "a"}, {"name": "g"})),
            ["spec.containers[0].resources.claims[1]"],
        ),
        (claiming(G, mentions=({"name": "g", "request": "A"},)), ["spec.containers[0].resources.claims[0].request"]),
        (claiming(mentions=({"name": "x"},)), ["spec.containers[0].resources.claims[0].name"]),
    ],
)
def test_mentions_of_claims(spec: dict[str, Any], paths: list[str]) -> None:
    assert found(spec) == paths


def ports(*listed: dict[str, Any], group: str = "containers") -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "main"}]}
    spec[group] = [{"name": f"x{place}", "ports": [one]} for place, one in enumerate(listed)]
    return spec


HOST = {"containerPort": 80, "hostPort": 80}


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (ports(HOST, {**HOST, "hostPort": 81}), []),
        (ports(HOST, {**HOST, "protocol": "UDP"}), []),
        (ports(HOST, HOST), ["spec.containers[1].ports[0].hostPort"]),
        (ports(HOST, HOST, group="initContainers"), []),
        (ports({**HOST, "name": "Web"}), ["spec.containers[0].ports[0].name"]),
        (ports({**HOST, "name": "a-very-long-name"}), ["spec.containers[0].ports[0].name"]),
    ],
)
def test_host_ports(spec: dict[str, Any], paths: list[str]) -> None:
    assert found(spec) == paths


def test_an_init_container_may_have_a_higher_limit_and_another_port_than_its_own_on_the_host() -> None:
    high = {"limits": {"cpu": "4"}, "requests": {"cpu": "1"}}
    spec = level({"limits": {"cpu": "2"}}, init=(high,))
    spec["initContainers"][0]["ports"] = [{"containerPort": 80, "hostPort": 81}]
    assert found({**spec, "hostNetwork": True}) == []


def test_names_of_ports_are_unique_in_a_container() -> None:
    twice = [{"containerPort": 80, "name": "web"}, {"containerPort": 81, "name": "web"}]
    assert found({"containers": [{"name": "c", "ports": twice}]}) == ["spec.containers[0].ports[1].name"]


def test_blanks_around_an_amount_and_null_are_taken() -> None:
    resources = {"limits": {"memory": "1Gi ", "cpu": None}}
    spec = {"containers": [{"name": "c", "resources": resources}]}
    assert found(spec) == []
    [container] = read_pod({"metadata": {"name": "p"}, "spec": spec}).containers
    assert container.limits["memory"].nano == 2**30 * 10**9
    assert container.limits["cpu"].nano == 0
