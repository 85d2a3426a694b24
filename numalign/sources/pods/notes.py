"""What a person should know about the inputs: what had no pod in it, what is tried in part, what is approximated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from numalign.errors import Notice
from numalign.model.pod import pending_networks

if TYPE_CHECKING:
    from numalign.sources.pods.pod_objects import Carrier

_MAX_EACH: Final = 3
"""How many notes of a kind get a line each; more share one."""
_MAX_KINDS: Final = 6
"""How many kinds a line names."""
_ELSEWHERE: Final[Mapping[str, str]] = {
    "KubeletConfiguration": "add it with --kubelet-config",
    "KubeletConfig": "add it with --kubelet-config",
    "PerformanceProfile": "add it with --kubelet-config",
    "Machine": "add it with --machine",
    "NodeState": "add it with --state or --node",
    "ClusterState": "add it with --state or --cluster",
    "Kustomization": "`kubectl kustomize FOLDER` prints what it makes",
    "Helm values": "`helm template CHART` prints what the chart makes of them",
}
"""Kinds that belong somewhere else, and where."""


def no_pod_in(without_pod: Mapping[str, int]) -> str:
    """Say that no input has a pod, and what there is instead."""
    if not without_pod:
        return "no pod found: no document is a Pod or has a pod template"
    hints = [hint for kind, hint in _ELSEWHERE.items() if kind in without_pod]
    found = f"no pod found, only {_kinds(without_pod)}"
    return "; ".join([found, *dict.fromkeys(hints or ["fix: name a file with a Pod or a pod template"])])


def podless(without_pod: Mapping[str, int]) -> Iterator[Notice]:
    """Say how many documents have no pod in them, and what they are."""
    total = sum(without_pod.values())
    if total:
        plural = "s" * (total != 1)
        yield Notice("no-pod", f"skipped {total} document{plural} without a pod: {_kinds(without_pod)}")


def _kinds(without_pod: Mapping[str, int]) -> str:
    """Name kinds, the most frequent first: `2 Service, ConfigMap, 1 without a kind`."""
    ordered = sorted(without_pod.items(), key=lambda item: (-item[1], item[0]))
    parts = [_counted(kind, number) for kind, number in ordered]
    more = len(parts) - _MAX_KINDS
    return ", ".join(parts[:_MAX_KINDS] + ([f"{more} other kinds"] if more > 0 else []))


def _counted(kind: str, number: int) -> str:
    if not kind:
        return f"{number} object{'s' * (number > 1)} without a kind"
    return kind if number == 1 else f"{number} {kind}"


def notes_of(carriers: Sequence[Carrier], partly: Sequence[Carrier], finished: int) -> Iterator[Notice]:
    """Say which objects are tried in part (one pod of a template) or approximately, and how many pods have ended."""
    if finished:
        yield Notice("finished", f"skipped {finished} pod{'s' * (finished != 1)} that ended")
    for one in carriers:
        networks = pending_networks(one.pod)
        if networks:
            text = f"Multus attaches {networks}: an injector may add devices to the pod"
            place = f"{one.document.name}:{one.document.line(one.template.path)}"
            yield Notice("network-devices", text, place)
    yield from _partly(partly)
    said = [carrier for carrier in carriers if carrier.template.approximation]
    for carrier in said[:_MAX_EACH]:
        place = f"{carrier.document.name}:{carrier.document.line(carrier.template.path)}"
        yield Notice("approximation", carrier.template.approximation, place)
    if len(said) > _MAX_EACH:
        yield Notice("approximation", f"also approximated: {_more(len(said) - _MAX_EACH)}")


def _partly(carriers: Sequence[Carrier]) -> Iterator[Notice]:
    objects = [list(group) for _, group in groupby(carriers, key=lambda one: id(one.object))]
    for group in objects[:_MAX_EACH]:
        yield Notice("replicas", _partly_line(group))
    if len(objects) > _MAX_EACH:
        others = _more(len(objects) - _MAX_EACH)
        yield Notice("replicas", f"tested 1 pod per template of {others}; hint: --replicas N tests N")


def _more(number: int) -> str:
    return f"{number} more object{'s' * (number > 1)}"


def _partly_line(carriers: Sequence[Carrier]) -> str:
    """Write about one object: of which templates one pod is tried, and how many it asks for."""
    from numalign.sources.pods.pod_objects import owner_name

    first = carriers[0]
    name = f"{first.kind} {owner_name(first.object)}"
    if len(carriers) == 1 and not first.template.role:
        return f"{name}: 1 of {first.template.wanted} replicas is tried; --replicas N tries N"
    counted = ", ".join(f"1 of {one.template.wanted} {one.template.role}".rstrip() for one in carriers)
    return f"{name}: {counted} tried; --replicas ROLE=N tries N, --gang all"
