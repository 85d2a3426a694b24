"""`numalign version`: which numalign this is, and which kubelets it knows."""

from __future__ import annotations

import click

from numalign.cli.options import Output, output_option
from numalign.exit_status import ExitStatus
from numalign.tasks.about import about


@click.command("version")
@output_option("table", "json", "yaml")
def command(output: Output) -> ExitStatus:
    """Print the version, the kubelets that numalign knows, and which extras are installed.

    \b
    Examples:
      numalign version
      numalign version -o json
    """
    from numalign.cli.printing import print_found
    from numalign.render.text.about import about_document, about_json

    found = about()
    print_found(output, lambda: about_document(found), lambda: about_json(found))
    return ExitStatus.DONE
