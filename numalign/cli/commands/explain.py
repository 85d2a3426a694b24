"""`numalign explain`: why the kubelet decided so, and what would change its mind."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import click

from numalign.analysis.whatif.change import WayOut
from numalign.cli.asked_by_kubectl import Why
from numalign.cli.options import (
    fail_on_option,
    flag,
    kubelet_options,
    machine_option,
    node_options,
    output_option,
    pods_arguments,
    quiet_option,
    slices_option,
    what_if_options,
)
from numalign.cli.stderr import but_claims, report, tell
from numalign.cli.view import Output, View, faces_of, late_imports, show
from numalign.errors import CrashError, Notice, StartError
from numalign.exit_status import ExitStatus
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig
from numalign.model.pod import Pod
from numalign.render.page.document import Block, Document
from numalign.render.text.amounts import quantity_text
from numalign.render.text.changes import Advice
from numalign.render.text.reasons import field_text, stale_files
from numalign.results.compare import Scene
from numalign.results.explain import ExplainedPod, ExplainResult
from numalign.results.verdict import FailOn, claims_fail, fails, rail_notices
from numalign.tasks.explain import as_asked, explain, gone
from numalign.tasks.place import find_place
from numalign.tasks.requests import ClaimsRequest, KubeletRequest, MachineName, NodeName, PodsRequest, WhatIfRequest
from numalign.tasks.setup import LoadedPods, LoadedSetup, default_policy, load_pods, load_setup
from numalign.values import NamedTuple

with late_imports():
    from numalign.render.json import explain as json
    from numalign.render.picture import explained, occupants
    from numalign.render.text import explain as text
    from numalign.render.text import observed
    from numalign.tasks import claimed, scenes, together


class Shown(NamedTuple):
    """An answer, and what is told beside it."""

    result: ExplainResult
    origin: str
    advice: Sequence[Advice]
    """Pod by pod."""
    notices: Sequence[Notice]
    differs: Sequence[Block]
    """That something else happened; it comes first."""
    there: Sequence[Pod]
    """The pods before those that were explained."""


class Stopped(NamedTuple):
    """The stage before any pod: the kubelet does not start."""

    on: LoadedSetup
    error: StartError
    look: str
    """The command to go on with."""


SHORT_FLAGS = {
    "topology-manager-policy": "policy",
    "topology-manager-scope": "scope",
    "reserved-system-cpus": "reserved-cpus",
}
"""Flags that have a shorter name."""

VIEW = View[Shown](
    document=lambda shown: [*shown.differs, *text.explain_document(shown.result, shown.origin, shown.advice)],
    wide=lambda shown: [*shown.differs, *text.explain_document(shown.result, shown.origin, shown.advice, wide=True)],
    data=lambda shown: json.explain_json(shown.result, shown.advice, shown.notices),
    picture=lambda shown: explained.draw_explained(
        shown.result,
        tuple(scenes.explained_scenes(shown.result, shown.there)),
        [one.flags for one in shown.advice],
    ),
)
START_VIEW = View[Stopped](
    document=lambda stopped: _start_document(stopped),
    wide=lambda stopped: _start_document(stopped),
    picture=lambda stopped: occupants.draw_scenes(
        (Scene(stopped.on.setup.machine.name, None, stopped.error.message),), verdict="The kubelet does not start"
    ),
    data=lambda stopped: json.start_json(stopped.on.setup, stopped.error, stopped.look),
)


def _start_document(stopped: Stopped) -> Document:
    return text.start_document(stopped.on.setup.machine, stopped.on.origin, stopped.error, stopped.look)


@click.command("explain")
@pods_arguments
@machine_option(multiple=True)
@node_options
@kubelet_options
@slices_option
@what_if_options
@flag("--details", is_flag=True, help="show hints, merge, winner and runner-up")
@flag("--alternatives", is_flag=True, help="list every aligned allocation that is free now")
@fail_on_option
@output_option(VIEW)
@quiet_option
def command(
    pods: PodsRequest,
    machine: Sequence[str],
    node: str | None,
    kubelet: KubeletRequest,
    slices: str | None,
    what_if: WhatIfRequest,
    details: bool,
    alternatives: bool,
    fail_on: FailOn,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Explain why a pod is rejected or not aligned, with tested fixes.

    Repeat --machine to test a rejected pod on other machines.

    \b
    Examples:
      numalign explain pod.yaml --machine hgx-h100 --policy single-numa-node
      numalign explain pod.yaml --machine node-a.yaml --beside running.json
      numalign explain pod.yaml --node worker-1.tar.xz

    Exit status: 0 all admitted, 1 a pod is rejected, 2 wrong input, 4 the kubelet does not start.
    """
    here, up = find_place(node, machine[0] if machine else None, kubelet, pods)
    settings = [here.on, *(load_setup(one, kubelet) for one in machine[1:])]
    stays = tuple([pod for pod in here.pods if not {pod.name, pod.full_name} & {*what_if.without}])
    given = load_pods(up, stays, here.on.setup)
    several = len(given.tried) > 1
    asked = Asked(pods, tuple(machine), kubelet, what_if=what_if, node=node, slices=slices, several=several)
    try:
        result = _explained(settings, here.there, given, asked, details=details, all_alternatives=alternatives)
    except StartError as error:
        error.answered = True
        if not quiet:
            show(START_VIEW, Stopped(settings[0], error, _where_to_look(error, given, asked)), output)
        raise
    about_claims = result.claims.notices if result.claims is not None else ()
    notices = (*settings[0].notices, *but_claims(given.notices, slices), *result.notices, *about_claims)
    on = result.setup.machine
    notices += rail_notices([one.pod for one in result.pods], on, fail_on, result.claims)
    differs, blocks = _difference(result)
    told = () if blocks and {"document", "wide"} & set(faces_of(VIEW, output)) else differs
    tell((*(() if node else default_policy(settings[0], kubelet)), *told, *notices))
    if not quiet:
        advice = [_commands(one, result, asked) for one in result.pods]
        there = (*here.pods, *as_asked(given, what_if).beside)
        told = (*differs, *notices)
        show(VIEW, Shown(result, settings[0].origin, advice, notices=told, differs=blocks, there=there), output)
    refused = differs or any(fails(one.pod, fail_on, on, result.claims) for one in result.pods)
    if result.fatal:
        return report(given.broken, ExitStatus.KUBELET_FAILS)
    refused = refused or claims_fail(result.claims, fail_on)
    return report(given.broken, ExitStatus.NO if refused else ExitStatus.DONE)


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


def _explained(
    settings: Sequence[LoadedSetup],
    there: Session | None,
    given: LoadedPods,
    asked: Asked,
    *,
    details: bool,
    all_alternatives: bool,
) -> ExplainResult:
    up = as_asked(given, asked.what_if)
    here, *others = settings
    request = ClaimsRequest(asked.slices or "", asked.pods.node_name, asked.pods.names, up.claims, up.files)
    if asked.slices is not None:
        objects, up = claimed.load_claims_for(request, up, [one.setup for one in settings])
    result = explain(
        here.setup,
        up.tried,
        beside=up.beside,
        started=asked.pods.started,
        gone=gone(up, asked.what_if, there.pods if there else ()),
        elsewhere=[(name, other.setup) for name, other in zip(asked.machines[1:], others, strict=True)],
        details=details,
        all_alternatives=all_alternatives,
        there=there,
        allow_missing=asked.pods.allow_missing,
    )
    told = [one.pod for one in result.pods]
    if len(told) > 1 and any(one.belongs_to for one in given.sources):
        result = result._replace(together=tuple(together.together(here.setup.machine, given.sources, told)))
    if asked.slices is None:
        return result
    return result._replace(claims=claimed.claims_on(here.setup, told, up.tried, objects, request))


def _commands(told: ExplainedPod, result: ExplainResult, asked: Asked) -> Advice:
    """Write the command that shows each change, and the one to go on with where there is none."""
    return Advice(
        [
            None if _stopped(change, result.setup.config, asked) else _command(change, told.pod.name, asked)
            for change in told.changes
        ],
        _command_line("compare", asked.pods, asked.machines, asked.kubelet, more=_place(asked)),
        [_differs(change, asked) for change in told.changes],
    )


def _why() -> Why | None:
    """Find the call of `kubectl numalign why` that asks; None: nobody else does."""
    return click.get_current_context().find_object(Why)


def _difference(result: ExplainResult) -> tuple[Sequence[Notice], Sequence[Block]]:
    """Say how the answer differs from what happened, where somebody knows: for programs, and for people."""
    why = _why()
    text = observed.difference_text(result.pods[-1].pod, why.observed) if why is not None else ""
    if why is None or not text:
        return (), ()
    blocks = observed.difference_blocks(text, why.message, _unknown(why, result), why.node)
    return [Notice("observed-differs", text)], blocks


def _unknown(why: Why, result: ExplainResult) -> Sequence[str]:
    """List what is unknown, the machine too where it has another name than the node."""
    machine = result.setup.machine
    other = f"whether {machine.name} is the machine of {why.node}"
    return why.unknown if why.node in (machine.name, machine.node.name) else (other, *why.unknown)


def _flags(change: WayOut) -> list[tuple[str, str]]:
    """List what a change adds to the command, as (flag, value) pairs."""
    flags: list[tuple[str, str]] = [("machine", change.machine)] if change.machine else []
    flags += [(SHORT_FLAGS.get(name, name), text) for name, text in change.flags.items()]
    flags += [*change.hardware, *(("without", one.name) for one in (*change.pods, *change.kept_out))]
    amounts = {f"{container}:{resource}": nano for (container, resource), nano in change.amounts.items()}
    return flags + [("set", f"{key}={quantity_text(nano)}") for key, nano in amounts.items()]


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
    why = _why()
    if why is not None and not why.kept:
        return why.again(_flags(change))
    amounts = {f"{container}:{resource}": nano for (container, resource), nano in change.amounts.items()}
    more = [*_place(asked), *asked.what_if.flags(but=amounts)]
    if asked.several and asked.what_if.pod is None:
        more.append(("pod", pod))
    more += change.hardware
    more += [("without", one.name) for one in (*change.pods, *change.kept_out)]
    more += [("set", f"{key}={quantity_text(nano)}") for key, nano in amounts.items()]
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


def _where_to_look(error: StartError, given: LoadedPods, asked: Asked) -> str:
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
    why = _why()
    return why.with_files(shlex.join(words)) if why is not None else shlex.join(words)


def _pod_flags(pods: PodsRequest) -> list[tuple[str, str]]:
    counts = [str(pods.replicas)] if pods.replicas else []
    counts += [f"{role}={number}" for role, number in pods.role_replicas.items()]
    flags = [("replicas", ",".join(counts))] if counts else []
    return flags + ([("node-name", pods.node_name)] if pods.node_name else [])
