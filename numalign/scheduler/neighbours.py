"""What kube-scheduler asks of the pods that are there: host ports, affinity between pods, and how they are spread.

Required terms only; what is merely preferred moves scores (docs/rules/scheduling.md 2.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from numalign.kubelet.fit import predicates
from numalign.model.machine import Taint
from numalign.model.pod import Manifest, Pod
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.verdict import PASS, Verdict
from numalign.values import NamedTuple

PORTS: Final = Verdict(False, "node(s) didn't have free ports for the requested pod ports")
AFFINITY: Final = Verdict(False, "node(s) didn't match pod affinity rules")
ANTI_AFFINITY: Final = Verdict(False, "node(s) didn't match pod anti-affinity rules")
THEIRS: Final = Verdict(False, "node(s) didn't satisfy existing pods anti-affinity rules")
SPREAD: Final = Verdict(False, "node(s) didn't match pod topology spread constraints")
NO_DOMAIN: Final = Verdict(False, f"{SPREAD.message} (missing required label)")
BY_PODS: Final = (AFFINITY, ANTI_AFFINITY, THEIRS, SPREAD, NO_DOMAIN)
"""What no kubelet looks at; it does look at ports."""
NAMESPACE_LABEL: Final = "kubernetes.io/metadata.name"
"""The one label of a namespace that its name tells."""

Domain: TypeAlias = tuple[str, str]
"""A topology key, and a node's value of it."""
Check: TypeAlias = Callable[[ClusterNode], Verdict]
There: TypeAlias = Sequence[tuple[ClusterNode, Sequence[Pod]]]
"""The nodes of a cluster, and the pods bound to each."""


class Checks(NamedTuple):
    """Filters that look at the pods that are there."""

    ports: tuple[Check, ...]
    """Asked before there is a look at amounts."""
    others: tuple[Check, ...]
    """Asked after that."""

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return bool(self.ports or self.others)

    def verdict(self, node: ClusterNode) -> Verdict:
        """What the first of them that fails a node says; `PASS` if all pass it."""
        verdicts = (check(node) for check in (*self.ports, *self.others))
        return next((one for one in verdicts if not one.passed), PASS)


def concerns(pod: Pod) -> bool:
    """Tell whether a pod asks anything of the pods that are there."""
    spec = pod.spec
    terms = (required(pod, "podAffinity"), required(pod, "podAntiAffinity"), _hard(spec))
    return any(terms) or any(predicates.host_ports(pod))


def checks(pod: Pod, there: There, avoiding: Sequence[tuple[Pod, ClusterNode]]) -> Checks:
    """Make the filters that look at the pods that are there; none where the pod and they ask nothing.

    Args:
        pod: the pod that is scheduled.
        there: the cluster.
        avoiding: the pods there that have required anti-affinity, and their nodes.
    """
    ports: tuple[Check, ...] = ()
    found: list[Check] = []
    if any(predicates.host_ports(pod)):
        by_name = {node.name: pods for node, pods in there}
        ports = (lambda node: PORTS if predicates.ports_taken(pod, by_name[node.name]) else PASS,)
    constraints = _hard(pod.spec)
    if constraints:
        found.append(_spread(pod, constraints, there))
    wanted, unwanted = required(pod, "podAffinity"), required(pod, "podAntiAffinity")
    if wanted:
        found.append(_together(pod, wanted, there))
    if unwanted:
        found.append(_apart(_domains_of(pod, unwanted, there), ANTI_AFFINITY))
    theirs = {
        (term["topologyKey"], node.labels[term["topologyKey"]])
        for other, node in avoiding
        for term in required(other, "podAntiAffinity")
        if term["topologyKey"] in node.labels and _selects(term, other, pod)
    }
    if theirs:
        found.append(_apart(theirs, THEIRS))
    return Checks(ports, tuple(found))


def required(pod: Pod, kind: str) -> Sequence[Manifest]:
    """Give a pod's required terms of `podAffinity` or `podAntiAffinity`."""
    affinity = pod.spec.get("affinity")
    if not affinity:  # as most pods
        return ()
    return (affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()


# Affinity


def _apart(domains: set[Domain], verdict: Verdict) -> Check:
    keys = {key for key, _ in domains}
    return lambda node: verdict if any((key, node.labels.get(key, "")) in domains for key in keys) else PASS


def _domains_of(pod: Pod, terms: Sequence[Manifest], there: There) -> set[Domain]:
    """Give the domains with a pod that one of the terms selects."""
    return {
        (term["topologyKey"], node.labels[term["topologyKey"]])
        for node, pods in there
        for term in terms
        if term["topologyKey"] in node.labels and any(_selects(term, pod, other) for other in pods)
    }


def _together(pod: Pod, terms: Sequence[Manifest], there: There) -> Check:
    """Want a pod that all terms select in each of their domains; the first of a kind may go anywhere."""
    domains: set[Domain] = set()
    for node, pods in there:
        if any(all(_selects(term, pod, other) for term in terms) for other in pods):
            domains |= {(key, node.labels[key]) for term in terms if (key := term["topologyKey"]) in node.labels}
    first = not domains and all(_selects(term, pod, pod) for term in terms)

    def check(node: ClusterNode) -> Verdict:
        keys = [term["topologyKey"] for term in terms]
        if any(key not in node.labels for key in keys):
            return AFFINITY
        return PASS if first or all((key, node.labels[key]) in domains for key in keys) else AFFINITY

    return check


def _selects(term: Manifest, owner: Pod, other: Pod) -> bool:
    """Tell whether a term of a pod's affinity is about another pod: by its namespace and its labels."""
    names, selector = term.get("namespaces") or (), term.get("namespaceSelector")
    if names or selector is not None:
        by_label = selector is not None and matches_labels(selector, {NAMESPACE_LABEL: other.namespace})
        if other.namespace not in names and not by_label:
            return False
    elif other.namespace != owner.namespace:
        return False
    return _selected(term, owner, other)


def _selected(term: Manifest, owner: Pod, other: Pod) -> bool:
    """Tell whether a selector takes a pod, with the keys whose values are its owner's."""
    for field, wanted in (("matchLabelKeys", True), ("mismatchLabelKeys", False)):
        for key in term.get(field) or ():
            if key in owner.labels and (other.labels.get(key) == owner.labels[key]) is not wanted:
                return False
    selector = term.get("labelSelector")
    return selector is not None and matches_labels(selector, other.labels)


def matches_labels(selector: Manifest, labels: Mapping[str, str]) -> bool:
    """Tell whether a label selector takes labels; an empty one takes all."""
    return all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()) and all(
        predicates.expression_holds(one, labels) for one in selector.get("matchExpressions") or ()
    )


# Spreading


def _hard(spec: Manifest) -> list[Manifest]:
    constraints = spec.get("topologySpreadConstraints") or ()
    return [one for one in constraints if (one.get("whenUnsatisfiable") or "DoNotSchedule") == "DoNotSchedule"]


def _spread(pod: Pod, constraints: Sequence[Manifest], there: There) -> Check:
    """Count the pods that each constraint selects in each of its domains, on the nodes that it counts."""
    counts: list[Counter[str]] = [Counter() for _ in constraints]
    keys = [one["topologyKey"] for one in constraints]
    for node, pods in there:
        if any(key not in node.labels for key in keys):
            continue
        for constraint, key, count in zip(constraints, keys, counts, strict=True):
            if _counts(constraint, pod, node):
                count[node.labels[key]] += sum(
                    other.namespace == pod.namespace and _selected(constraint, pod, other) for other in pods
                )
    rules = [
        (key, one["maxSkew"] - _selected(one, pod, pod) + _least(one, count), count)
        for one, key, count in zip(constraints, keys, counts, strict=True)
    ]

    def check(node: ClusterNode) -> Verdict:
        for key, most, count in rules:
            if key not in node.labels:
                return NO_DOMAIN
            if count[node.labels[key]] > most:
                return SPREAD
        return PASS

    return check


def _least(constraint: Manifest, count: Counter[str]) -> int:
    return min(count.values()) if len(count) >= (constraint.get("minDomains") or 1) else 0


def _counts(constraint: Manifest, pod: Pod, node: ClusterNode) -> bool:
    """Tell whether a node counts for a constraint: by default one that the pod selects, whatever its taints."""
    honours_affinity = (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor"
    if honours_affinity and not predicates.matches_node(pod, node.labels, node.name):
        return False
    if constraint.get("nodeTaintsPolicy") != "Honor":
        return True
    taints = [*node.taints, *[Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")] * node.unschedulable]
    return predicates.tolerates(pod, taints, ("NoSchedule", "NoExecute"))


# What is not judged


def not_judged(pod: Pod) -> Iterator[str]:
    """Name what kube-scheduler looks at and numalign cannot: volumes whose objects are in no dump."""
    for volume in pod.spec.get("volumes") or ():
        for kind in ("persistentVolumeClaim", "ephemeral"):
            if volume.get(kind) is not None:
                name = volume[kind].get("claimName") or f"{pod.name}-{volume['name']}"
                yield f"volume {volume['name']} (PersistentVolumeClaim {name})"


def gates(pod: Pod) -> tuple[str, ...]:
    """Name the scheduling gates of a pod; with one no scheduler looks at it."""
    return tuple([one["name"] for one in pod.spec.get("schedulingGates") or ()])
