"""`numalign test`: expectations that a repository wants to stay true."""

from __future__ import annotations

import click

from numalign.cli.options import CI_REPORTS, Output, complete_files, output_option, quiet_option
from numalign.exit_status import ExitStatus
from numalign.results.suite import SuiteResult
from numalign.tasks.suite import run_suite


@click.command("test")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=complete_files)
@output_option("table", "json", "yaml", *CI_REPORTS)
@quiet_option
def command(files: tuple[str, ...], output: Output, quiet: bool) -> ExitStatus:
    """Hold pods on machines under settings to what a FILE expects of them. docs/test.md has the format.

    The exit status is 1 when something is not as expected.

    \b
    Examples:
      numalign test alignment.yaml
      numalign test tests/*.yaml -o junit > report.xml
    """
    result = run_suite(files)
    if not quiet:
        _print(output, result)
    return ExitStatus.NO if result.failed else ExitStatus.DONE


def _print(output: Output, result: SuiteResult) -> None:
    from numalign.cli.printing import print_checks, print_data, print_document
    from numalign.render.text.suite import suite_checks, suite_document, suite_json

    if output == "table":
        print_document(output, suite_document(result))
    elif output in ("json", "yaml"):
        print_data(output, suite_json(result))
    else:
        print_checks(output, "test", suite_checks(result))
