"""What `lint` says of claims: with the files alone, and by what is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ROOT, in_process
from tests.dra.objects import NUMA, claim, request
from tests.schemas import strictly

STDIN = ("lint", "-", "-o", "json")
API = {"apiVersion": "resource.k8s.io/v1"}
CLUSTER = str(ROOT / "docs" / "examples" / "dra" / "cluster.yaml")
T4 = [{"cel": {"expression": "device.attributes['gpu.nvidia.com'].productName == 'T4'"}}]
CPUS = {"requests": {"dra.cpu/cpu": "4"}}


def found(
    folder: Path, wanted: dict[str, Any], *more: str, cpu: str | None = "4", containers: int = 1, **spec: Any
) -> dict[str, str]:
    """Codes and effects of a pod with a claim."""
    amounts = {"memory": "1Gi", **({"cpu": cpu} if cpu else {})}
    resources = {"requests": amounts, "limits": amounts, "claims": [{"name": "d"}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": f"c{index}", "resources": resources} for index in range(containers)],
            "resourceClaims": [{"name": "d", "resourceClaimName": "c"}],
            **spec,
        },
    }
    path = folder / "p.json"
    path.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, {**API, "kind": "ResourceClaim", **wanted}]})
    )
    done = in_process("lint", str(path), "-o", "json", *more)
    assert done.status in (0, 1), done.err
    return {one["code"]: one["effect"] for one in done.json["pods"][0]["findings"] if one["code"] != "dra-claim"}


def gpu_and(other: str, match: str) -> dict[str, Any]:
    return claim("c", request("gpu", "gpu.nvidia.com"), request("other", other), match=match)


@pytest.mark.parametrize(
    ("wanted", "effect"),
    [
        (gpu_and("dra.net", "dra.net/numaNode"), "impossible"),
        (gpu_and("dra.net", "gpu.nvidia.com/numa"), "impossible"),
        (gpu_and("dra.cpu", "resource.kubernetes.io/pcieRoot"), "impossible"),
        (gpu_and("dra.net", NUMA), "note"),
        (gpu_and("dra.net", "resource.kubernetes.io/pcieRoot"), None),
        (claim("c", request("a", "dra.cpu"), request("b", "dra.net"), match="dra.net/numaNode"), None),
        (claim("c", request("a", "my-class"), request("b", "dra.net"), match="dra.cpu/numaNodeID"), "impossible"),
        (claim("c", request("a", "my-class"), match="example.com/anything"), None),
    ],
)  # fmt: skip
def test_a_name_that_a_known_driver_does_not_publish_never_matches(
    wanted: dict[str, Any], effect: str | None, tmp_path: Path
) -> None:
    assert found(tmp_path, wanted).get("claim-attribute") == effect


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (claim("c", request("g", "gpu.nvidia.con")), "claim-class"),
        (claim("c", request("g", "gpu.nvidia.com", selectors=T4)), "claim-devices"),
        (gpu_and("dra.net", "dra.net/numaNode"), "claim-attribute"),
        (claim("other-name", request("g", "gpu.nvidia.com")), "claim-absent"),
    ],
)  # fmt: skip
def test_what_is_published_decides_where_it_is_given(wanted: dict[str, Any], code: str, tmp_path: Path) -> None:
    codes = found(tmp_path, wanted, "--slices", CLUSTER)
    assert codes.get(code) == "impossible"


def test_a_claim_that_can_be_met_has_no_such_finding(tmp_path: Path) -> None:
    wanted = gpu_and("dra.net", "resource.kubernetes.io/pcieRoot")
    assert set(found(tmp_path, wanted, "--slices", CLUSTER)) == {"claim-and-cpus"}


def test_cpus_by_claim_are_mirrored_or_told(tmp_path: Path) -> None:
    wanted = claim("c", request("c", "dra.cpu", capacity=CPUS))

    assert found(tmp_path, wanted) == {}
    assert found(tmp_path, wanted, cpu="2") == {"claim-cpus": "unaligned"}
    assert "claim-cpus" in found(tmp_path, wanted, cpu=None)


def test_resources_for_the_whole_pod_mirror_cpus_too(tmp_path: Path) -> None:
    wanted = claim("c", request("c", "dra.cpu", capacity=CPUS))
    codes = found(tmp_path, wanted, cpu=None, resources={"requests": {"cpu": "4"}, "limits": {"cpu": "4"}})
    assert "claim-cpus" not in codes
    assert "pod-level-resources" in codes


def test_a_claim_of_cpus_is_for_one_container(tmp_path: Path) -> None:
    assert found(tmp_path, claim("c", request("c", "dra.cpu", capacity=CPUS)), containers=2) == {
        "claim-cpus": "unaligned"
    }


def test_codes_of_claims_can_be_passed_over(tmp_path: Path) -> None:
    wanted = gpu_and("dra.net", "dra.net/numaNode")
    assert found(tmp_path, wanted, "--ignore", "claim-attribute", "--ignore", "claim-and-cpus") == {}


def test_cpus_and_devices_of_two_worlds_are_told(tmp_path: Path) -> None:
    assert found(tmp_path, claim("c", request("g", "gpu.nvidia.com"))) == {"claim-and-cpus": "unaligned"}
    assert found(tmp_path, claim("c", request("g", "gpu.nvidia.com")), cpu="500m").get("claim-and-cpus") is None


def test_claims_of_one_name_are_those_of_the_pods_own_file(tmp_path: Path) -> None:
    def files(folder: str, cpus: str) -> None:
        (tmp_path / folder).mkdir()
        amounts = {"cpu": "4", "memory": "1Gi"}
        resources = {"requests": amounts, "limits": amounts, "claims": [{"name": "d"}]}
        spec = {
            "containers": [{"name": "c0", "resources": resources}],
            "resourceClaims": [{"name": "d", "resourceClaimName": "c"}],
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        wanted = request("a", "dra.cpu")
        wanted["exactly"]["capacity"] = {"requests": {"dra.cpu/cpu": cpus}}
        (tmp_path / folder / "pod.json").write_text(json.dumps(pod))
        (tmp_path / folder / "claim.json").write_text(
            json.dumps({**API, "kind": "ResourceClaim", **claim("c", wanted)})
        )

    files("fits", "4")
    files("more", "8")

    done = in_process(
        "lint", str(tmp_path / "fits"), str(tmp_path / "more"), str(tmp_path / "fits" / "claim.json"), "-o", "json"
    )

    assert done.status == 1, done.err
    codes = [[one["code"] for one in pod["findings"]] for pod in done.json["pods"]]
    assert ["claim-cpus" in one for one in codes] == [False, True]


def test_a_file_with_a_claim_may_be_given_twice(tmp_path: Path) -> None:
    once = found(tmp_path, claim("c", request("a", "dra.net")))

    assert found(tmp_path, claim("c", request("a", "dra.net")), str(tmp_path / "p.json")) == once


def alone(folder: Path, kind: str, wanted: dict[str, Any], *more: str) -> dict[str, Any]:
    """What is found of a claim or template that no pod uses."""
    written = wanted if kind == "ResourceClaim" else {"metadata": wanted["metadata"], "spec": {"spec": wanted["spec"]}}
    path = folder / "claim.json"
    path.write_text(json.dumps({**API, "kind": kind, **written}))
    done = in_process("lint", str(path), "-o", "json", *more)
    strictly("lint-result").validate(done.json)
    [one] = done.json["pods"]
    return {**one, "status": done.status, "codes": [each["code"] for each in one["findings"]]}


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_claims_are_judged_without_pods(kind: str, tmp_path: Path) -> None:
    wanted = gpu_and("dra.net", "dra.net/numaNode")
    one = alone(tmp_path, kind, wanted)
    assert (one["kind"], one["name"], one["qos"], one["line"]) == (kind, "c", None, 1)
    assert (one["codes"], one["status"]) == (["claim-attribute"], 1)
    assert alone(tmp_path, kind, wanted, "--slices", CLUSTER)["codes"] == ["claim-attribute"]
    assert alone(tmp_path, kind, claim("c", request("g", "gpu.nvidia.con")), "--slices", CLUSTER)["codes"] == [
        "claim-class"
    ]
    one = alone(tmp_path, kind, claim("c", request("g", "gpu.nvidia.com", selectors=T4)), "--slices", CLUSTER)
    assert one["codes"] == ["claim-devices"]
    one = alone(tmp_path, kind, wanted, "--ignore", "claim-attribute")
    assert (one["codes"], one["ignored"], one["status"]) == ([], ["claim-attribute"], 0)


def test_a_claim_that_can_be_met_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "claim.json"
    path.write_text(json.dumps({**API, "kind": "ResourceClaim", **claim("c", request("g", "gpu.nvidia.com"))}))
    done = in_process("lint", str(path), "--slices", CLUSTER)
    assert (done.status, done.out) == (0, "1 claim, 0 findings. No machine given (--machine adds checks).\n")


def test_a_claim_that_a_pod_uses_is_judged_once(tmp_path: Path) -> None:
    found(tmp_path, gpu_and("dra.net", "dra.net/numaNode"))
    done = in_process("lint", str(tmp_path / "p.json"), "-o", "json")
    assert [one["kind"] for one in done.json["pods"]] == ["Pod"]


WRONG_NAME = (ROOT / "docs" / "examples" / "dra" / "wrong-name.yaml").read_text(encoding="utf-8")


def test_a_claim_of_standard_input_is_judged_without_pods() -> None:
    done = in_process(*STDIN, stdin=WRONG_NAME.encode())

    strictly("lint-result").validate(done.json)
    assert done.status == 1
    [one] = done.json["pods"]
    assert (one["kind"], [finding["code"] for finding in one["findings"]]) == ("ResourceClaim", ["claim-attribute"])


@pytest.mark.parametrize("command", [["lint"], ["dra", "check"], ["admit", "-m", "figure-1"]], ids=" ".join)
def test_slices_and_pods_cannot_both_be_standard_input(command: list[str]) -> None:
    pod = (ROOT / "docs" / "examples" / "dra" / "gpu.yaml").read_bytes()
    done = in_process(*command, "-", "--slices", "-", stdin=pod)
    assert done.status == 2
    assert (
        "--slices -: standard input is read once\nfix: name a file for the slices, or for the pods and claims"
        in done.err
    )


@pytest.mark.parametrize("where", ["claim", "template", "the template's claims"])
def test_a_claim_passes_over_rules_by_its_own_annotation(where: str) -> None:
    notes = {"annotations": {"numalign/ignore": "claim-attribute, claim-devices"}}
    wanted = claim("c", request("gpu", "gpu.nvidia.com"), request("nic", "dra.net"), match="dra.net/numaNode")
    made: dict[str, Any] = {**API, "kind": "ResourceClaim", **wanted}
    if where != "claim":
        made = {**made, "kind": "ResourceClaimTemplate", "spec": {"spec": made["spec"]}}
    part = made["spec"] if where == "the template's claims" else made
    by = "resourceClaimName" if where == "claim" else "resourceClaimTemplateName"
    resources = {"claims": [{"name": "d"}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": resources}], "resourceClaims": [{"name": "d", by: "c"}]},
    }
    for items in ([pod, made], [made]):
        text = json.dumps({"kind": "List", "items": items})
        assert "claim-attribute" in in_process(*STDIN, stdin=text.encode()).out
    part["metadata"] = {**part.get("metadata", {}), **notes}
    for items in ([pod, made], [made]):
        found = in_process(*STDIN, stdin=json.dumps({"kind": "List", "items": items}).encode()).json
        [one] = found["pods"]
        assert "claim-attribute" not in [finding["code"] for finding in one["findings"]]
        assert "claim-attribute" in one["ignored"]


def test_an_unknown_code_in_a_claim_s_annotation_is_refused(tmp_path: Path) -> None:
    made = {**API, "kind": "ResourceClaim", **claim("c", request("gpu", "gpu.nvidia.com"))}
    made["metadata"] = {"name": "c", "annotations": {"numalign/ignore": "claim-atribute"}}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(made), encoding="utf-8")

    done = in_process("lint", str(path))

    assert done.status == 2
    assert f'{path}:1: metadata.annotations["numalign/ignore"]: unknown rule "claim-atribute"' in done.err
