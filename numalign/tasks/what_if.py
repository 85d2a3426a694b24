"""What if: a pod left out, one pod asked about alone, or a container that asks for other amounts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.whatif.situation import ContainerAmounts, with_amounts
from numalign.errors import InputError
from numalign.model.apiserver import amount
from numalign.model.quantity import QuantityError

if TYPE_CHECKING:
    from numalign.model.pod import Pod
    from numalign.tasks.requests import WhatIfRequest
    from numalign.tasks.setup import LoadedPods


def as_asked(up: LoadedPods, request: WhatIfRequest) -> LoadedPods:
    """Make the pod asked about the last one, and let it ask for other amounts.

    Raises:
        InputError: no such pod, container or resource, or no quantity.
    """
    tried = up.tried
    if request.pod is not None:
        place = tried.index(_named(tried, request.pod, "--pod"))
        up = up._replace(beside=(*up.beside, *tried[:place]), tried=(tried[place],))
    if request.amounts:
        last = with_amounts(up.tried[-1], _read_amounts(request.amounts, up.tried[-1]))
        up = up._replace(tried=(*up.tried[:-1], last))
    return up


def gone(up: LoadedPods, request: WhatIfRequest, there: Sequence[Pod] = ()) -> tuple[Pod, ...]:
    """Find the pods that are gone when the last one comes up; `there`: pods of the node.

    Raises:
        InputError: no such pod comes earlier.
    """
    earlier = (*there, *up.beside, *up.tried[:-1])
    return tuple(_named(earlier, name, "--without") for name in request.without)


def _named(pods: Iterable[Pod], name: str, flag: str) -> Pod:
    found = [pod for pod in pods if name in (pod.name, pod.full_name)]
    if len(found) != 1:
        many = "several pods have this name: write NAMESPACE/NAME" if found else "no pod that comes up has this name"
        raise InputError(many, f"{flag} {name}")
    return found[0]


def _read_amounts(texts: Iterable[str], pod: Pod) -> ContainerAmounts:
    """Read CONTAINER:RESOURCE=AMOUNT."""
    amounts = {}
    asked = {container.name: container.requests for container in pod.containers}
    for text in texts:
        key, _, written = text.partition("=")
        container, _, resource = key.partition(":")
        if resource not in asked.get(container, {}):
            known = ", ".join(f"{name}:{one}" for name, requests in asked.items() for one in requests)
            raise InputError(f"expected CONTAINER:RESOURCE=AMOUNT with one of {known}", f"--set {text}")
        try:
            amounts[container, resource] = amount(written).nano
        except QuantityError as error:
            raise InputError(str(error), f"--set {text}") from None
    return amounts
