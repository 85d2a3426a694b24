"""`numalign compare`: the same pods under every policy and scope, with options, and on several machines.

Two releases in place of variants (`compare_releases`) and every node of a folder in place of one (`compare_fleet`) are
answers of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from numalign.analysis.settings import OPTIONS
from numalign.cli.engine_options import engine_options
from numalign.cli.flags import flag
from numalign.cli.options import (
    answer_options,
    kubelet_options,
    machine_option,
    node_options,
    slices_option,
)
from numalign.cli.pod_options import pods_arguments
from numalign.cli.stderr import but_claims, report
from numalign.cli.view import Output, View, faces_of, late_imports, tell_and_show
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.results.compare import CompareResult, Scene
from numalign.tasks.compare import compare
from numalign.tasks.loaded_pods import LoadedPods, Terms, load_pods
from numalign.tasks.parallel import Engine
from numalign.tasks.place import find_place
from numalign.tasks.requests import ClaimsRequest, KubeletRequest, PodsRequest
from numalign.tasks.setup import LoadedSetup, load_setup, told_apart
from numalign.values import NamedTuple

with late_imports():
    from numalign.cli.commands import compare_fleet as fleets
    from numalign.cli.commands import compare_releases as releases
    from numalign.render.json import compare as json
    from numalign.render.picture import occupants
    from numalign.render.text import compare as text
    from numalign.tasks import claimed, scenes

if TYPE_CHECKING:
    from numalign.dra.claim_objects import ClaimObjects

NEEDED_ROWS = ("any", "all")
"""Choices of `--need`: how many rows must admit the pods for exit status 0."""


class Shown(NamedTuple):
    """An answer, and what it came of."""

    result: CompareResult
    settings: Sequence[LoadedSetup]
    up: LoadedPods
    terms: Terms

    @property
    def origins(self) -> Sequence[str]:
        """Where the machines came from."""
        return [on.origin for on in self.settings]

    @property
    def notices(self) -> Sequence[Notice]:
        """What is told beside it, each once."""
        about_claims = [notice for row in self.result.rows if row.claims is not None for notice in row.claims.notices]
        about_nodes = (notice for on in self.settings for notice in on.notices)
        return tuple(dict.fromkeys((*about_nodes, *self.up.notices, *self.result.notices, *about_claims)))

    def scenes(self) -> Sequence[Scene]:
        """Admit the pods once more, to draw them."""
        return scenes.before_and_after(self.result, self.up.tried, self.terms)


VIEW = View[Shown](
    document=lambda shown: text.compare_document(shown.result, shown.origins),
    wide=lambda shown: text.compare_document(shown.result, shown.origins, wide=True),
    data=lambda shown: json.compare_json(shown.result, shown.notices),
    picture=lambda shown: occupants.draw_scenes(shown.scenes(), verdict=text.compare_verdict(shown.result)),
)


@click.command("compare")
@pods_arguments
@machine_option(multiple=True)
@node_options
@kubelet_options
@slices_option
@flag(
    "--try-option",
    "options",
    type=click.Choice(OPTIONS),
    multiple=True,
    metavar="OPTION",
    help="add rows with this policy option",
)
@flag(
    "--need",
    type=click.Choice(NEEDED_ROWS),
    help="exit 1 unless any (all) rows admit every pod",
)
@flag(
    "--fleet",
    metavar="FOLDER",
    help="folder of snapshots or machine files: every node",
)
@engine_options
@answer_options(VIEW)
def command(
    pods: PodsRequest,
    machine: Sequence[str],
    node: str | None,
    kubelet: KubeletRequest,
    slices: str | None,
    options: Sequence[str],
    need: str | None,
    fleet: str | None,
    engine: Engine,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Compare policies and scopes, machines, or two kubelet releases.

    \b
    Examples:
      numalign compare pod.yaml --machine hgx-h100 --machine node-a.yaml
      numalign compare pod.yaml --machine xeon-4s --try-option full-pcpus-only
      numalign compare pods/ --fleet snapshots/ --kubelet-version 1.32,1.36

    Exit status: 0, whatever the answer; with --need 1 if not enough rows admit the pods.
    """
    two = "," in (kubelet.version or "")
    if fleet is not None or (node is not None and two):
        sources = fleets.sources_of(fleet, node, machine, slices, output)
        return fleets.compare_fleet(sources, pods, kubelet, options, output, engine, need=need, quiet=quiet)
    if two:
        return releases.compare_releases(pods, machine, kubelet, output, quiet=quiet)
    here, asked = find_place(node, machine[0] if machine else None, kubelet, pods)
    settings = told_apart([here.on, *(load_setup(one, kubelet) for one in machine[1:])])
    up = load_pods(asked, here.pods, here.on.setup)
    request = ClaimsRequest(slices or "", pods.node_name, pods.names, up.claims, up.files)
    if slices is not None:
        objects, up = claimed.load_claims_for(request, up, [on.setup for on in settings])
    terms, reasons = up.terms(pods, here.there), faces_of(VIEW, output) != ("data",)
    result = compare([on.setup for on in settings], up.tried, terms, options=options, reasons=reasons)
    if slices is not None:
        up = up._replace(notices=tuple(but_claims(up.notices, slices)))
        result = _with_claims(result, up, objects, request)
    shown = Shown(result, settings, up, terms)
    tell_and_show(VIEW, shown, output, shown.notices, quiet=quiet)
    enough = need is None or {"any": any, "all": all}[need](one.admit for one in result.rows)
    return report(up.broken, ExitStatus.DONE if enough else ExitStatus.NO)


def _with_claims(result: CompareResult, up: LoadedPods, objects: ClaimObjects, request: ClaimsRequest) -> CompareResult:
    """Add what the pods hold by claim, row by row."""
    machines = []
    for machine in result.machines:
        rows = [
            row._replace(
                claims=claimed.claims_on(
                    row.setup, row.pods, up.tried, objects, request, most_copies=max(1, row.replicas)
                )
            )
            for row in machine.rows
        ]
        machines.append(machine._replace(rows=tuple(rows)))
    return result._replace(machines=tuple(machines))
