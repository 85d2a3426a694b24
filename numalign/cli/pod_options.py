"""The flags that say which pods are asked about, what is there before them, and what if they were others."""

from __future__ import annotations

import click

from numalign.cli.flags import Decorator, Given, complete_files, flag, gathered
from numalign.errors import InputError
from numalign.tasks.requests import PodsRequest, SinceRequest, WhatIfRequest

MAX_JOBS = 256
"""How many processes can be asked for."""
MAX_REPLICAS = 100_000
"""How many copies of a pod can be asked for."""
NAMES_OF_PODS: tuple[Decorator, ...] = (
    click.argument("pod", nargs=-1, metavar="POD…", shell_complete=complete_files),
    flag("-f", "--filename", "files", multiple=True, metavar="POD", help="same as POD"),
)


@gathered(
    *NAMES_OF_PODS,
    flag(
        "--beside",
        metavar="FILE",
        help="pods already on the node",
    ),
    flag(
        "--node-name",
        metavar="NAME",
        help="node to use, if a file has several",
    ),
    flag(
        "--replicas",
        metavar="[ROLE=]N,…",
        help="copies of each pod template [default: 1]",
    ),
    flag("--gang", is_flag=True, help="test as many copies as each object requests"),
    flag("--started", is_flag=True, help="treat init containers of earlier pods as ended"),
    flag("--static", is_flag=True, help="treat the pods as static pods: critical"),
    flag(
        "--allow-missing",
        metavar="RESOURCE",
        multiple=True,
        help="let pods run without this device",
    ),
)
def pods_arguments(given: Given) -> None:
    """Add POD… and everything that says which pods come up; the command gets one argument, `pods`."""
    names = (*given.pop("pod"), *given.pop("files"))
    # Whether two kubelets would start is a question of its own.
    instead = "," in (given.get("kubelet_version") or "") or given.get("started_pods") is not None
    if not names and not instead:
        raise click.UsageError("no POD given; fix: name a file, a folder, or - for standard input")
    every, by_role = _replicas(given.pop("replicas"))
    given["pods"] = PodsRequest(
        names=names,
        beside=given.pop("beside"),
        replicas=every,
        started=given.pop("started"),
        role_replicas=by_role,
        gang=given.pop("gang"),
        node_name=given.pop("node_name"),
        allow_missing=given.pop("allow_missing"),
        static=given.pop("static"),
    )


def _replicas(text: str | None) -> tuple[int | None, dict[str, int]]:
    """Read `8`, `worker=8` or both: how many pods of every template, and of those of a role."""
    every: int | None = None
    by_role: dict[str, int] = {}
    for part in text.split(",") if text else ():
        role, named, number = part.rpartition("=")
        if not number.strip().isdecimal() or len(number) > 6 or not 1 <= int(number) <= MAX_REPLICAS:
            raise InputError(f"expected N or ROLE=N, numbers from 1 to {MAX_REPLICAS}, got {part!r}", "--replicas")
        if named:
            by_role[role.strip()] = int(number)
        else:
            every = int(number)
    return every, by_role


@gathered(
    flag("--without", metavar="NAME", multiple=True, help="end this pod before the first POD comes"),
    flag(
        "--started-pods",
        metavar="NAME,…",
        help="pods on the node whose init containers have ended",
    ),
)
def since_options(given: Given) -> None:
    """Add what happened to the pods there meanwhile; the command gets one argument, `since`."""
    started = tuple(name for name in (given.pop("started_pods") or "").split(",") if name)
    given["since"] = SinceRequest(given.pop("without"), started)


@gathered(
    flag("--pod", "pod_name", metavar="NAME", help="explain this pod alone"),
    flag(
        "--without",
        metavar="NAME",
        multiple=True,
        help="remove an earlier pod first",
    ),
    flag(
        "--set",
        "amounts",
        metavar="CONTAINER:RESOURCE=AMOUNT",
        multiple=True,
        help="change a request",
    ),
)
def what_if_options(given: Given) -> None:
    """Add the flags that leave a pod out or change what one asks for; they come as one argument, `what_if`."""
    given["what_if"] = WhatIfRequest(given.pop("pod_name"), given.pop("without"), given.pop("amounts"))
