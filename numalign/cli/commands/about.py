"""`numalign version` and `numalign doctor`: which numalign this is, and what on this host it can read."""

from __future__ import annotations

from collections.abc import Sequence

import click

from numalign.cli.options import output_option
from numalign.cli.view import Output, View, late_imports, show
from numalign.exit_status import ExitStatus
from numalign.results.about import About, HostCheck
from numalign.tasks import about as task

with late_imports():
    from numalign.render.json import about as json
    from numalign.render.text import about as text


VERSION_VIEW = View[About](
    document=lambda found: text.about_document(found),
    data=lambda found: json.about_json(found),
)
DOCTOR_VIEW = View[Sequence[HostCheck]](
    document=lambda found: text.doctor_document(found),
    data=lambda found: json.doctor_json(found),
)


@click.command("version")
@output_option(VERSION_VIEW)
def version(output: Output) -> ExitStatus:
    """Print the version, the kubelets that numalign knows, and the extras that are installed.

    \b
    Examples:
      numalign version
      numalign version -o json
    """
    show(VERSION_VIEW, task.about(), output)
    return ExitStatus.DONE


@click.command("doctor")
@output_option(DOCTOR_VIEW)
def doctor(output: Output) -> ExitStatus:
    """Show what numalign can read on this host, and which extras are installed.

    \b
    Examples:
      numalign doctor
      numalign doctor -o json

    Exit status: 0, whatever is missing.
    """
    show(DOCTOR_VIEW, task.doctor(), output)
    return ExitStatus.DONE
