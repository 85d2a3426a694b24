"""What the API server rejects in the fields of a pod that say where it may run (docs/rules/pod-validation.md).

Labels and selectors, tolerations, affinity, topology spread constraints, scheduling gates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from numalign.model.apiserver.types import Problem
from numalign.model.path import child, shown
from numalign.model.pod import Manifest
from numalign.model.resources import is_label, is_qualified, is_subdomain

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NODE_OPERATORS: Final = {"In": "some", "NotIn": "some", "Exists": "none", "DoesNotExist": "none", "Gt": 1, "Lt": 1}
_LABEL_OPERATORS: Final = {"In": "some", "NotIn": "some", "Exists": "none", "DoesNotExist": "none"}


def placing(spec: Manifest) -> Iterator[Problem]:
    """Yield what is wrong in these fields of a pod's spec."""
    yield from labels(spec.get("nodeSelector") or {}, "spec.nodeSelector")
    if spec.get("nodeName") and not is_subdomain(spec["nodeName"]):
        yield Problem("spec.nodeName", f"{shown(spec['nodeName'])} is not the name of a node")
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _toleration(toleration, f"spec.tolerations[{index}]")
    affinity = spec.get("affinity") or {}
    yield from _node_affinity(affinity.get("nodeAffinity") or {}, "spec.affinity.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from _pod_affinity(affinity.get(kind) or {}, f"spec.affinity.{kind}")
    yield from _spread(spec.get("topologySpreadConstraints") or ())
    yield from _gates(spec)


# Labels


def is_key(key: str) -> bool:
    """Tell whether a text is the key of a label or annotation."""
    prefix, slash, name = key.rpartition("/")
    return is_qualified(name) and (not slash or is_subdomain(prefix))


def annotation_keys(written: Iterable[str]) -> Iterator[Problem]:
    """Yield keys of annotations that are none."""
    for key in written:
        if not is_key(key.lower()):
            text = f"{shown(key)} is not an annotation key: expected NAME or DOMAIN/NAME"
            yield Problem(child("metadata.annotations", key), text)


def labels(written: Mapping[str, str], path: str) -> Iterator[Problem]:
    """Yield keys and values of labels that are none."""
    for key, value in written.items():
        if not is_key(key):
            yield Problem(child(path, key), f"{shown(key)} is not a label key: {_KEY_RULE}")
        elif not _is_value(value):
            yield Problem(child(path, key), f"{shown(value)} is not a label value: {_VALUE_RULE}")


_KEY_RULE: Final = "expected NAME or DOMAIN/NAME"
_VALUE_RULE: Final = "at most 63 letters, digits, '-', '_' and '.', begins and ends alphanumeric"


def _is_value(value: str) -> bool:
    return not value or is_qualified(value)


# Tolerations


def _toleration(toleration: Manifest, path: str) -> Iterator[Problem]:
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key and not is_key(key):
        yield Problem(f"{path}.key", f"{shown(key)} is not a label key: {_KEY_RULE}")
    if not key and operator != "Exists":
        yield Problem(f"{path}.operator", "must be Exists if there is no key")
    if operator not in ("Equal", "Exists"):
        yield Problem(f"{path}.operator", f"expected Equal or Exists, got {shown(operator)}")
    elif operator == "Exists" and value:
        yield Problem(f"{path}.value", "must be empty: the operator is Exists")
    elif not _is_value(value):
        yield Problem(f"{path}.value", f"{shown(value)} is not a label value: {_VALUE_RULE}")
    if effect and effect not in EFFECTS:
        yield Problem(f"{path}.effect", f"expected {', '.join(EFFECTS)} or nothing, got {shown(effect)}")
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield Problem(f"{path}.effect", "must be NoExecute if there are tolerationSeconds")


# Affinity


def _node_affinity(affinity: Manifest, path: str) -> Iterator[Problem]:
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None:
        here = f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        terms = required.get("nodeSelectorTerms") or ()
        if not terms:
            yield Problem(here, "needs at least one term")
        for index, term in enumerate(terms):
            yield from _node_term(term, f"{here}[{index}]", required=True)
    for index, one in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        here = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        yield from _weight(one, here)
        yield from _node_term(one.get("preference") or {}, f"{here}.preference", required=False)


def _node_term(term: Manifest, path: str, *, required: bool) -> Iterator[Problem]:
    """Judge a term; values of preferred ones may be anything."""
    here = f"{path}.matchExpressions"
    yield from _expressions(term.get("matchExpressions"), _NODE_OPERATORS, here, values=required)
    for index, field in enumerate(term.get("matchFields") or ()):
        here = f"{path}.matchFields[{index}]"
        if field.get("key") != "metadata.name":
            yield Problem(f"{here}.key", f"expected metadata.name, got {shown(field.get('key'))}")
        if field.get("operator") not in ("In", "NotIn"):
            yield Problem(f"{here}.operator", f"expected In or NotIn, got {shown(field.get('operator'))}")
        values: Sequence[str] = field.get("values") or ()
        if len(values) != 1:
            yield Problem(f"{here}.values", "needs exactly one value")
        elif not is_subdomain(values[0]):
            yield Problem(f"{here}.values[0]", f"{shown(values[0])} is not the name of a node")


def _pod_affinity(affinity: Manifest, path: str) -> Iterator[Problem]:
    for index, term in enumerate(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()):
        yield from _pod_term(term, f"{path}.requiredDuringSchedulingIgnoredDuringExecution[{index}]")
    for index, one in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        here = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        yield from _weight(one, here)
        yield from _pod_term(one.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm")


def _pod_term(term: Manifest, path: str) -> Iterator[Problem]:
    yield from _topology_key(term, path)
    for field in ("labelSelector", "namespaceSelector"):
        yield from _selector(term.get(field) or {}, f"{path}.{field}")
    yield from _label_keys(term, path)
    for index, name in enumerate(term.get("namespaces") or ()):
        if not is_label(name):
            yield Problem(f"{path}.namespaces[{index}]", f"{shown(name)} is not the name of a namespace")


def _label_keys(term: Manifest, path: str) -> Iterator[Problem]:
    """Judge the keys whose values come from the pod's own labels."""
    given = {field: term.get(field) or () for field in ("matchLabelKeys", "mismatchLabelKeys")}
    for field, keys in given.items():
        if keys and term.get("labelSelector") is None:
            yield Problem(f"{path}.{field}", "requires a labelSelector")
        for index, key in enumerate(keys):
            if not is_key(key):
                yield Problem(f"{path}.{field}[{index}]", f"{shown(key)} is not a label key: {_KEY_RULE}")
    for index, key in enumerate(given["mismatchLabelKeys"]):
        if key in given["matchLabelKeys"]:
            yield Problem(f"{path}.mismatchLabelKeys[{index}]", f"duplicate {shown(key)}, also in matchLabelKeys")


def _topology_key(term: Manifest, path: str) -> Iterator[Problem]:
    key = term.get("topologyKey")
    if not key:
        yield Problem(f"{path}.topologyKey", "missing; it is required")
    elif not is_key(key):
        yield Problem(f"{path}.topologyKey", f"{shown(key)} is not a label key: {_KEY_RULE}")


def _weight(one: Manifest, path: str) -> Iterator[Problem]:
    weight = one.get("weight")
    if weight is None or not 1 <= weight <= 100:
        yield Problem(f"{path}.weight", f"expected a number from 1 to 100, got {shown(weight)}")


def _selector(selector: Manifest, path: str) -> Iterator[Problem]:
    yield from labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    yield from _expressions(selector.get("matchExpressions"), _LABEL_OPERATORS, f"{path}.matchExpressions", values=True)


def _expressions(
    written: Iterable[Manifest] | None, operators: Mapping[str, object], path: str, *, values: bool
) -> Iterator[Problem]:
    for index, one in enumerate(written or ()):
        here = f"{path}[{index}]"
        operator, count = one["operator"], len(one.get("values") or ())
        wanted = operators.get(operator)
        if not is_key(one["key"]):
            yield Problem(f"{here}.key", f"{shown(one['key'])} is not a label key: {_KEY_RULE}")
        if wanted is None:
            yield Problem(f"{here}.operator", f"expected {', '.join(operators)}, got {shown(operator)}")
        elif wanted == "some" and not count:
            yield Problem(f"{here}.values", f"{operator} needs at least one value")
        elif wanted == "none" and count:
            yield Problem(f"{here}.values", f"must be empty: the operator is {operator}")
        elif wanted == 1 and count != 1:
            yield Problem(f"{here}.values", f"{operator} needs exactly one value")
        for number, value in enumerate((one.get("values") or ()) if values else ()):
            if not _is_value(value):
                yield Problem(f"{here}.values[{number}]", f"{shown(value)} is not a label value: {_VALUE_RULE}")


# Spreading and gates


def _spread(constraints: Iterable[Manifest]) -> Iterator[Problem]:
    seen = set()
    for index, one in enumerate(constraints):
        path = f"spec.topologySpreadConstraints[{index}]"
        yield from _topology_key(one, path)
        yield from _label_keys(one, path)
        yield from _selector(one.get("labelSelector") or {}, f"{path}.labelSelector")
        skew, domains, action = one.get("maxSkew"), one.get("minDomains"), one.get("whenUnsatisfiable")
        if skew is None or skew < 1:
            yield Problem(f"{path}.maxSkew", f"expected a number from 1 on, got {shown(skew)}")
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            expected = f"expected DoNotSchedule or ScheduleAnyway, got {shown(action)}"
            yield Problem(f"{path}.whenUnsatisfiable", expected)
        if domains is not None and domains < 1:
            yield Problem(f"{path}.minDomains", f"expected a number from 1 on, got {shown(domains)}")
        elif domains is not None and action != "DoNotSchedule":
            yield Problem(f"{path}.minDomains", "requires whenUnsatisfiable: DoNotSchedule")
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if one.get(field) not in (None, "Honor", "Ignore"):
                yield Problem(f"{path}.{field}", f"expected Honor or Ignore, got {shown(one[field])}")
        key = (one.get("topologyKey"), action)
        if key in seen:
            yield Problem(path, f"duplicate topologyKey {shown(key[0])} with {shown(key[1])}")
        seen.add(key)


def _gates(spec: Manifest) -> Iterator[Problem]:
    seen = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate["name"]
        path = f"spec.schedulingGates[{index}].name"
        if not is_key(name):
            yield Problem(path, f"{shown(name)} is not the name of a gate: expected NAME or DOMAIN/NAME")
        elif name in seen:
            yield Problem(path, f"duplicate {shown(name)}")
        seen.add(name)
    if seen and spec.get("nodeName"):
        yield Problem("spec.nodeName", "cannot be used with schedulingGates")
