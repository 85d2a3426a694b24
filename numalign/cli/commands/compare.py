"""`numalign compare`: the same pods under every policy and scope, with options, and on several machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from numalign.analysis.whatif.settings import OPTIONS
from numalign.cli.engine_options import engine_options
from numalign.cli.options import (
    Output,
    beyond_options,
    flag,
    kubelet_options,
    machine_option,
    node_options,
    output_option,
    pods_arguments,
    quiet_option,
    slices_option,
)
from numalign.cli.printing import print_data, print_document
from numalign.cli.stderr import but_claims, report, tell
from numalign.errors import InputError
from numalign.exit_status import ExitStatus
from numalign.render.text import compare as view
from numalign.results.compare import CompareResult
from numalign.tasks.compare import compare
from numalign.tasks.parallel import Engine
from numalign.tasks.place import place
from numalign.tasks.requests import ClaimsRequest, KubeletRequest, PodsRequest
from numalign.tasks.setup import LoadedPods, LoadedSetup, kubelet_asked, load_machine, load_pods, load_setup, told_apart

if TYPE_CHECKING:
    from numalign.kubelet.admission import Session

NEEDED_ROWS = ("any", "all")
"""Choices of `--need`: how many rows must admit the pods for exit status 0."""


@click.command("compare")
@pods_arguments
@machine_option(multiple=True)
@node_options
@kubelet_options
@beyond_options
@slices_option
@flag(
    "--try-option",
    "options",
    type=click.Choice(OPTIONS),
    multiple=True,
    metavar="OPTION",
    help=f"Add rows with this policy option on, and the feature gate it needs: {', '.join(OPTIONS)}.",
)
@flag(
    "--need",
    type=click.Choice(NEEDED_ROWS),
    help="Exit with 1 unless any variant (or: all of them) admits every pod.",
)
@flag(
    "--hints",
    is_flag=False,
    flag_value="every",
    metavar="[HINTS]",
    help="History, without PODs: what policies of 2019 and today's make of hints (docs/history.md).",
)
@flag(
    "--preferred-sets",
    metavar="RESOURCE=N",
    help="History, without PODs: the sets of devices a plugin prefers, and what hints come of them.",
)
@flag(
    "--fleet",
    metavar="FOLDER",
    help="Every node of a folder in place of one: snapshots, machine files; see --jobs.",
)
@engine_options
@output_option("table", "wide", "json", "yaml", "markdown", "svg", "html")
@quiet_option
def command(
    pods: PodsRequest,
    machine: Sequence[str],
    node: str | None,
    kubelet: KubeletRequest,
    slices: str | None,
    options: Sequence[str],
    need: str | None,
    hints: str | None,
    preferred_sets: str | None,
    fleet: str | None,
    engine: Engine,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Compare what PODs get under every policy and scope, with options that you name, and on several machines.

    A row a variant: admitted or the reason, the hint, whether what the pods get is aligned, how many copies of them
    fit before the first refusal, and what is stranded then. The exit status is 0 whatever the answer says, unless
    --need asks for more.

    \b
    Examples:
      numalign compare pod.yaml --machine hgx-h100
      numalign compare pod.yaml --machine dgx-1 --machine node-a.yaml --need any
      numalign compare pod.yaml --machine xeon-4s --try-option full-pcpus-only --try-option distribute-cpus-across-numa
      numalign compare pod.yaml --machine hgx-h100 -o html > before-and-after.html
      numalign compare pods/ --machine nodes/ --kubelet-config kubelet.yaml --kubelet-version 1.32,1.36
      numalign compare pods/ --fleet snapshots/ --kubelet-version 1.32,1.36 --jobs 8
    """
    if fleet is not None or (node is not None and "," in (kubelet.version or "")):
        from numalign.cli.commands.compare_fleet import Job, compare_fleet, sources_of

        sources = sources_of(fleet, node, machine, [slices, hints, preferred_sets], output)
        return compare_fleet(sources, Job("", pods, kubelet, (*options,), output), engine, need=need, quiet=quiet)
    special = _history(pods, machine, kubelet, hints, preferred_sets, output, quiet=quiet)
    if special is not None:
        return special
    here, asked = place(node, machine[0] if machine else None, kubelet, pods)
    settings = told_apart([here.on, *(load_setup(one, kubelet) for one in machine[1:])])
    up = load_pods(asked, here.pods, here.on.setup.machine)
    result = compare(
        [on.setup for on in settings],
        up.tried,
        beside=up.beside,
        started=pods.started,
        options=options,
        allow_missing=pods.allow_missing,
        reasons=output not in ("json", "yaml"),
        there=here.there,
    )
    if slices is not None:
        up = up._replace(notices=tuple(but_claims(up.notices, slices)))
        result = _with_claims(result, up, ClaimsRequest(slices, pods.node_name, pods.names, up.claims, up.files))
    _print(output, result, up, settings, pods, here.there, quiet=quiet)
    enough = need is None or {"any": any, "all": all}[need](one.admit for one in result.rows)
    return report(up.broken, ExitStatus.DONE if enough else ExitStatus.NO)


def _print(
    output: Output,
    result: CompareResult,
    up: LoadedPods,
    settings: Sequence[LoadedSetup],
    pods: PodsRequest,
    there: Session | None,
    *,
    quiet: bool,
) -> None:
    about_claims = [notice for row in result.rows if row.claims is not None for notice in row.claims.notices]
    seen = (*(notice for on in settings for notice in on.notices), *up.notices, *result.notices, *about_claims)
    notices = tuple(dict.fromkeys(seen))
    tell(notices)
    if quiet:
        return
    if output in ("json", "yaml"):
        print_data(output, view.compare_json(result, notices))
        return
    document = view.compare_document(result, [on.origin for on in settings], wide=output == "wide")
    if output in ("svg", "html"):
        from numalign.render.picture.page import scenes_text
        from numalign.tasks.before_after import before_and_after

        scenes = before_and_after(
            result, up.tried, beside=up.beside, started=pods.started, there=there, allow_missing=pods.allow_missing
        )
        click.echo(scenes_text(output, scenes, document), nl=False)
    else:
        print_document(output, document)


def _with_claims(result: CompareResult, up: LoadedPods, request: ClaimsRequest) -> CompareResult:
    """Add what the pods hold by claim, row by row."""
    from numalign.tasks.claimed import claims_on, load_claims

    objects = load_claims(request)
    machines = []
    for machine in result.machines:
        rows = [
            row._replace(
                claims=claims_on(row.setup, row.pods, up.tried, objects, request, most_copies=max(1, row.replicas))
            )
            for row in machine.rows
        ]
        machines.append(machine._replace(rows=tuple(rows)))
    return result._replace(machines=tuple(machines))


def _history(
    pods: PodsRequest,
    machines: Sequence[str],
    kubelet: KubeletRequest,
    hints: str | None,
    preferred_sets: str | None,
    output: Output,
    *,
    quiet: bool,
) -> ExitStatus | None:
    """Answer what is asked about history (docs/history.md); None: nothing is."""
    versions = kubelet.version or ""
    if hints is None and preferred_sets is None and "," not in versions:
        return None
    special = hints is not None or preferred_sets is not None
    if output == "markdown" or (special and (len(machines) > 1 or output in ("svg", "html"))):
        raise InputError(
            "--hints, --preferred-sets and two versions have no markdown; the first two take one --machine, no picture"
        )
    from numalign.cli.commands import compare_history
    from numalign.sources.machine.file import machines_of

    machine = machines[0] if machines else None
    if hints is not None:
        return compare_history.compare_hints(hints, kubelet_asked(kubelet), output, quiet=quiet)
    if preferred_sets is not None:
        return compare_history.compare_sets(preferred_sets, load_machine(machine).machine, output, quiet=quiet)
    names = [name for given in machines or (None,) for name in machines_of(given)]
    nodes = [load_setup(name, kubelet._replace(version=None)) for name in names]
    up = load_pods(pods, machine=nodes[0].setup.machine)
    return compare_history.compare_versions(versions, nodes, up, output, started=pods.started, quiet=quiet)
