"""`numalign machines`: the bundled machines, or one of them as a file."""

from __future__ import annotations

import click

from numalign.cli.options import Output, flag, quiet_option
from numalign.cli.printing import print_data, print_document, print_machine, print_names
from numalign.exit_status import ExitStatus
from numalign.render.text import machines as view
from numalign.sources.machine import bundled
from numalign.tasks.machines import machines


@click.command("machines")
@click.argument("name", required=False, metavar="[NAME]")
@flag(
    "-o",
    "--output",
    type=click.Choice(("table", "name", "json", "yaml")),
    help="How to print; without it a table, or with NAME the machine's file.",
)
@quiet_option
def command(name: str | None, output: Output | None, quiet: bool) -> ExitStatus:
    """List the bundled machines, or print the machine NAME as a file.

    A bundled machine can be named wherever a command takes --machine. Its file is a good start for one's own:
    `-o yaml` prints it as it was written, `-o json` in full, with amounts in bytes.

    \b
    Examples:
      numalign machines
      numalign machines dgx-1 > mine.yaml
    """
    form = output or ("yaml" if name else "table")
    if name is not None:
        bundled.check(name)
    if quiet:
        return ExitStatus.DONE
    if form == "name":
        print_names((name,) if name else bundled.names())
    elif form == "table":
        print_document(form, view.machines_document(machines(name)))
    elif name is None:
        print_data(form, view.machines_json(machines()))
    elif form == "yaml":
        click.echo(bundled.text(name), nl=False)
    else:
        print_machine(machines(name)[0].machine, form)
    return ExitStatus.DONE
