"""What a pod demands of a node beside resources (docs/rules/admission-fit.md 4)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.kubelet.fit.predicates import (
    as_static,
    matches_node,
    ports_taken,
    selects_fields,
    selects_labels,
    tolerates,
    wrong_system,
)
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Taint
from numalign.model.pod import Pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LABELS = {"zone": "a", "size": "08", "depth": "-2"}


def pod(labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None, **spec: Any) -> Pod:
    containers = spec.pop("containers", [{"name": "c"}])
    metadata = {"name": "p", "labels": labels or {}, "annotations": annotations or {}}
    return read_pod({"metadata": metadata, "spec": {"containers": containers, **spec}})


def affinity(*terms: dict[str, Any]) -> Pod:
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def asks(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


HOLDS = [
    ("In, one of them", asks("zone", "In", "b", "a"), True),
    ("In, none of them", asks("zone", "In", "b"), False),
    ("In of a label that is missing", asks("rack", "In", "a"), False),
    ("NotIn, one of them", asks("zone", "NotIn", "a"), False),
    ("NotIn, none of them", asks("zone", "NotIn", "b"), True),
    ("NotIn of a label that is missing", asks("rack", "NotIn", "a"), True),
    ("NotIn of nothing is malformed", asks("zone", "NotIn"), False),
    ("Exists", asks("zone", "Exists"), True),
    ("Exists of a label that is missing", asks("rack", "Exists"), False),
    ("Exists with a value is malformed", asks("zone", "Exists", "a"), False),
    ("DoesNotExist", asks("rack", "DoesNotExist"), True),
    ("DoesNotExist of one that is there", asks("zone", "DoesNotExist"), False),
    ("Gt a smaller number", asks("size", "Gt", "7"), True),
    ("Gt the same", asks("size", "Gt", "8"), False),
    ("Lt a greater number", asks("depth", "Lt", "-1"), True),
    ("Lt the same", asks("depth", "Lt", "-2"), False),
    ("Gt of a text", asks("zone", "Gt", "7"), False),
    ("Gt a text", asks("size", "Gt", "x"), False),
    ("Gt two numbers", asks("size", "Gt", "1", "2"), False),
    ("Lt of a label that is missing", asks("rack", "Lt", "7"), False),
    ("an operator that is none", asks("zone", "Like", "a"), False),
    ("an operator that is none, and numbers", asks("size", "Like", "9"), False),
    ("In without values is malformed", {"matchExpressions": [{"key": "zone", "operator": "In"}]}, False),
    ("a name without values is malformed", {"matchFields": [{"key": "metadata.name", "operator": "In"}]}, False),
    ("the node by its name", named("In", "n"), True),
    ("another node", named("In", "m"), False),
    ("not another node", named("NotIn", "m"), True),
    ("not this node", named("NotIn", "n"), False),
    ("one of two names is malformed", named("In", "n", "m"), False),
    ("an operator for labels", named("Exists", "n"), False),
    ("an operator for labels, and another node", named("DoesNotExist", "m"), False),
    ("another field", named("In", "n", key="metadata.uid"), False),
    ("nothing asked matches nothing", {}, False),
    ("labels and fields together", {**asks("zone", "Exists"), **named("In", "n")}, True),
    ("labels hold, fields do not", {**asks("zone", "Exists"), **named("In", "m")}, False),
    ("fields hold, labels do not", {**asks("rack", "Exists"), **named("In", "n")}, False),
]


@pytest.mark.parametrize(("term", "holds"), [row[1:] for row in HOLDS], ids=[row[0] for row in HOLDS])
def test_a_term_of_node_affinity(term: dict[str, Any], holds: bool) -> None:
    assert matches_node(affinity(term), LABELS, "n") is holds


@pytest.mark.parametrize(
    ("asked", "holds"),
    [({"podAffinity": {}}, True), ({"nodeAffinity": {}}, True), ({"nodeAffinity": {REQUIRED: {}}}, False)],
)
def test_an_affinity_asks_for_a_node_once_it_requires_one(asked: dict[str, Any], holds: bool) -> None:
    """No terms at all are terms that nothing matches."""
    assert matches_node(pod(affinity=asked), LABELS, "n") is holds


def test_one_term_is_enough_and_none_is_not() -> None:
    assert matches_node(affinity(asks("rack", "Exists"), asks("zone", "Exists")), LABELS, "n")
    assert not matches_node(affinity(), LABELS, "n")
    assert matches_node(pod(), {}, "n")


def test_all_of_a_term_has_to_hold() -> None:
    both = {
        "matchExpressions": [*asks("zone", "Exists")["matchExpressions"], *asks("rack", "Exists")["matchExpressions"]]
    }
    assert not matches_node(affinity(both), LABELS, "n")


def test_a_node_selector_has_to_hold_beside_the_affinity() -> None:
    assert matches_node(pod(nodeSelector={"zone": "a", "size": "08"}), LABELS, "n")
    assert not matches_node(pod(nodeSelector={"zone": "a", "size": "8"}), LABELS, "n")
    assert not matches_node(pod(nodeSelector={"rack": "a"}), LABELS, "n")
    both = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [asks("rack", "Exists")]}}}
    assert not matches_node(pod(nodeSelector={"zone": "a"}, affinity=both), LABELS, "n")


def test_the_kubelet_puts_its_own_system_among_labels_but_not_where_there_are_none() -> None:
    linux = pod(nodeSelector={"kubernetes.io/os": "linux"})
    assert matches_node(linux, {"zone": "a"}, "n")
    assert matches_node(linux, {"kubernetes.io/os": "windows"}, "n")
    assert not matches_node(linux, {}, "n")


def test_what_is_asked_of_a_node() -> None:
    assert selects_labels(pod(nodeSelector={"zone": "a"}))
    assert selects_labels(affinity(named("In", "n"), asks("zone", "Exists")))
    assert not selects_labels(affinity(named("In", "n")))
    assert not selects_labels(pod())
    assert selects_fields(affinity(asks("zone", "Exists"), named("In", "n")))
    assert not selects_fields(affinity(asks("zone", "Exists")))
    assert not selects_fields(pod())


SYSTEMS = [
    ("nothing said", {}, None, None),
    ("Linux", {"kubernetes.io/os": "linux"}, "linux", None),
    ("a label for another one", {"kubernetes.io/os": "windows"}, None, "PodOSSelectorNodeLabelDoesNotMatch"),
    ("an empty label", {"kubernetes.io/os": ""}, None, "PodOSSelectorNodeLabelDoesNotMatch"),
    ("a field for another one", {}, "windows", "PodOSNotSupported"),
    ("both: the label is looked at first", {"kubernetes.io/os": "x"}, "windows", "PodOSSelectorNodeLabelDoesNotMatch"),
]


@pytest.mark.parametrize(("labels", "os", "reason"), [row[1:] for row in SYSTEMS], ids=[row[0] for row in SYSTEMS])
def test_a_pod_for_another_system(labels: dict[str, str], os: str | None, reason: str | None) -> None:
    found = wrong_system(pod(labels, **({"os": {"name": os}} if os else {})))

    assert (found.reason if found else None) == reason


def with_ports(*ports: dict[str, Any], **more: Any) -> Pod:
    return pod(containers=[{"name": "c", "ports": list(ports)}], **more)


def port(number: int, **fields: Any) -> dict[str, Any]:
    return {"containerPort": 1, "hostPort": number, **fields}


TAKEN = [
    ("the same number", with_ports(port(80)), with_ports(port(80)), True),
    ("another number", with_ports(port(80)), with_ports(port(81)), False),
    ("another protocol", with_ports(port(80)), with_ports(port(80, protocol="UDP")), False),
    ("TCP by itself", with_ports(port(80)), with_ports(port(80, protocol="TCP")), True),
    ("two addresses", with_ports(port(80, hostIP="10.0.0.1")), with_ports(port(80, hostIP="10.0.0.2")), False),
    ("one address", with_ports(port(80, hostIP="10.0.0.1")), with_ports(port(80, hostIP="10.0.0.1")), True),
    ("all addresses and one", with_ports(port(80, hostIP="0.0.0.0")), with_ports(port(80, hostIP="10.0.0.1")), True),
    ("one address and all", with_ports(port(80, hostIP="10.0.0.1")), with_ports(port(80)), True),
    ("an empty address is all", with_ports(port(80, hostIP="")), with_ports(port(80, hostIP="10.0.0.1")), True),
    ("the least number", with_ports(port(1)), with_ports(port(1)), True),
    ("no port of the host", with_ports({"containerPort": 80}), with_ports(port(80)), False),
    ("port 0 is none", with_ports(port(0)), with_ports(port(0)), False),
    (
        "the host's network has the container's ports",
        with_ports({"containerPort": 80}, hostNetwork=True),
        with_ports(port(80)),
        True,
    ),
    ("the second of several", with_ports(port(80), port(90)), with_ports(port(70), port(90)), True),
    ("two equal ones inside a pod", with_ports(port(80), port(80)), with_ports(port(81)), False),
    (
        "an init container's is not looked at",
        with_ports(port(80)),
        pod(initContainers=[{"name": "i", "ports": [port(80)]}]),
        False,
    ),
]


@pytest.mark.parametrize(("mine", "other", "taken"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_a_host_port_is_taken(mine: Pod, other: Pod, taken: bool) -> None:
    assert ports_taken(mine, [pod(), other]) is taken


TAINT = Taint("gpu", "yes", "NoExecute")
FITS = [
    ("key and value", [{"key": "gpu", "operator": "Equal", "value": "yes"}], True),
    ("Equal by itself", [{"key": "gpu", "value": "yes"}], True),
    ("another value", [{"key": "gpu", "value": "no"}], False),
    ("no value", [{"key": "gpu"}], False),
    ("any value", [{"key": "gpu", "operator": "Exists"}], True),
    ("any key", [{"operator": "Exists"}], True),
    ("another key", [{"key": "cpu", "operator": "Exists"}], False),
    ("the effect", [{"operator": "Exists", "effect": "NoExecute"}], True),
    ("another effect", [{"operator": "Exists", "effect": "NoSchedule"}], False),
    ("not even 0 seconds matter", [{"operator": "Exists", "tolerationSeconds": 0, "effect": "NoExecute"}], True),
    ("an operator that is none", [{"key": "gpu", "operator": "Like", "value": "yes"}], False),
    ("the second of two", [{"key": "cpu"}, {"operator": "Exists"}], True),
    ("none", [], False),
]


@pytest.mark.parametrize(("tolerations", "fits"), [row[1:] for row in FITS], ids=[row[0] for row in FITS])
def test_a_taint_is_tolerated(tolerations: list[dict[str, Any]], fits: bool) -> None:
    assert tolerates(pod(tolerations=tolerations), [TAINT]) is fits


def test_only_taints_that_execute_are_asked_about() -> None:
    others = [TAINT._replace(effect=effect) for effect in ("NoSchedule", "PreferNoSchedule")]
    assert tolerates(pod(), others)
    assert not tolerates(pod(), others, ("NoSchedule",))
    assert not tolerates(
        pod(tolerations=[{"key": "gpu", "operator": "Exists"}]), [TAINT, Taint("cpu", "", "NoExecute")]
    )
    assert tolerates(pod(tolerations=[{"key": "cpu"}]), [Taint("cpu", "", "NoExecute")])


def test_a_static_pod_comes_from_anywhere_but_the_api_server() -> None:
    assert not pod().is_static
    assert not pod(annotations={"kubernetes.io/config.source": "api"}).is_static
    for source in ("file", "http"):
        assert pod(annotations={"kubernetes.io/config.source": source}).is_static


def test_a_pod_as_the_kubelet_reads_it_from_a_file() -> None:
    made = as_static(pod(annotations={"a": "b"}))
    assert made.is_static
    assert made.annotations["a"] == "b"
