"""`numalign admit`: the main job."""

from __future__ import annotations

from collections.abc import Sequence

import click

from numalign.cli.options import (
    beyond_options,
    fail_on_option,
    kubelet_options,
    machine_option,
    output_option,
    pods_arguments,
    quiet_option,
)
from numalign.cli.stderr import counted, tell
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.results.admit import AdmitResult
from numalign.results.verdict import FailOn, fails
from numalign.tasks.admit import admit
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.setup import LoadedPods, load_pods, load_setup


@click.command("admit")
@pods_arguments
@machine_option()
@kubelet_options
@beyond_options
@click.option(
    "--only", type=click.Choice(["managers"]), help="Stop after the managers: no check of the node as a whole."
)
@fail_on_option
@output_option("table", "wide", "json", "yaml", "name", "junit", "github")
@quiet_option
def command(
    pods: PodsRequest,
    machine: str | None,
    kubelet: KubeletRequest,
    only: str | None,
    fail_on: FailOn,
    output: str,
    quiet: bool,
) -> ExitStatus:
    """Admit PODs in order on a machine, as the kubelet would, and print what each container gets.

    A POD is a manifest (Pod, Deployment, Job, List, …), a folder of them, or `-`. The exit status is 0 when every pod
    is admitted and 1 when one is refused.

    \b
    Examples:
      numalign admit pod.yaml --policy single-numa-node
      numalign admit deploy.yaml --replicas 8 --machine hgx-h100 --policy restricted -o json
      kubectl get pod web-0 -o json | numalign admit - --machine node-a.yaml --kubelet-config config.yaml
    """
    on, up = load_setup(machine, kubelet), load_pods(pods)
    result = admit(
        on.setup,
        counted(up.tried, "pods"),
        beside=up.beside,
        started=pods.started,
        fit_check=only is None,
        reasons=output in ("table", "wide"),
        occupants=output == "wide",
        impossible=fail_on == "impossible",
    )
    notices = (*on.notices, *up.notices, *result.notices)
    tell(notices)
    if not quiet:
        _print(output, result, on.origin, up, notices, fail_on)
    if result.fatal:
        return ExitStatus.KUBELET_FAILS
    return ExitStatus.NO if any(fails(pod, fail_on) for pod in result.pods) else ExitStatus.DONE


def _print(
    output: str, result: AdmitResult, origin: str, up: LoadedPods, notices: Sequence[Notice], fail_on: FailOn
) -> None:
    if output in ("json", "yaml"):
        from numalign.cli.printing import print_data
        from numalign.render.json.admit import admit_json

        print_data(output, admit_json(result, notices))
    elif output in ("junit", "github"):
        from numalign.cli.printing import print_checks
        from numalign.render.ci.admit import admit_checks

        print_checks(output, "admit", admit_checks(result, up.places, fail_on))
    elif output == "name":
        from numalign.cli.printing import print_names
        from numalign.render.text.admit import admit_names

        print_names(admit_names(result.pods))
    else:
        from numalign.render.page.document import show, terminal_width
        from numalign.render.text.admit import admit_document, drawing

        document = admit_document(result, origin)
        show([*document, *drawing(result, terminal_width())] if output == "wide" else document)
