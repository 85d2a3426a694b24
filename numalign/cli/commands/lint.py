"""`numalign lint`: what in a manifest keeps a pod from being aligned."""

from __future__ import annotations

from collections.abc import Sequence

import click

from numalign.analysis.lint.check import Report, check_code, ground, lint, reaches
from numalign.analysis.lint.finding import Ground
from numalign.cli.inputs import file_of, passed_over, setting
from numalign.cli.options import (
    KubeletFlags,
    kubelet_options,
    machine_option,
    output_option,
    quiet_option,
    shared_option,
)
from numalign.cli.stderr import tell
from numalign.errors import InputError, Notice
from numalign.render.text.lint import Linted
from numalign.sources.pods.manifest import PodSource, read

FAIL_ON = ("unaligned", "rejected", "impossible", "nothing")
"""Values of `--fail-on`: any finding but notes; only what gets the pod refused; only what nothing can run; never."""


@click.command("lint")
@click.argument("pod", nargs=-1, metavar="POD…")
@shared_option("-f", "--filename", "files", multiple=True, metavar="POD", help="The same as POD.")
@click.option(
    "--ignore", multiple=True, metavar="CODE", help="Pass over a rule, like the annotation numalign/ignore: CODE,…"
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default=FAIL_ON[0],
    show_default=True,
    help="What makes the exit status 1: any finding but notes; what gets the pod refused under restricted, "
    "single-numa-node or full-pcpus-only; what can never run; nothing.",
)
@machine_option(without="no machine, and what depends on it is a note")
@kubelet_options
@output_option("table", "json", "yaml", "junit", "github")
@quiet_option
def command(
    pod: tuple[str, ...],
    files: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    machine: str | None,
    kubelet: KubeletFlags,
    output: str,
    quiet: bool,
) -> int:
    """Tell what in the manifests of PODs keeps them from being aligned, and what to write instead.

    No machine is needed. With --machine the kubelet's flags count too, and rules that depend on them become certain.
    docs/lint.md explains every code. The exit status is 1 when something is found that reaches --fail-on.

    \b
    Examples:
      numalign lint pod.yaml
      numalign lint manifests/ -o github --fail-on rejected --machine hgx-h100
      numalign lint deploy.yaml --ignore sidecar-cpus
    """
    if not (pod or files):
        raise click.UsageError("name at least one POD: a file, a folder, or - for standard input")
    for code in ignore:
        check_code(code, "--ignore")
    on, notices = _ground(machine, kubelet)
    given = read((*pod, *files))
    linted = [_linted(source, on, ignore) for source in given.sources]
    notices = (*notices, *passed_over(given))
    tell(notices)
    if not quiet:
        _print(output, linted, on.name if on else None, notices, fail_on)
    return int(any(reaches(finding, fail_on) for one in linted for finding in one.report.findings))


def _ground(machine: str | None, kubelet: KubeletFlags) -> tuple[Ground | None, tuple[Notice, ...]]:
    """Start a kubelet on the machine, if there is one."""
    if machine is None:
        given = bool(kubelet.config or kubelet.config_dir or kubelet.settings)
        unused = Notice("kubelet-unused", "the kubelet's flags count only with --machine")
        return None, (unused,) * given
    from numalign.kubelet.admission import open_session
    from numalign.kubelet.setup import Setup

    on = setting(machine, kubelet)
    return ground(open_session(Setup(on.machine, on.config, on.base))), on.notices


def _linted(source: PodSource, on: Ground | None, ignore: Sequence[str]) -> Linted:
    document = source.document

    def place(path: str) -> str:
        return f"{source.path}.{path}" if source.path else path

    try:
        report: Report = lint(source.pod, on, ignore)
    except InputError as error:
        raise document.error(error.message, place(error.where)) from None
    lines = tuple(document.line(place(finding.path)) for finding in report.findings)
    line = document.line(source.path)
    return Linted(report, source.kind, source.owner, document.name, file_of(source) is not None, line, lines)


def _print(output: str, linted: Sequence[Linted], machine: str | None, notices: Sequence[Notice], fail_on: str) -> None:
    from numalign.render.text import lint as view

    if output == "table":
        from numalign.render.page.document import show

        show(view.lint_document(linted, machine))
    elif output in ("junit", "github"):
        from numalign.cli.printing import print_checks

        print_checks(output, "lint", view.lint_checks(linted, machine, fail_on))
    else:
        from numalign.cli.printing import print_data

        print_data(output, view.lint_json(linted, machine, notices))
