"""`numalign compare`: the same pods under every policy and scope, with options, and on several machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from numalign.analysis.compare.table import run, variants
from numalign.analysis.whatif.settings import OPTIONS
from numalign.cli.inputs import Pods, Setting, check_choices, load_machine, profile, read_pods, setting
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
from numalign.errors import InputError, Notice
from numalign.render.text.compare import Tried

NEED = ("any", "all")


@click.command("compare")
@pods_arguments
@machine_option(multiple=True)
@kubelet_options
@beyond_options
@click.option(
    "--try-option",
    "options",
    type=click.Choice(OPTIONS),
    multiple=True,
    metavar="OPTION",
    help=f"Add rows with this policy option on, and the feature gate it needs: {', '.join(OPTIONS)}.",
)
@click.option(
    "--need",
    type=click.Choice(NEED),
    help="Exit with 1 unless any variant (or: all of them) admits every pod.",
)
@click.option(
    "--hints",
    is_flag=False,
    flag_value="every",
    metavar="[HINTS]",
    help="History, without PODs: what policies of 2019 and today's make of hints (docs/history.md).",
)
@click.option(
    "--preferred-sets",
    metavar="RESOURCE=N",
    help="History, without PODs: the sets of devices a plugin prefers, and what hints come of them.",
)
@output_option("table", "wide", "json", "yaml", "markdown")
@quiet_option
def command(
    pods: PodArguments,
    machine: Sequence[str],
    kubelet: KubeletFlags,
    options: Sequence[str],
    need: str | None,
    hints: str | None,
    preferred_sets: str | None,
    output: str,
    quiet: bool,
) -> int:
    """Compare what PODs get under every policy and scope, with options that you name, and on several machines.

    A row a variant: admitted or the reason, the hint, whether what the pods get is aligned, how many copies of them
    fit before the first refusal, and what is stranded then. The exit status is 0 whatever the answer says, unless
    --need asks for more.

    \b
    Examples:
      numalign compare pod.yaml --machine hgx-h100
      numalign compare pod.yaml --machine dgx-1 --machine node-a.yaml --need any
      numalign compare pod.yaml --machine xeon-4s --try-option full-pcpus-only --try-option distribute-cpus-across-numa
      numalign compare pod.yaml --machine dgx-1 --policy restricted --kubelet-version 1.23,1.32
    """
    special = _history(pods, machine, kubelet, hints, preferred_sets, output, quiet=quiet)
    if special is not None:
        return special
    settings = [setting(one, kubelet) for one in machine or (None,)]
    up = read_pods(pods)
    for on in settings:
        check_choices(on, (*up.beside, *up.tried))
    tried = [_tried(on, up, options, started=pods.started) for on in settings]
    found = [one for on in tried for one in on.comparisons]
    odd = (notice for on in tried for notice in _odd(on, several=len(tried) > 1))
    notices = tuple(dict.fromkeys((*(notice for on in settings for notice in on.notices), *up.notices, *odd)))
    tell(notices)
    if not quiet:
        _print(output, tried, notices)
    return int(need is not None and not {"any": any, "all": all}[need](one.admit for one in found))


def _tried(on: Setting, up: Pods, options: Sequence[str], *, started: bool) -> Tried:
    found = variants(on.config, on.machine, ideal=on.base == "ideal", profile=on.profile, options=options)
    comparisons = [run(variant, up.tried, up.beside, started=started) for variant in found]
    return Tried(on.machine, on.origin, on.base, comparisons)


def _odd(tried: Tried, *, several: bool) -> Iterator[Notice]:
    """Warn of pods that are said to be there and are refused under some policy, and of what the first set met."""
    where = f" on {tried.machine.name}" if several else ""
    refused: dict[str, dict[str, None]] = {}
    for one in tried.comparisons:
        for outcome in one.absent:
            refused.setdefault(outcome.pod.name, {})[one.variant.config.topology_manager_policy] = None
        for outcome in one.outcomes:
            yield from (notice._replace(path=f"{notice.path}{where}") for notice in outcome.notices)
    for name, policies in refused.items():
        text = f"refused under {', '.join(policies)}, so it is not beside the pods there"
        yield Notice("beside-refused", text, f"{name}{where}")


def _history(
    pods: PodArguments,
    machines: Sequence[str],
    kubelet: KubeletFlags,
    hints: str | None,
    preferred_sets: str | None,
    output: str,
    *,
    quiet: bool,
) -> int | None:
    """Answer what is asked about history (docs/history.md); None: nothing is."""
    versions = kubelet.version or ""
    if hints is None and preferred_sets is None and "," not in versions:
        return None
    if len(machines) > 1 or output == "markdown":
        raise InputError("--hints, --preferred-sets and two versions take one --machine, and have no markdown")
    from numalign.cli.commands import compare_history

    machine = machines[0] if machines else None
    if hints is not None:
        return compare_history.compare_hints(hints, profile(kubelet), output, quiet=quiet)
    if preferred_sets is not None:
        return compare_history.compare_sets(preferred_sets, load_machine(machine)[0], output, quiet=quiet)
    on = setting(machine, kubelet._replace(version=None))
    up = read_pods(pods)
    check_choices(on, (*up.beside, *up.tried))
    return compare_history.compare_versions(versions, on, up, output, started=pods.started, quiet=quiet)


def _print(output: str, tried: Sequence[Tried], notices: Sequence[Notice]) -> None:
    from numalign.render.text import compare as view

    if output in ("json", "yaml"):
        from numalign.cli.printing import print_data

        print_data(output, view.compare_json(tried, notices))
    elif output == "markdown":
        from numalign.render.page.markdown import markdown

        click.echo(markdown(view.compare_document(tried)), nl=False)
    else:
        from numalign.render.page.document import show

        show(view.compare_document(tried, wide=output == "wide"))
