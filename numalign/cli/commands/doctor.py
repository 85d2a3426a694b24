"""`numalign doctor`: what on this host numalign can read."""

from __future__ import annotations

import click

from numalign.cli.options import Output, output_option
from numalign.exit_status import ExitStatus
from numalign.tasks.about import doctor


@click.command("doctor")
@output_option("table", "json", "yaml")
def command(output: Output) -> ExitStatus:
    """Tell what on this host can be read, and which extras are there. The exit status is 0 whatever is missing.

    \b
    Examples:
      numalign doctor
      numalign doctor -o json
    """
    from numalign.cli.printing import print_found
    from numalign.render.text.about import doctor_document, doctor_json

    found = doctor()
    print_found(output, lambda: doctor_document(found), lambda: doctor_json(found))
    return ExitStatus.DONE
