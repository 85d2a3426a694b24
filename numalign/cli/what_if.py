"""What if: the flags that leave a pod out, ask about one pod alone, or let a container ask for other amounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click

from numalign.analysis.whatif.situation import Amounts, with_amounts
from numalign.cli.inputs import Pods
from numalign.errors import InputError
from numalign.model.apiserver.amounts import amount
from numalign.model.pod import Pod
from numalign.model.quantity import QuantityError


class AsIf(NamedTuple):
    """The flags as given."""

    pod: str | None
    without: tuple[str, ...]
    amounts: tuple[str, ...]

    def flags(self, *, but: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Write them as flags again, without amounts of the (container:resource) keys in `but`."""
        replaced = set(but)
        flags = [("pod", self.pod)] if self.pod else []
        flags += [("without", name) for name in self.without]
        return flags + [("set", text) for text in self.amounts if text.partition("=")[0] not in replaced]


def as_if_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags; the command gets them as one argument, `as_if`."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        kwargs["as_if"] = AsIf(kwargs.pop("only"), kwargs.pop("without"), kwargs.pop("amounts"))
        return function(*args, **kwargs)

    wrapped.__doc__ = function.__doc__
    wrapped.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Callable[..., Any] = wrapped
    decorated = click.option(
        "--set",
        "amounts",
        metavar="CONTAINER:RESOURCE=AMOUNT",
        multiple=True,
        help="As if a container of the last pod (or --pod) asked for this amount.",
    )(decorated)
    decorated = click.option(
        "--without",
        metavar="NAME",
        multiple=True,
        help="As if a pod that came earlier had gone before the last one (or --pod) comes up.",
    )(decorated)
    return click.option("--pod", "only", metavar="NAME", help="This pod alone; those before it count as there.")(
        decorated
    )


def as_asked(up: Pods, flags: AsIf) -> Pods:
    """Make the pod asked about the last one, and let it ask for other amounts.

    Raises:
        InputError: no such pod, container or resource, or no quantity.
    """
    tried = up.tried
    if flags.pod is not None:
        place = tried.index(_named(tried, flags.pod, "--pod"))
        up = up._replace(beside=(*up.beside, *tried[:place]), tried=(tried[place],))
    if flags.amounts:
        last = with_amounts(up.tried[-1], _read_amounts(flags.amounts, up.tried[-1]))
        up = up._replace(tried=(*up.tried[:-1], last))
    return up


def gone(up: Pods, flags: AsIf) -> tuple[Pod, ...]:
    """Find the pods that are gone when the last one comes up.

    Raises:
        InputError: no such pod comes earlier.
    """
    there = (*up.beside, *up.tried[:-1])
    return tuple(_named(there, name, "--without") for name in flags.without)


def _named(pods: Iterable[Pod], name: str, flag: str) -> Pod:
    found = [pod for pod in pods if name in (pod.name, f"{pod.namespace}/{pod.name}")]
    if len(found) != 1:
        many = "several pods have this name: write NAMESPACE/NAME" if found else "no pod that comes up has this name"
        raise InputError(many, f"{flag} {name}")
    return found[0]


def _read_amounts(texts: Iterable[str], pod: Pod) -> Amounts:
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
