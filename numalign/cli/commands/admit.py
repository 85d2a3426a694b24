"""`numalign admit`: the main job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from numalign.cli.inputs import Setting, check_choices, file_of, read_pods, setting
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
from numalign.cli.stderr import counted, tell
from numalign.cli.verdict import FAIL_ON, KUBELET_FAILS, fails
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome, Session, admit_in_order, odd_from_the_start, open_session
from numalign.kubelet.setup import Setup

if TYPE_CHECKING:
    from numalign.sources.pods.manifest import PodSource


@click.command("admit")
@pods_arguments
@machine_option()
@kubelet_options
@beyond_options
@click.option(
    "--only", type=click.Choice(["managers"]), help="Stop after the managers: no check of the node as a whole."
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="rejected",
    show_default=True,
    help="What makes the exit status 1.",
)
@output_option("table", "wide", "json", "yaml", "name", "junit", "github")
@quiet_option
def command(
    pods: PodArguments,
    machine: str | None,
    kubelet: KubeletFlags,
    only: str | None,
    fail_on: str,
    output: str,
    quiet: bool,
) -> int:
    """Admit PODs in order on a machine, as the kubelet would, and print what each container gets.

    A POD is a manifest (Pod, Deployment, Job, List, …), a folder of them, or `-`. The exit status is 0 when every pod
    is admitted and 1 when one is refused.

    \b
    Examples:
      numalign admit pod.yaml --policy single-numa-node
      numalign admit deploy.yaml --replicas 8 --machine hgx-h100 --policy restricted -o json
      kubectl get pod web-0 -o json | numalign admit - --machine node-a.yaml --kubelet-config config.yaml
    """
    on = setting(machine, kubelet)
    up = read_pods(pods)
    check_choices(on, (*up.beside, *up.tried))
    session = open_session(Setup(on.machine, on.config, on.base, on.profile), fit_check=only is None)
    order = admit_in_order(session, (*up.beside, *up.tried), started=pods.started)
    outcomes = list(counted(order, "pods"))
    tried = outcomes[len(up.beside) :]
    notices = (
        *on.notices,
        *up.notices,
        *odd_from_the_start(session),
        *_absent(outcomes[: len(up.beside)]),
        *(notice for outcome in outcomes for notice in outcome.notices),
    )
    tell(notices)
    if output in ("junit", "github") and not quiet:
        _print_checks(output, session, tried, up.sources, fail_on)
    elif not quiet:
        _print(output, on, session, tried, notices)
    if any(outcome.stage in ("panic", "hang") for outcome in outcomes):
        return KUBELET_FAILS
    return int(any(fails(outcome, fail_on) for outcome in tried))


def _absent(beside: Sequence[Outcome]) -> Iterator[Notice]:
    """Warn of pods that are said to be there and that this node refuses: the answer is about a node without them."""
    for outcome in beside:
        if not outcome.admit:
            reason = outcome.reason or outcome.stage
            yield Notice("beside-refused", f"{reason} on this node, so it is not beside the pods", outcome.pod.name)


def _print(
    output: str, setting: Setting, session: Session, tried: Sequence[Outcome], notices: Sequence[Notice]
) -> None:
    if output in ("json", "yaml"):
        from numalign.cli.printing import print_data
        from numalign.render.json.admit import admit_json

        print_data(output, admit_json(session.node, setting.base, tried, notices))
    else:
        _print_text(output, setting, session, tried)


def _print_checks(
    output: str, session: Session, tried: Sequence[Outcome], sources: Sequence[PodSource], fail_on: str
) -> None:
    from numalign.cli.printing import print_checks
    from numalign.render.ci.admit import admit_check

    print_checks(
        output,
        "admit",
        [
            admit_check(
                session.node, outcome, file_of(source), source.document.line(source.path), fails(outcome, fail_on)
            )
            for outcome, source in zip(tried, sources, strict=False)  # none after one that the kubelet does not survive
        ],
    )


def _print_text(output: str, setting: Setting, session: Session, tried: Sequence[Outcome]) -> None:
    from numalign.render.text import admit as view

    if output == "name":
        click.echo("".join(f"{name}\n" for name in view.admit_names(tried)), nl=False)
        return
    from numalign.render.page.document import show

    document = view.admit_document(session.node, setting.base, setting.origin, tried)
    if output == "wide":
        from shutil import get_terminal_size

        document = [*document, *view.drawing(session.node, tried, get_terminal_size().columns)]
    show(document)
