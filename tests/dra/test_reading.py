"""Objects of `resource.k8s.io` in the versions of its API, read into the same values."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.reading import read_claim, read_slice, read_template

EXACTLY: dict[str, Any] = {
    "deviceClassName": "gpu.nvidia.com",
    "count": 2,
    "selectors": [{"cel": {"expression": "true"}}],
    "capacity": {"requests": {"memory": "10Gi"}},
}
ANY = {"firstAvailable": [{"name": "big", **EXACTLY}, {"name": "small", "deviceClassName": "mig.nvidia.com"}]}
DEVICE: dict[str, Any] = {"attributes": {"index": {"int": 3}}, "capacity": {"memory": {"value": "80Gi"}}}


def api_object(kind: str, version: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "it", "namespace": "ns"}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": metadata, "spec": spec}


def asking(requests: list[dict[str, Any]]) -> dict[str, Any]:
    return {"devices": {"requests": requests, "constraints": [{"matchAttribute": "resource.kubernetes.io/numaNode"}]}}


NOW = asking([{"name": "gpu", "exactly": EXACTLY}, {"name": "any", **ANY}])
V1BETA1 = asking([{"name": "gpu", **EXACTLY}, {"name": "any", **ANY}])


@pytest.mark.parametrize(("version", "spec"), [("v1beta2", NOW), ("v1beta1", V1BETA1)])
def test_a_claim_asks_for_the_same_in_every_version(version: str, spec: dict[str, Any]) -> None:
    claim = read_claim(api_object("ResourceClaim", "v1", NOW))

    assert claim.requests[0].exactly is not None
    assert (claim.requests[0].exactly.number, len(claim.requests[1].alternatives)) == (2, 2)
    assert read_claim(api_object("ResourceClaim", version, spec)) == claim
    assert read_template(api_object("ResourceClaimTemplate", version, {"spec": spec})) == claim


def test_fields_that_a_version_does_not_have_are_not_read() -> None:
    """The API server drops them, too."""
    assert read_claim(api_object("ResourceClaim", "v1", V1BETA1)).requests[0].exactly is None


def test_a_device_of_v1beta1_is_below_basic() -> None:
    rest = {"driver": "gpu.nvidia.com", "pool": {"name": "p"}, "nodeName": "n"}
    now = api_object("ResourceSlice", "v1", {**rest, "devices": [{"name": "gpu-3", **DEVICE}]})
    then = api_object("ResourceSlice", "v1beta1", {**rest, "devices": [{"name": "gpu-3", "basic": DEVICE}]})

    assert read_slice(then) == read_slice(now)
    assert read_slice(now).devices[0].attributes["index"].value == 3
