"""What a pod may demand of a node beside resources: system, labels, name, ports, taints (admission-fit.md 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from numalign.model.gotext import ConversionError, parse_int
from numalign.model.machine import Taint
from numalign.model.pod import Manifest, Pod
from numalign.values import NamedTuple

OS_LABEL = "kubernetes.io/os"
ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 (an address to compare with, nothing is bound)


class Refusal(NamedTuple):
    """A check that refuses the pod, as the kubelet words it."""

    reason: str
    message: str


NODE_AFFINITY = Refusal(
    "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
)
NODE_NAME = Refusal("NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name")
NODE_PORTS = Refusal(
    "NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
)
TAINT_TOLERATION = Refusal(
    "TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
)


def as_static(pod: Pod) -> Pod:
    """Return a pod as the kubelet reads it from a file of its own: critical, and never evicted for another."""
    return pod._replace(annotations={**pod.annotations, "kubernetes.io/config.source": "file"})


def wrong_system(pod: Pod) -> Refusal | None:
    """Check that the pod is for Linux (4.1); this comes before everything else."""
    if pod.labels.get(OS_LABEL, "linux") != "linux":
        return Refusal(
            "PodOSSelectorNodeLabelDoesNotMatch",
            "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
        )
    if ((pod.spec.get("os") or {}).get("name") or "linux") != "linux":
        return Refusal("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    return None


def selects_labels(pod: Pod) -> bool:
    """Tell whether the pod has a node selector or a required node affinity on labels."""
    return bool(pod.spec.get("nodeSelector")) or any(term.get("matchExpressions") for term in _terms(pod) or ())


def selects_fields(pod: Pod) -> bool:
    """Tell whether the pod's required node affinity asks for a node by name."""
    return any(term.get("matchFields") for term in _terms(pod) or ())


def matches_node(pod: Pod, labels: Mapping[str, str], name: str) -> bool:
    """Tell whether node selector and required node affinity hold (4.2)."""
    selector: Mapping[str, str] = pod.spec.get("nodeSelector") or {}
    terms = _terms(pod)
    if not selector and terms is None:
        return True
    if labels:  # The kubelet puts its own system over the label, but only among labels (4.1.3).
        labels = {**labels, OS_LABEL: "linux"}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    return terms is None or any(_term_matches(term, labels, name) for term in terms)


def _terms(pod: Pod) -> list[Manifest] | None:
    affinity = pod.spec.get("affinity") or {}
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else required.get("nodeSelectorTerms") or []


def _term_matches(term: Manifest, labels: Mapping[str, str], name: str) -> bool:
    """Match one term; a malformed one matches nothing (4.2.4)."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(expression_holds(one, labels) for one in expressions) and all(_field_holds(one, name) for one in fields)


def expression_holds(expression: Manifest, labels: Mapping[str, str]) -> bool:
    """Tell whether an expression of a selector holds; a malformed one never does."""
    key, operator, values = expression.get("key", ""), expression.get("operator"), expression.get("values") or []
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return bool(values) and (key not in labels or labels[key] not in values)
    if operator in ("Exists", "DoesNotExist"):
        return not values and (key in labels) == (operator == "Exists")
    if operator not in ("Gt", "Lt") or key not in labels or len(values) != 1:
        return False
    try:
        have, bound = parse_int(labels[key]), parse_int(str(values[0]))
    except ConversionError:
        return False
    return have > bound if operator == "Gt" else have < bound


def _field_holds(field: Manifest, name: str) -> bool:
    values = field.get("values") or []
    if field.get("key") != "metadata.name" or len(values) != 1:
        return False
    operator = field.get("operator")
    return operator in ("In", "NotIn") and (name in values) == (operator == "In")


def ports_taken(pod: Pod, others: Iterable[Pod]) -> bool:
    """Tell whether a host port of the pod is in use (4.4)."""
    return any(
        number == wanted and protocol == by and (address == at or ALL_ADDRESSES in (address, at))
        for wanted, by, at in host_ports(pod)
        for other in others
        for number, protocol, address in host_ports(other)
    )


def host_ports(pod: Pod) -> Iterator[tuple[int, str, str]]:
    """Yield (port, protocol, address) of what a pod's containers want of the host."""
    for container in pod.containers:
        if container.kind != "init":
            for port in container.ports:
                if port.get("hostPort"):
                    yield port["hostPort"], port.get("protocol") or "TCP", port.get("hostIP") or ALL_ADDRESSES


def tolerates(pod: Pod, taints: Iterable[Taint], effects: Sequence[str] = ("NoExecute",)) -> bool:
    """Tell whether every taint of these effects has a fitting toleration; the kubelet asks about one of them (4.5)."""
    tolerations = pod.spec.get("tolerations") or ()
    return all(
        any(_toleration_fits(toleration, taint) for toleration in tolerations)
        for taint in taints
        if taint.effect in effects
    )


def _toleration_fits(toleration: Manifest, taint: Taint) -> bool:
    if (toleration.get("effect") or taint.effect) != taint.effect:
        return False
    if (toleration.get("key") or taint.key) != taint.key:
        return False
    operator = toleration.get("operator") or "Equal"
    return operator == "Exists" or (operator == "Equal" and (toleration.get("value") or "") == taint.value)
