"""`numalign dra check` and `numalign dra slices`: claims against what drivers publish."""

from __future__ import annotations

from typing import get_args

import click

from numalign.cli.flags import OwnFlag, flag
from numalign.cli.options import answer_options, machine_option, slices_option
from numalign.cli.view import Output, View, late_imports, tell_and_show
from numalign.dra.features import RELEASES
from numalign.dra.publish.cpus import GroupBy
from numalign.errors import InputError, Notice
from numalign.exit_status import ExitStatus
from numalign.results.dra import DraCheckResult, DraSlicesResult

with late_imports():
    from numalign.dra.publish import slices as publish
    from numalign.model import cpuset
    from numalign.render.json import dra as json
    from numalign.render.text import dra as text
    from numalign.tasks import dra_check, dra_slices, setup


VIEW = View[DraCheckResult](
    document=lambda result: text.check_document(result),
    wide=lambda result: text.check_document(result, wide=True),
    data=lambda result: json.check_json(result, result.notices),
    names=lambda result: text.check_names(result),
)
SLICES_VIEW = View[DraSlicesResult](data=lambda result: json.slices_json(result))


@click.group("dra")
def command() -> None:
    """Check claims of Dynamic Resource Allocation against devices, or write ResourceSlices.

    \b
    Examples:
      numalign dra check pod.yaml --slices cluster.json
      numalign dra slices --machine hgx-h100 > slices.yaml
    """


@command.command("check", short_help="show which devices claims get")
@click.argument("names", nargs=-1, metavar="POD|CLAIM…")
@slices_option
@flag("--node-name", "nodes", multiple=True, metavar="NAME", help="this node alone; may be repeated")
@flag(
    "--kubelet-version",
    "release",
    metavar="1.N",
    help=f"release of the scheduler, {RELEASES[0]} to {RELEASES[-1]}",
)
@flag("--feature-gates", "gates", default="", metavar="G=true,…", help="such as DRAListTypeAttributes=true")
@answer_options(VIEW)
def check_command(
    names: tuple[str, ...],
    slices: str | None,
    nodes: tuple[str, ...],
    release: str | None,
    gates: str,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Show which devices the claims of each POD or CLAIM get on each node, or why none.

    \b
    Examples:
      kubectl get -A -o json > cluster.json resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates
      numalign dra check pod.yaml claims.yaml --slices cluster.json

    Exit status: 0 every claim fits a node, 1 one fits none, 2 wrong input.
    """
    if not names:
        raise click.UsageError("no POD or CLAIM given; fix: name a file, a folder, or - for standard input")
    if slices is None:
        raise click.UsageError(
            "no devices given; fix: add --slices DUMP (numalign dra slices writes one for a machine)"
        )
    result = dra_check.check_claims(dra_check.DraRequest(names, slices, nodes, release, gates))
    tell_and_show(VIEW, result, output, result.notices, quiet=quiet)
    return ExitStatus.DONE if all(one.fits for one in result.checks) else ExitStatus.NO


@command.command("slices", short_help="write the ResourceSlices of a machine")
@machine_option()
@flag(
    "--like",
    cls=OwnFlag,
    multiple=True,
    metavar="DRIVER,…",
    help="cpu, memory, nic, gpu, a driver, or DRIVER=RESOURCE",
)
@flag("--node-name", metavar="NAME", default="", help="name of the node [default: the machine's]")
@flag(
    "--cpus-by",
    type=click.Choice(get_args(GroupBy)),
    default="numanode",
    show_default=True,
    help="CPUs in a device of dra.cpu",
)
@flag("--reserved-cpus", metavar="LIST", default="", help="CPUs withheld from dra.cpu, such as 0-1,64")
@flag("--standard-numa", is_flag=True, help="add resource.kubernetes.io/numaNode (1.37)")
@answer_options(SLICES_VIEW)
def slices(
    machine: str | None,
    like: tuple[str, ...],
    node_name: str,
    cpus_by: GroupBy,
    reserved_cpus: str,
    standard_numa: bool,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Write the ResourceSlices and DeviceClasses that drivers would publish for a machine.

    \b
    Examples:
      numalign dra slices --machine hgx-h100 > slices.yaml
      numalign dra slices --machine figure-1 --like cpu,gpu.example.com=gpu-vendor.com/gpu
    """
    found, _, notices = setup.load_machine(machine)
    options = publish.Options(node_name, cpus_by, _cpus(reserved_cpus), standard_numa)
    result = dra_slices.slices(found, [text for part in like for text in part.split(",") if text], options)
    unknown = [Notice("no-driver", "no known driver publishes this resource", name) for name in result.passed_over]
    tell_and_show(SLICES_VIEW, result, output, (*notices, *unknown), quiet=quiet)
    return ExitStatus.DONE


def _cpus(text: str) -> int:
    try:
        return cpuset.parse(text) if text else 0
    except cpuset.CPUSetError:
        raise InputError(f'expected a CPU list like "0-3,8", got "{text[:60]}"', "--reserved-cpus") from None
