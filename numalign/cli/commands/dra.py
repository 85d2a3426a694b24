"""`numalign dra check` and `numalign dra slices`: claims against what drivers publish."""

from __future__ import annotations

from typing import get_args

import click

from numalign.cli.options import Output, OwnFlag, flag, machine_option, output_option, quiet_option
from numalign.cli.printing import print_data, print_names
from numalign.cli.stderr import tell
from numalign.dra.publish.cpus import GroupBy
from numalign.errors import InputError, Notice
from numalign.exit_status import ExitStatus
from numalign.results.dra import DraCheckResult

slices_option = flag(
    "--slices",
    metavar="DUMP",
    help="Slices, device classes, claims and their templates, as kubectl prints them (see the examples), or what "
    "`numalign dra slices` prints.",
)


@click.group("dra")
def command() -> None:
    """Check claims of Dynamic Resource Allocation against published devices, or have the devices written.

    The scheduler allocates claims, node by node; the kubelet's Topology Manager never sees their devices (docs/dra.md).

    \b
    Examples:
      numalign dra check pod.yaml --slices cluster.json
      numalign dra slices --machine hgx-h100 > slices.yaml
    """


@command.command("check")
@click.argument("names", nargs=-1, metavar="POD|CLAIM…")
@slices_option
@flag("--node-name", "nodes", multiple=True, metavar="NAME", help="Only this node; may be repeated.")
@flag("--kubelet-version", "release", metavar="1.N", help="The cluster's release: 1.34, 1.35 or 1.36 (default).")
@flag("--feature-gates", "gates", default="", metavar="G=true,…", help="DRAListTypeAttributes=true, …")
@output_option("table", "wide", "json", "yaml", "name")
@quiet_option
def check(
    names: tuple[str, ...],
    slices: str | None,
    nodes: tuple[str, ...],
    release: str | None,
    gates: str,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Tell which devices the claims of each POD, or each CLAIM, would get on which node, or why they get none.

    A POD|CLAIM is a file, a folder or `-` with Pods, workloads, ResourceClaims, ResourceClaimTemplates and
    DeviceClasses. Each is tried by itself. The exit status is 1 when one fits no node.

    \b
    Examples:
      kubectl get -A -o json > cluster.json resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates
      numalign dra check pod.yaml claims.yaml --slices cluster.json
      numalign dra check claim.yaml --slices slices.yaml --node-name node-1 -o json
    """
    from numalign.tasks.dra_check import DraRequest
    from numalign.tasks.dra_check import check as run

    if not names:
        raise click.UsageError("name at least one POD or CLAIM: a file, a folder, or - for standard input")
    if slices is None:
        raise click.UsageError("say what is published: --slices DUMP (numalign dra slices makes one for a machine)")
    result = run(DraRequest(names, slices, nodes, release, gates))
    tell(result.notices)
    if not quiet:
        _print(output, result)
    return ExitStatus.DONE if all(one.fits for one in result.checks) else ExitStatus.NO


def _print(output: Output, result: DraCheckResult) -> None:
    if output in ("json", "yaml"):
        from numalign.render.json.dra import check_json

        print_data(output, check_json(result, result.notices))
        return
    from numalign.render.text.dra import check_document, check_names

    if output == "name":
        print_names(check_names(result))
    else:
        from numalign.render.page.document import show

        show(check_document(result, wide=output == "wide"))


@command.command("slices")
@machine_option()
@flag(
    "--like",
    cls=OwnFlag,
    multiple=True,
    metavar="DRIVER,…",
    help="dra.cpu, dra.memory, dra.net, gpu.nvidia.com, gpu.amd.com, gpu.example.com (cpu, memory, nic and gpu for "
    "short), or DRIVER=RESOURCE; without it: those that have something to publish.",
)
@flag("--node-name", metavar="NAME", default="", help="The node's name; without it the machine's.")
@flag(
    "--cpus-by",
    type=click.Choice(get_args(GroupBy)),
    default="numanode",
    show_default=True,
    help="How dra.cpu groups CPUs; cpu: a device for each.",
)
@flag("--reserved-cpus", metavar="LIST", default="", help="CPUs that dra.cpu keeps back, 0-1,64.")
@flag("--standard-numa", is_flag=True, help="Publish resource.kubernetes.io/numaNode too, as drivers for 1.37 do.")
@output_option("yaml", "json")
@quiet_option
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
    """Write the ResourceSlices and DeviceClasses that the usual drivers would publish for a machine.

    So claims can be designed before any driver is installed: give the output to `dra check --slices`.

    \b
    Examples:
      numalign dra slices --machine hgx-h100 > slices.yaml
      numalign dra slices --machine figure-1 --like cpu,gpu.example.com=gpu-vendor.com/gpu
    """
    from numalign.dra.publish.slices import Options
    from numalign.render.json.dra import slices_json
    from numalign.tasks.dra_slices import slices as run
    from numalign.tasks.setup import load_machine

    found, _, notices = load_machine(machine)
    options = Options(node_name, cpus_by, _cpus(reserved_cpus), standard_numa)
    result = run(found, [text for part in like for text in part.split(",") if text], options)
    unknown = [Notice("no-driver", "no known driver publishes this resource", name) for name in result.passed_over]
    tell((*notices, *unknown))
    if not quiet:
        print_data(output, slices_json(result))
    return ExitStatus.DONE


def _cpus(text: str) -> int:
    from numalign.model.cpuset import CPUSetError, parse

    try:
        return parse(text) if text else 0
    except CPUSetError:
        raise InputError(f'expected a CPU list like "0-3,8", got "{text[:60]}"', "--reserved-cpus") from None
