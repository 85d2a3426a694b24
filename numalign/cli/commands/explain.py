"""`numalign explain`: why the kubelet decided so, and what would change its mind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import click

from numalign.analysis.explanation import Explanation, explain
from numalign.analysis.whatif.changes import Change
from numalign.analysis.whatif.situation import Event, Situation, arrivals, played
from numalign.cli.command_line import command_line
from numalign.cli.inputs import Pods, Setting, check_choices, read_pods, setting
from numalign.cli.options import (
    KubeletFlags,
    PodArguments,
    beyond_options,
    kubelet_options,
    machine_option,
    output_option,
    pods_arguments,
    quiet_option,
)
from numalign.cli.stderr import tell
from numalign.cli.verdict import FAIL_ON, KUBELET_FAILS, fails
from numalign.cli.what_if import AsIf, as_asked, as_if_options, gone
from numalign.errors import Notice, StartError
from numalign.kubelet.admission import Session, admit, odd_from_the_start
from numalign.model.pod import Pod
from numalign.render.page.document import Document, show
from numalign.render.text.explain import Advice, More, explain_document, quantity_text, start_document


@click.command("explain")
@pods_arguments
@machine_option(multiple=True)
@kubelet_options
@beyond_options
@as_if_options
@click.option("--details", is_flag=True, help="Show every step: hints, the merge, the winner and the runner-up.")
@click.option("--alternatives", is_flag=True, help="List every aligned allocation there is now.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="rejected",
    show_default=True,
    help="What makes the exit status 1.",
)
@output_option("table", "json", "yaml", "markdown")
@quiet_option
def command(
    pods: PodArguments,
    machine: Sequence[str],
    kubelet: KubeletFlags,
    as_if: AsIf,
    details: bool,
    alternatives: bool,
    fail_on: str,
    output: str,
    quiet: bool,
) -> int:
    """Explain what the kubelet decides about PODs: what is in the way, and the nearest changes that would admit them.

    Every change that is named was tried. Further --machine are machines to try a refused pod on. The exit status is 0
    when every pod is admitted and 1 when one is refused.

    \b
    Examples:
      numalign explain pod.yaml --machine hgx-h100 --policy single-numa-node
      numalign explain pod.yaml --beside running.json --machine node-a.yaml --kubelet-config config.yaml --details
      numalign explain pod.yaml --machine dgx-1 --policy restricted -o markdown
    """
    settings = [setting(one, kubelet) for one in machine or (None,)]
    given = read_pods(pods)
    for on in settings:
        check_choices(on, (*given.beside, *given.tried))
    up = as_asked(given, as_if)
    asked = Asked(pods, tuple(machine), kubelet, as_if, several=len(given.tried) > 1)
    on = settings[0]
    try:
        told, odd = _told(Question(settings, asked.machines, up, pods.started, gone(up, as_if)))
    except StartError as error:
        if not quiet:
            check = command_line("config check", None, asked.machines[:1], kubelet)
            _print_start(output, on, error, check)
        raise
    notices = (*on.notices, *given.notices, *odd)
    tell(notices)
    if not quiet:
        advice = [_commands(one, asked) for one in told]
        _print(output, on, told, advice, notices, More(details, alternatives))
    if any(one.outcome.stage in ("panic", "hang") for one in told):
        return KUBELET_FAILS
    return int(any(fails(one.outcome, fail_on) for one in told))


class Asked(NamedTuple):
    """The command line, to write others like it."""

    pods: PodArguments
    machines: tuple[str, ...]
    kubelet: KubeletFlags
    as_if: AsIf
    several: bool
    """More than one pod comes up, so that one has to be named."""


class Question(NamedTuple):
    """What is to be explained."""

    settings: Sequence[Setting]
    """The kubelet asked about, then others to try."""
    machines: Sequence[str]
    """As given; may be empty."""
    up: Pods
    started: bool
    gone: Sequence[Pod]
    """Pods that end before the last one comes up."""


def _told(question: Question) -> tuple[list[Explanation], tuple[Notice, ...]]:
    """Admit the pods in order and explain each that is asked about; returns also what was odd."""
    up = question.up
    here, *elsewhere = [
        Situation(on.config, on.machine, ideal=on.base == "ideal", profile=on.profile) for on in question.settings
    ]
    situation = here._replace(past=arrivals(up.beside, started=question.started))
    session = situation.session()
    odd = [*odd_from_the_start(session), *_absent(up.beside, session)]
    told = []
    for pod in up.tried:
        if pod is up.tried[-1]:
            ends = tuple(Event("end", one) for one in question.gone)
            situation = situation._replace(past=situation.past + ends)
            session = played(session, ends)
        outcome = admit(session, pod)
        others = [other._replace(past=situation.past) for other in elsewhere]
        told.append(explain(situation, outcome, list(zip(question.machines[1:], others, strict=True))))
        odd += outcome.notices
        if outcome.stage in ("panic", "hang"):
            break
        events = arrivals((pod,), started=question.started)
        situation = situation._replace(past=situation.past + events)
        session = played(outcome.then, events[1:])
    return told, tuple(odd)


def _absent(beside: Iterable[Pod], session: Session) -> Iterator[Notice]:
    there = {pod.uid for pod in session.pods}
    for pod in beside:
        if pod.uid not in there:
            yield Notice("beside-refused", "refused on this node, so it is not beside the pods", pod.name)


def _commands(told: Explanation, asked: Asked) -> Advice:
    """Write the command that shows each change, and the one to go on with where there is none."""
    return Advice(
        [_command(change, told.outcome.pod, asked) for change in told.changes],
        command_line("compare", asked.pods, asked.machines, asked.kubelet),
    )


def _command(change: Change, pod: Pod, asked: Asked) -> str:
    amounts = {f"{container}:{resource}": nano for (container, resource), nano in change.amounts.items()}
    more = asked.as_if.flags(but=amounts)
    if asked.several and asked.as_if.pod is None:
        more.insert(0, ("pod", pod.name))
    more += [("without", one.name) for one in change.pods]
    more += [("set", f"{key}={quantity_text(nano)}") for key, nano in amounts.items()]
    here = (change.machine,) if change.machine else asked.machines[:1]
    return command_line("explain", asked.pods, here, asked.kubelet, settings=change.flags, more=more)


def _print_start(output: str, on: Setting, error: StartError, check: str) -> None:
    """The stage before any pod: the kubelet does not start."""
    if output in ("json", "yaml"):
        from numalign.render.json.explain import start_json

        _print_data(output, start_json(on.machine, on.config, on.base, error, check))
    else:
        _print_document(output, start_document(on.machine, on.origin, error, check))


def _print_data(output: str, data: dict[str, Any]) -> None:
    if output == "json":
        import json

        click.echo(json.dumps(data, indent=2))
    else:
        import yaml

        click.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), nl=False)


def _print_document(output: str, document: Document) -> None:
    if output == "markdown":
        from numalign.render.page.markdown import markdown

        click.echo(markdown(document), nl=False)
    else:
        show(document)


def _print(
    output: str,
    on: Setting,
    told: Sequence[Explanation],
    advice: Sequence[Advice],
    notices: Sequence[Notice],
    more: More,
) -> None:
    node = told[0].outcome.before.node
    if output in ("json", "yaml"):
        from numalign.render.json.explain import explain_json

        _print_data(output, explain_json(node, on.base, told, advice, notices, more))
    else:
        _print_document(output, explain_document(node, on.base, on.origin, told, advice, more))
