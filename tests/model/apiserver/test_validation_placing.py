"""What the API server rejects in the fields that say where a pod may run, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.validation import validate

ZONE = "topology.kubernetes.io/zone"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}


def node_terms(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def expression(operator: str, *values: str, key: str = "zone") -> dict[str, Any]:
    one: dict[str, Any] = {"key": key, "operator": operator}
    return {"matchExpressions": [{**one, "values": list(values)} if values else one]}


def field(*values: str, key: str = "metadata.name", operator: str = "In") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


def preferred(weight: int) -> dict[str, Any]:
    one = {"weight": weight, "preference": expression("Exists")}
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [one]}}}


def pods(kind: str = "podAffinity", **term: Any) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def pods_preferred(weight: int) -> dict[str, Any]:
    one = {"weight": weight, "podAffinityTerm": {"topologyKey": ZONE}}
    return {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [one]}}}


def spread(**fields: Any) -> dict[str, Any]:
    return {"topologySpreadConstraints": [{**SPREAD, **fields}]}


def tolerating(**fields: Any) -> dict[str, Any]:
    return {"tolerations": [fields]}


def found(spec: dict[str, Any]) -> list[str]:
    containers = [{"name": "c"}]
    return [one.path for one in validate({"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})]


GOOD: list[dict[str, Any]] = [
    {},
    {"nodeName": "worker-1.example.com", "nodeSelector": {"a.b/zone": "x", "empty": ""}},
    tolerating(operator="Exists"),
    tolerating(key="a.b/c", value="x", effect="NoSchedule"),
    tolerating(key="k", operator="Exists", effect="NoExecute", tolerationSeconds=3),
    node_terms(expression("In", "a"), expression("Gt", "3"), expression("DoesNotExist"), field("n")),
    preferred(100),
    pods(topologyKey=ZONE, labelSelector={"matchLabels": {"app": "x"}}, namespaces=["a"]),
    pods_preferred(1),
    {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": expression("In", "a b")}]}}},
    pods(topologyKey=ZONE, labelSelector={}, matchLabelKeys=["a"], mismatchLabelKeys=["b"]),
    spread(minDomains=2, nodeTaintsPolicy="Honor"),
    {"topologySpreadConstraints": [SPREAD, {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]},
    {"schedulingGates": [{"name": "a.b/c"}]},
]


@pytest.mark.parametrize("spec", GOOD)
def test_what_is_right(spec: dict[str, Any]) -> None:
    assert found(spec) == []


TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
POD_TERM = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
WRONG = [
    ({"nodeName": "Worker 1"}, "spec.nodeName"),
    ({"nodeSelector": {"a b": "x"}}, 'spec.nodeSelector["a b"]'),
    ({"nodeSelector": {"a": "x y"}}, "spec.nodeSelector.a"),
    ({"nodeSelector": {"a": "x" * 64}}, "spec.nodeSelector.a"),
    (tolerating(key="a b"), "spec.tolerations[0].key"),
    (tolerating(value="x"), "spec.tolerations[0].operator"),
    (tolerating(key="k", operator="Like"), "spec.tolerations[0].operator"),
    (tolerating(key="k", operator="Exists", value="x"), "spec.tolerations[0].value"),
    (tolerating(key="k", value="x y"), "spec.tolerations[0].value"),
    (tolerating(key="k", effect="Never"), "spec.tolerations[0].effect"),
    (tolerating(key="k", effect="NoSchedule", tolerationSeconds=3), "spec.tolerations[0].effect"),
    (node_terms(), TERMS),
    (node_terms(expression("In")), f"{TERMS}[0].matchExpressions[0].values"),
    (node_terms(expression("Exists", "x")), f"{TERMS}[0].matchExpressions[0].values"),
    (node_terms(expression("Gt", "1", "2")), f"{TERMS}[0].matchExpressions[0].values"),
    (node_terms(expression("Like", "x")), f"{TERMS}[0].matchExpressions[0].operator"),
    (node_terms(expression("Exists", key="a b")), f"{TERMS}[0].matchExpressions[0].key"),
    (node_terms(field("a", "b")), f"{TERMS}[0].matchFields[0].values"),
    (node_terms(field("a", key="spec.x")), f"{TERMS}[0].matchFields[0].key"),
    (node_terms(field("a", operator="Exists")), f"{TERMS}[0].matchFields[0].operator"),
    (node_terms(field("A b")), f"{TERMS}[0].matchFields[0].values[0]"),
    (node_terms(expression("In", "a", "b c")), f"{TERMS}[0].matchExpressions[0].values[1]"),
    (pods(topologyKey=ZONE, matchLabelKeys=["a"]), f"{POD_TERM}.matchLabelKeys"),
    (pods(topologyKey=ZONE, labelSelector={}, mismatchLabelKeys=["a b"]), f"{POD_TERM}.mismatchLabelKeys[0]"),
    (
        pods(topologyKey=ZONE, labelSelector={}, matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
        f"{POD_TERM}.mismatchLabelKeys[0]",
    ),
    (
        pods(topologyKey=ZONE, labelSelector=expression("In", "a b")),
        f"{POD_TERM}.labelSelector.matchExpressions[0].values[0]",
    ),
    (spread(matchLabelKeys=["a"]), "spec.topologySpreadConstraints[0].matchLabelKeys"),
    (preferred(0), "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"),
    (pods(), f"{POD_TERM}.topologyKey"),
    (pods(topologyKey="a b"), f"{POD_TERM}.topologyKey"),
    (pods(topologyKey=ZONE, namespaces=["A"]), f"{POD_TERM}.namespaces[0]"),
    (pods(topologyKey=ZONE, labelSelector={"matchLabels": {"a": "x y"}}), f"{POD_TERM}.labelSelector.matchLabels.a"),
    (
        pods(topologyKey=ZONE, labelSelector=expression("Gt", "1")),
        f"{POD_TERM}.labelSelector.matchExpressions[0].operator",
    ),
    (pods_preferred(101), "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"),
    (spread(maxSkew=0), "spec.topologySpreadConstraints[0].maxSkew"),
    (spread(whenUnsatisfiable=None), "spec.topologySpreadConstraints[0].whenUnsatisfiable"),
    (spread(topologyKey=""), "spec.topologySpreadConstraints[0].topologyKey"),
    (spread(minDomains=0), "spec.topologySpreadConstraints[0].minDomains"),
    (spread(minDomains=1, whenUnsatisfiable="ScheduleAnyway"), "spec.topologySpreadConstraints[0].minDomains"),
    (spread(nodeTaintsPolicy="Never"), "spec.topologySpreadConstraints[0].nodeTaintsPolicy"),
    ({"topologySpreadConstraints": [SPREAD, SPREAD]}, "spec.topologySpreadConstraints[1]"),
    ({"schedulingGates": [{"name": "a b"}]}, "spec.schedulingGates[0].name"),
    ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, "spec.schedulingGates[1].name"),
    ({"schedulingGates": [{"name": "a"}], "nodeName": "n"}, "spec.nodeName"),
    ({"restartPolicy": "Sometimes"}, "spec.restartPolicy"),
    ({"preemptionPolicy": "Always"}, "spec.preemptionPolicy"),
    ({"os": {"name": "plan9"}}, "spec.os.name"),
    ({"runtimeClassName": "A B"}, "spec.runtimeClassName"),
    ({"overhead": {"gpu": "1"}}, "spec.overhead.gpu"),
]


@pytest.mark.parametrize(("spec", "path"), WRONG, ids=[row[1] + str(place) for place, row in enumerate(WRONG)])
def test_what_is_rejected(spec: dict[str, Any], path: str) -> None:
    assert found(spec) == [path]


def test_labels_and_annotations() -> None:
    metadata = {"name": "p", "labels": {"a": "x y", "b": "y"}, "annotations": {"c d": "any text", "E.f/g": ""}}
    problems = validate({"metadata": metadata, "spec": {"containers": [{"name": "c"}]}})
    assert [one.path for one in problems] == ["metadata.labels.a", 'metadata.annotations["c d"]']
