"""`numalign lint`: what in a manifest keeps a pod from being aligned."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import click
from click.core import ParameterSource

from numalign.analysis.lint.finding import reaches
from numalign.cli.flags import OwnFlag, complete_files, flag
from numalign.cli.options import answer_options, kubelet_options, machine_option, slices_option
from numalign.cli.stderr import report
from numalign.cli.view import Output, View, answering, late_imports, show, tell_and_show
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.results.lint import LintResult
from numalign.sources.pods.files import folders_below
from numalign.sources.pods.manifest import PodInput, read_pods
from numalign.sources.pods.notes import podless
from numalign.tasks.config import before_upgrade
from numalign.tasks.lint import brought_up_to_date, lint, pass_over
from numalign.tasks.requests import KubeletRequest
from numalign.tasks.setup import load_setup
from numalign.values import NamedTuple

with late_imports():
    from numalign.analysis.lint import check
    from numalign.render.json import lint as json
    from numalign.render.text import lint as text
    from numalign.sources.recorded import baseline as baselines
    from numalign.store import atomic


CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")
FAIL_ON = ("unaligned", "rejected", "impossible", "nothing")
"""Values of `--fail-on`: any finding but notes; only what gets the pod refused; only what nothing can run; never."""


class Shown(NamedTuple):
    """An answer, and what is told beside it."""

    result: LintResult
    notices: Sequence[Notice]
    fail_on: str


VIEW = View[Shown](
    document=lambda shown: text.lint_document(shown.result),
    data=lambda shown: json.lint_json(shown.result, shown.notices),
    checks=lambda shown: text.lint_checks(shown.result, shown.fail_on),
)


@click.command("lint")
@click.argument("pod", nargs=-1, metavar="POD…", shell_complete=complete_files)
@flag("-f", "--filename", "files", multiple=True, metavar="POD", help="same as POD")
@flag("-R", "--recursive", is_flag=True, help="also read the folders below each folder")
@flag(
    "--ignore",
    multiple=True,
    metavar="CODE[@CONTAINER]",
    help="skip a rule, or a rule in one container",
)
@flag(
    "--baseline",
    metavar="FILE",
    shell_complete=complete_files,
    help="skip the findings that FILE has",
)
@flag("--write-baseline", is_flag=True, help="write the findings of today to --baseline")
@flag(
    "--explain",
    cls=OwnFlag,
    metavar="CODE",
    help="explain a rule, with what to write instead",
)
@flag(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default=FAIL_ON[0],
    show_default=True,
    metavar="WHAT",
    help="exit 1: unaligned, rejected, impossible, nothing",
)
@machine_option(without="none")
@kubelet_options
@slices_option
@answer_options(VIEW)
def command(
    pod: tuple[str, ...],
    files: tuple[str, ...],
    recursive: bool,
    ignore: tuple[str, ...],
    baseline: str | None,
    write_baseline: bool,
    explain: str | None,
    fail_on: str,
    machine: str | None,
    kubelet: KubeletRequest,
    slices: str | None,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Find what keeps a manifest's pods from alignment, and what to write instead.

    Needs no machine; with --machine more rules apply. docs/lint.md lists the rules.

    \b
    Examples:
      numalign lint manifests/ --fail-on rejected --machine hgx-h100
      numalign lint deploy.yaml --ignore sidecar-cpus,fractional-cpus@proxy
      numalign lint --explain odd-cpus

    Exit status: 0 nothing found, 1 a finding reaches --fail-on, 2 wrong input.
    """
    if explain is not None:
        return _explain(explain)
    names = _names((*pod, *files), recursive)
    on = None if machine is None else before_upgrade(load_setup(machine, kubelet))
    given = read_pods(names, unique=False, mixed=True, needed=False)
    alone = any(kind in given.without_pod for kind in CLAIM_KINDS)
    result = lint(
        given.sources,
        on=on and on.setup,
        ignore=ignore,
        files=names,
        slices=slices,
        documents=given.claims,
        claims_alone=alone,
    )
    broken = (*given.broken, *result.broken)
    given_by = click.get_current_context().get_parameter_source("baseline")
    if write_baseline and (baseline is None or given_by is ParameterSource.DEFAULT_MAP):
        raise click.UsageError("--write-baseline requires --baseline; fix: add --baseline FILE on the line")
    with ExitStack() as changed:
        write = changed if write_baseline and not broken else None
        result, written = _against(baseline, result, names, write)
        notices = (*(on.notices if on else _unused(kubelet)), *_about_files(given, claims_alone=alone), *written)
        with answering(changed):
            tell_and_show(VIEW, Shown(result, notices, fail_on), output, notices, quiet=quiet)
    bad = any(reaches(finding, fail_on) for one in result.pods for finding in one.findings)
    return report(broken, ExitStatus.NO if bad else ExitStatus.DONE)


def _names(given: tuple[str, ...], recursive: bool) -> tuple[str, ...]:
    if not given:
        raise click.UsageError("no POD given; fix: name a file, a folder, or - for standard input")
    return folders_below(given) if recursive else given


def _against(
    baseline: str | None, result: LintResult, names: Sequence[str], write: ExitStack | None
) -> tuple[LintResult, tuple[Notice, ...]]:
    """Hold what was found against a baseline, with `write` against the one that is then written."""
    if baseline is None:
        return result, ()
    known = baselines.read_baseline(baseline) if os.path.exists(baseline) or not write else Counter()
    notices: tuple[Notice, ...] = ()
    if write:
        known = brought_up_to_date(result, known, baseline, names)
        text = baselines.written(known).encode()
        notices = write.enter_context(atomic.writing_whole(baseline, lambda file: file.writelines([text])))
    result = pass_over(result, known, baseline, names)
    if result.gone:
        message = f"{sum(count for _, count in result.gone)} of its findings are gone; fix: add --write-baseline"
        notices = (*notices, Notice("baseline-gone", message, baseline))
    return result, notices


def _explain(code: str) -> ExitStatus:
    check.check_code(code, "--explain")
    show(View[str](document=lambda code: text.page_document(code)), code, "table")
    return ExitStatus.DONE


def _about_files(given: PodInput, *, claims_alone: bool) -> Iterable[Notice]:
    """Leave out how many replicas are tried, since a template is judged once, and claims, if they are judged too."""
    judged = CLAIM_KINDS if claims_alone else ()
    yield from (notice for notice in given.notices if notice.code not in ("replicas", "no-pod", "network-devices"))
    yield from podless({kind: count for kind, count in given.without_pod.items() if kind not in judged})
    if not (given.sources or given.without_pod or given.finished or given.broken):
        yield Notice("no-pod", "no manifest found: the input is empty; fix: name a file or folder with manifests")


def _unused(kubelet: KubeletRequest) -> tuple[Notice, ...]:
    if kubelet == KubeletRequest():
        return ()
    return (Notice("kubelet-unused", "kubelet flags require --machine; fix: add --machine"),)
