"""What the API server would refuse, rule by rule, with path and message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from numalign.model.apiserver.validation import validate
from tests.dice import draws
from tests.model.apiserver.test_apiserver import PLAIN, pod

FIRST = "spec.containers[0].resources"
GPU = "nvidia.com/gpu"


def problems(manifest: Any) -> list[tuple[str, str]]:
    return [tuple(problem) for problem in validate(manifest)]


@pytest.mark.parametrize(
    "resources",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"limits": None}, id="an empty section"),
        pytest.param({"limits": {"cpu": 2, "memory": "1Gi", GPU: 1}}, id="numbers"),
        pytest.param({"limits": {"cpu": 0.5}, "requests": {"cpu": "500m"}}, id="fractional cpu"),
        pytest.param({"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}, id="huge pages with cpu"),
        pytest.param({"limits": {GPU: "1000m"}}, id="a whole number written in thousandths"),
        pytest.param({"requests": {"ephemeral-storage": "1Gi"}}, id="a request alone"),
        pytest.param({"requests": {"kubernetes.io/batch": "1"}}, id="a native name need not be limited"),
    ],
)
def test_good_resources_have_no_problem(resources: dict[str, Any]) -> None:
    assert problems(pod(resources)) == []


@pytest.mark.parametrize(
    ("resources", "path", "message"),
    [
        pytest.param(
            {"limits": {"cpu": "2"}, "requests": {"cpu": "3"}},
            ".requests.cpu",
            "3 is more than the limit 2",
            id="request above limit",
        ),
        pytest.param(
            {"limits": {"cpu": "-1"}}, ".limits.cpu", '"-1" is negative; amounts are zero or more', id="negative"
        ),
        pytest.param(
            {"limits": {GPU: "0.5"}},
            f'.limits["{GPU}"]',
            "500m is no whole number; extended resources are counted in whole units",
            id="half a device",
        ),
        pytest.param(
            {"requests": {GPU: "1"}},
            f'.requests["{GPU}"]',
            f"a request without a limit; {GPU} needs a limit equal to the request",
            id="device request without limit",
        ),
        pytest.param(
            {"requests": {GPU: "1"}, "limits": {GPU: 2}},
            f'.requests["{GPU}"]',
            "1 and limit 2 differ; fix: write the same amount for both",
            id="device request below limit",
        ),
        pytest.param(
            {"limits": {"hugepages-2Mi": "4Mi"}},
            "",
            "huge pages need a request or limit of cpu or memory beside them",
            id="huge pages alone",
        ),
        pytest.param(
            {"limits": {"cpu": 1, "hugepages-2Mi": "3Mi"}},
            ".limits.hugepages-2Mi",
            "3Mi is no multiple of the page size 2Mi",
            id="half a huge page",
        ),
        pytest.param(
            {"limits": {"cpu": 1, "hugepages-x": "3Mi"}},
            ".limits.hugepages-x",
            '"hugepages-x" names no page size: expected hugepages-2Mi or hugepages-1Gi',
            id="no page size",
        ),
        pytest.param(
            {"limits": {"gpu": 1}},
            ".limits.gpu",
            '"gpu" is no resource of a container: expected cpu, memory, ephemeral-storage, hugepages-SIZE or a full '
            "name such as nvidia.com/gpu",
            id="a bare name",
        ),
        pytest.param(
            {"limits": {"a/b/c": 1}},
            '.limits["a/b/c"]',
            '"a/b/c" is no resource name: expected DOMAIN/NAME such as nvidia.com/gpu',
            id="two slashes",
        ),
        pytest.param({"limit": {"cpu": 1}}, ".limit", 'unknown field "limit"; hint: similar: "limits"', id="a typo"),
        pytest.param(
            {"claims": [{"name": "gpu"}]},
            ".claims[0].name",
            '"gpu" is not among spec.resourceClaims',
            id="a claim the pod does not have",
        ),
    ],
)
def test_bad_resources_are_refused(resources: dict[str, Any], path: str, message: str) -> None:
    assert problems(pod(resources)) == [(FIRST + path, message)]


LABEL = "lower-case letters, digits and '-', at most 63, begins and ends alphanumeric"


@pytest.mark.parametrize(
    ("manifest", "path", "message"),
    [
        pytest.param(pod(), "spec.containers", "a pod needs at least one container", id="no container"),
        pytest.param(
            {"spec": {"containers": [{"name": "c"}]}},
            "metadata.name",
            "missing; a pod needs a name or a generateName",
            id="no name",
        ),
        pytest.param(
            pod({}, initContainers=[{"name": "c0"}]),
            "spec.containers[0].name",
            '"c0" is also the name of spec.initContainers[0]; names of containers are unique in a pod',
            id="two containers of one name",
        ),
        pytest.param(
            pod({}, initContainers=[{"name": "C_0"}]),
            "spec.initContainers[0].name",
            f'"C_0" is no container name: {LABEL}',
            id="no DNS label",
        ),
        pytest.param(
            pod({}, initContainers=[{"name": "i", "restartPolicy": "Sometimes"}]),
            "spec.initContainers[0].restartPolicy",
            'expected Always, OnFailure, Never, got "Sometimes"',
            id="an unknown restart policy",
        ),
        pytest.param(
            {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "restartPolicyRules": [{}]}]}},
            "spec.containers[0].restartPolicyRules",
            "needs a restartPolicy of the container beside it",
            id="rules without a restart policy",
        ),
        pytest.param(
            {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resource": {}}]}},
            "spec.containers[0].resource",
            'unknown field "resource"; hint: similar: "resources"',
            id="resources misspelt",
        ),
        pytest.param(
            pod({}, overhead={"cpu": "-1m"}),
            "spec.overhead.cpu",
            '"-1m" is negative; amounts are zero or more',
            id="negative overhead",
        ),
        pytest.param(
            {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 0}]}]}},
            "spec.containers[0].ports[0].containerPort",
            "expected a port from 1 to 65535, got 0",
            id="port 0",
        ),
    ],
)
def test_bad_pods_are_refused(manifest: dict[str, Any], path: str, message: str) -> None:
    assert problems(manifest) == [(path, message)]


def test_fields_of_other_parts_and_of_newer_releases_pass() -> None:
    manifest = pod({}, volumes=[], hostnameOverride="x", somethingNew=1)

    assert problems(manifest) == []


def test_a_template_needs_no_name() -> None:
    assert validate({"spec": {"containers": [{"name": "c"}]}}, named=False) == ()


def test_what_a_template_calls_itself_is_not_judged() -> None:
    """Its pods are named by the owner, in the owner's namespace."""
    manifest = {"metadata": {"name": "Any_Name", "namespace": "Any_Namespace"}, "spec": {"containers": [{"name": "c"}]}}

    assert validate(manifest, named=False) == ()
    assert [problem.path for problem in validate(manifest)] == ["metadata.name", "metadata.namespace"]


def test_all_problems_are_collected() -> None:
    manifest = pod({"limits": {"cpu": "-1", "gpu": 1}}, {"limits": {GPU: "1.5"}})

    assert len(problems(manifest)) == 3


@draws(200)
@given(PLAIN)
def test_whatever_the_manifest_it_is_judged(manifest: Any) -> None:
    for candidate in (manifest, {"spec": manifest}, {"spec": {"containers": manifest}}, pod({"limits": manifest})):
        assert all(message for _, message in validate(candidate))
