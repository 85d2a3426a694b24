"""`numalign test`: expectations that a repository wants to stay true."""

from __future__ import annotations

import click

from numalign.cli.flags import complete_files
from numalign.cli.options import answer_options
from numalign.cli.view import Output, View, late_imports, show
from numalign.exit_status import ExitStatus
from numalign.results.replay import SuiteResult
from numalign.tasks.suite import run_suite

with late_imports():
    from numalign.render.json import about as json
    from numalign.render.text import suite as text


VIEW = View[SuiteResult](
    document=lambda result: text.suite_document(result),
    data=lambda result: json.suite_json(result),
    checks=lambda result: text.suite_checks(result),
)


@click.command("test")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=complete_files)
@answer_options(VIEW)
def command(files: tuple[str, ...], output: Output, quiet: bool) -> ExitStatus:
    """Run tests: each FILE has pods, machines, settings and expected results (docs/ci.md).

    \b
    Examples:
      numalign test alignment.yaml
      numalign test tests/*.yaml -o junit > report.xml

    Exit status: 0 as expected, 1 a result differs, 2 wrong input.
    """
    result = run_suite(files)
    if not quiet:
        show(VIEW, result, output)
    return ExitStatus.NO if result.failed else ExitStatus.DONE
