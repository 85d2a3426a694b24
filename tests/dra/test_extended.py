"""Extended resources that claims serve (docs/rules/dra.md D-53)."""

from __future__ import annotations

from numalign.dra.extended import claim_of, class_of, marked, served
from numalign.dra.values import DeviceClass
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod

GPU = "nvidia.com/gpu"
CLASSES = {"gpu": DeviceClass("gpu", extended_resource=GPU), "nic": DeviceClass("nic")}
IMPLICIT = "deviceclass.resource.kubernetes.io/nic"


def asking(**limits: str) -> Pod:
    names = {"gpu": GPU, "nic": IMPLICIT, "other": "a.b/c"}
    resources = {"limits": {names[name]: amount for name, amount in limits.items()}}
    return read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": resources}]}})


def test_a_class_names_a_resource_and_every_class_has_an_implicit_one() -> None:
    assert class_of(GPU, CLASSES) == "gpu"
    assert class_of(IMPLICIT, CLASSES) == "nic"
    assert class_of("deviceclass.resource.kubernetes.io/none", CLASSES) is None
    assert class_of("a.b/c", CLASSES) is None


def test_what_a_device_plugin_has_is_not_claimed() -> None:
    pod = asking(gpu="2", nic="1", other="1")
    assert served(pod, CLASSES, {}) == {("c", GPU), ("c", IMPLICIT)}
    assert served(pod, CLASSES, {GPU: 4 * 10**9}) == {("c", IMPLICIT)}
    assert served(asking(gpu="0"), CLASSES, {}) == frozenset()


def test_the_claim_has_a_request_for_each_resource() -> None:
    pod = asking(gpu="2", nic="1")
    claim = claim_of(marked(pod, CLASSES, {}), CLASSES)
    forms = [one.exactly for one in claim.requests if one.exactly is not None]
    assert claim.full_name == "default/p-extended-resources"
    assert {(form.device_class, form.number) for form in forms} == {("gpu", 2), ("nic", 1)}
    assert [form.name for form in forms] == ["container-0-request-0", "container-0-request-1"]


def test_the_claim_has_none_for_what_nobody_claims() -> None:
    pod = asking(gpu="2", nic="1", other="1")
    requests = claim_of(marked(pod, CLASSES, {}), CLASSES).requests
    assert [form.device_class for one in requests if (form := one.exactly)] == ["nic", "gpu"]
