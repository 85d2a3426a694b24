"""The command, or the flag that differs in it, that shows a fix of explain."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import click

from numalign.analysis.whatif.change import WayOut
from numalign.cli.asked_by_kubectl import Why
from numalign.errors import CrashError, StartError
from numalign.kubelet.config import KubeletConfig
from numalign.render.text.amounts import quantity_text
from numalign.render.text.changes import Advice
from numalign.render.text.reasons import field_text, stale_files
from numalign.results.explain import ExplainedPod, ExplainResult
from numalign.tasks.loaded_pods import LoadedPods
from numalign.tasks.place import find_place
from numalign.tasks.requests import KubeletRequest, MachineName, NodeName, PodsRequest, WhatIfRequest
from numalign.values import NamedTuple

SHORT_FLAGS = {
    "topology-manager-policy": "policy",
    "topology-manager-scope": "scope",
    "reserved-system-cpus": "reserved-cpus",
}
"""Flags that have a shorter name."""


def asking_why() -> Why | None:
    """Find the call of `kubectl numalign why` that asks; None: nobody else does."""
    return click.get_current_context().find_object(Why)


class Asked(NamedTuple):
    """The command line, to write others like it."""

    pods: PodsRequest
    machines: tuple[str, ...]
    kubelet: KubeletRequest
    what_if: WhatIfRequest
    node: str | None
    slices: str | None
    several: bool
    """More than one pod comes up, so that one has to be named."""


def fix_commands(told: ExplainedPod, result: ExplainResult, asked: Asked) -> Advice:
    """Write the command that shows each change, and the one to go on with where there is none."""
    return Advice(
        [
            None if _stopped(change, result.setup.config, asked) else _command(change, told.pod.name, asked)
            for change in told.changes
        ],
        _command_line("compare", asked.pods, asked.machines, asked.kubelet, more=_place(asked)),
        [_differs(change, asked) for change in told.changes],
    )


def _flags(change: WayOut) -> list[tuple[str, str]]:
    """List what a change adds to the command, as (flag, value) pairs."""
    flags: list[tuple[str, str]] = [("machine", change.machine)] if change.machine else []
    flags += [(SHORT_FLAGS.get(name, name), text) for name, text in change.flags.items()]
    return [*flags, *_less(change)]


def _less(change: WayOut) -> Iterator[tuple[str, str]]:
    """Yield what is neither a machine nor a setting: hardware, pods that go, requests."""
    yield from change.hardware
    yield from (("without", one.name) for one in (*change.pods, *change.kept_out))
    for (container, resource), nano in change.amounts.items():
        yield "set", f"{container}:{resource}={quantity_text(nano)}"


def _differs(change: WayOut, asked: Asked) -> str:
    """Write what a change adds to the command, and a setting that was read from a file as it stands there."""
    from_file = asked.kubelet.config is not None or asked.node is not None
    fields = {name: text for name, text in change.flags.items() if from_file and name not in asked.kubelet.settings}
    settings = {name: text for name, text in change.flags.items() if name not in fields}
    flags = _flags(change._replace(flags=settings))
    words = shlex.join(word for flag, text in flags for word in (f"--{flag}", text))
    return " ".join(filter(None, [words, *(field_text(name, text) for name, text in fields.items())]))


def _place(asked: Asked) -> list[tuple[str, str]]:
    flags = [("node", asked.node), ("slices", asked.slices)]
    return [(flag, value) for flag, value in flags if value is not None]


def _command(change: WayOut, pod: str, asked: Asked) -> str:
    why = asking_why()
    if why is not None and not why.kept:
        return why.again(_flags(change))
    amounts = [f"{container}:{resource}" for container, resource in change.amounts]
    more = [*_place(asked), *asked.what_if.flags(but=amounts)]
    if asked.several and asked.what_if.pod is None:
        more.append(("pod", pod))
    more += _less(change)
    here = (change.machine,) if change.machine else asked.machines[:1]
    return _command_line("explain", asked.pods, here, asked.kubelet, settings=change.flags, more=more)


def _stopped(change: WayOut, config: KubeletConfig, asked: Asked) -> bool:
    """Tell whether the files of --node would stop its kubelet under other settings: a command would say that alone."""
    if asked.node is None or not stale_files(change, config):
        return False
    kubelet = asked.kubelet._replace(settings={**asked.kubelet.settings, **change.flags})
    try:
        find_place(asked.node, change.machine or next(iter(asked.machines), None), kubelet, asked.pods)
    except StartError:
        return True
    return False


def where_to_look(error: StartError, given: LoadedPods, asked: Asked) -> str:
    """Write the command that goes on where no pod could be tried."""
    if not isinstance(error, CrashError):
        return _command_line("config check", None, asked.machines[:1], asked.kubelet)
    pods = asked.pods
    if pods.beside and all(pod.name != error.pod for pod in given.tried):
        pods = pods._replace(names=(pods.beside,), beside=None)
    return _command_line("explain", pods, asked.machines[:1], asked.kubelet, more=[("pod", error.pod)])


def _command_line(
    command: str,
    pods: PodsRequest | None,
    machines: Sequence[str],
    kubelet: KubeletRequest,
    *,
    settings: Mapping[str, str] | None = None,
    more: Sequence[tuple[str, str]] = (),
) -> str:
    """Write a command line.

    Args:
        command: `explain`, `compare`, …
        pods: which pods come up; None: a command without pods.
        machines: values of `--machine`.
        kubelet: the flags given.
        settings: kubelet flags to change or add.
        more: further flags with their values.
    """
    words = ["numalign", *command.split(), *(pods.names if pods else ())]
    flags: list[tuple[str, str]] = [("machine", machine) for machine in machines]
    flags += machines[0].flags() if machines and isinstance(machines[0], MachineName) else []
    flags += [("beside", pods.beside)] if pods and pods.beside else []
    flags += _pod_flags(pods) if pods else []
    flags += [("kubelet-config", kubelet.config)] if kubelet.config else []
    flags += [("config-dir", kubelet.config_dir)] if kubelet.config_dir else []
    flags += [("instance-type", kubelet.instance)] if kubelet.instance else []
    flags += [("pool", kubelet.pool)] if kubelet.pool else []
    flags += [("kubelet-version", kubelet.version)] if kubelet.version else []
    flags += [(SHORT_FLAGS.get(name, name), text) for name, text in {**kubelet.settings, **(settings or {})}.items()]
    for name, text in (*flags, *more):
        words += [f"--{name}", text]
        words += ["--ignore-checksums"] if isinstance(text, NodeName) else []
    for resource in pods.allow_missing if pods else ():
        words += ["--allow-missing", resource]
    words += ["--started"] if pods and pods.started else []
    words += ["--gang"] if pods and pods.gang else []
    why = asking_why()
    return why.with_files(shlex.join(words)) if why is not None else shlex.join(words)


def _pod_flags(pods: PodsRequest) -> list[tuple[str, str]]:
    counts = [str(pods.replicas)] if pods.replicas else []
    counts += [f"{role}={number}" for role, number in pods.role_replicas.items()]
    flags = [("replicas", ",".join(counts))] if counts else []
    return flags + ([("node-name", pods.node_name)] if pods.node_name else [])
