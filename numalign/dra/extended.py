"""Extended resources that claims serve: the scheduler claims what no device plugin has (docs/rules/dra.md D-53)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from numalign.dra.values import Claim, DeviceClass, DeviceRequest, Request
from numalign.model.pod import Pod
from numalign.model.quantity import value

Amounts = Mapping[str, int]
"""Resource -> amount in billionths."""

CLAIM: Final = "extended-resources"
"""Ends the name of the claim that the scheduler makes: `POD-extended-resources`."""
IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
"""Begins the name under which every class can be asked for."""


def class_of(resource: str, classes: Mapping[str, DeviceClass]) -> str | None:
    """Name the class that serves an extended resource; None: none does."""
    if resource.startswith(IMPLICIT):
        name = resource.removeprefix(IMPLICIT)
        return name if name in classes else None
    return min((name for name, one in classes.items() if one.extended_resource == resource), default=None)


def served(pod: Pod, classes: Mapping[str, DeviceClass], there: Amounts) -> frozenset[tuple[str, str]]:
    """Give the (container, resource) pairs that claims serve on a node which has `there` of device plugins."""
    return frozenset(
        (container.name, name)
        for container in pod.containers
        for name, amount in container.requests.items()
        if amount.nano > 0 and not there.get(name) and class_of(name, classes) is not None
    )


def marked(pod: Pod, classes: Mapping[str, DeviceClass], there: Amounts) -> Pod:
    """Note in a pod's status what claims serve on a node which has `there` of device plugins, as the scheduler does."""
    claimed = served(pod, classes, there)
    return pod._replace(status=pod.status._replace(claimed=claimed)) if claimed else pod


def requests_of(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """Yield (container, resource, name of the request) of what the pod's status says is claimed."""
    for index, container in enumerate(pod.containers):
        claimed = sorted(name for name in container.requests if (container.name, name) in pod.status.claimed)
        for number, name in enumerate(claimed):
            yield container.name, name, f"container-{index}-request-{number}"


def claim_of(pod: Pod, classes: Mapping[str, DeviceClass]) -> Claim:
    """Make the claim for what the pod's status says is claimed."""
    amounts = {(one.name, name): value(amount) for one in pod.containers for name, amount in one.requests.items()}
    requests = [
        Request(request, DeviceRequest(request, class_of(name, classes) or "", number=amounts[owner, name]))
        for owner, name, request in requests_of(pod)
    ]
    return Claim(f"{pod.name}-{CLAIM}", pod.namespace, tuple(requests))
