"""`numalign explain`: why the kubelet decided so, and what would change its mind."""

from __future__ import annotations

from collections.abc import Sequence

import click

from numalign.cli.asked_by_kubectl import Why
from numalign.cli.fix_commands import Asked, asking_why, fix_commands, where_to_look
from numalign.cli.flags import flag
from numalign.cli.options import (
    answer_options,
    fail_on_option,
    kubelet_options,
    machine_option,
    node_options,
    slices_option,
)
from numalign.cli.pod_options import pods_arguments, what_if_options
from numalign.cli.stderr import but_claims, report, tell
from numalign.cli.view import Output, View, faces_of, late_imports, show
from numalign.errors import Notice, StartError
from numalign.exit_status import ExitStatus
from numalign.model.pod import Pod
from numalign.render.page.document import Block, Document
from numalign.render.text.changes import Advice
from numalign.results.compare import Scene
from numalign.results.explain import ExplainResult
from numalign.results.verdict import FailOn, claims_fail, fails, rail_notices
from numalign.tasks.explain import as_asked, explain, gone
from numalign.tasks.loaded_pods import LoadedPods, load_pods
from numalign.tasks.place import Place, find_place
from numalign.tasks.requests import ClaimsRequest, KubeletRequest, PodsRequest, WhatIfRequest
from numalign.tasks.setup import LoadedSetup, default_policy, load_setup
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
@answer_options(VIEW)
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
        result = _explained(settings, here, given, asked, details=details, all_alternatives=alternatives)
    except StartError as error:
        error.answered = True
        if not quiet:
            show(START_VIEW, Stopped(settings[0], error, where_to_look(error, given, asked)), output)
        raise
    about_claims = result.claims.notices if result.claims is not None else ()
    notices = (*settings[0].notices, *but_claims(given.notices, slices), *result.notices, *about_claims)
    on = result.setup.machine
    notices += rail_notices([one.pod for one in result.pods], on, fail_on, result.claims)
    differs, blocks = _difference(result)
    told = () if blocks and {"document", "wide"} & set(faces_of(VIEW, output)) else differs
    tell((*(() if node else default_policy(settings[0], kubelet)), *told, *notices))
    if not quiet:
        advice = [fix_commands(one, result, asked) for one in result.pods]
        there = (*here.pods, *as_asked(given, what_if).beside)
        told = (*differs, *notices)
        show(VIEW, Shown(result, settings[0].origin, advice, notices=told, differs=blocks, there=there), output)
    refused = differs or any(fails(one.pod, fail_on, on, result.claims) for one in result.pods)
    if result.fatal:
        return report(given.broken, ExitStatus.KUBELET_FAILS)
    refused = refused or claims_fail(result.claims, fail_on)
    return report(given.broken, ExitStatus.NO if refused else ExitStatus.DONE)


def _explained(
    settings: Sequence[LoadedSetup],
    place: Place,
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
        up.terms(asked.pods, place.there),
        gone=gone(up, asked.what_if, place.pods),
        elsewhere=[(name, other.setup) for name, other in zip(asked.machines[1:], others, strict=True)],
        details=details,
        all_alternatives=all_alternatives,
    )
    told = [one.pod for one in result.pods]
    if len(told) > 1 and any(one.belongs_to for one in given.sources):
        result = result._replace(together=tuple(together.together(here.setup.machine, given.sources, told)))
    if asked.slices is None:
        return result
    return result._replace(claims=claimed.claims_on(here.setup, told, up.tried, objects, request))


def _difference(result: ExplainResult) -> tuple[Sequence[Notice], Sequence[Block]]:
    """Say how the answer differs from what happened, where somebody knows: for programs, and for people."""
    why = asking_why()
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
