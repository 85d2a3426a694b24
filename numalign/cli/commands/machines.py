"""`numalign machines`: the bundled machines, or one of them as a file."""

from __future__ import annotations

import click

from numalign.cli.options import answer_options
from numalign.cli.view import Output, View, late_imports, show
from numalign.exit_status import ExitStatus
from numalign.sources.machine import bundled
from numalign.tasks.machines import machines

with late_imports():
    from numalign.cli import yaml_text as yaml
    from numalign.render.json import about as json
    from numalign.render.text import machines as text
    from numalign.sources.machine import dump


def _is_name(word: str | None) -> bool:
    return word in bundled.names()


def _file(name: str | None) -> str:
    return bundled.text(name or "")


VIEW = View[str | None](
    document=lambda name: text.machines_document(machines(name)),
    data=lambda name: dump.dump(machines(name)[0].machine) if _is_name(name) else json.machines_json(machines(name)),
    names=lambda name: bundled.names() if name is None else bundled.meant_by(name),
    own={"yaml": lambda name: _file(name) if _is_name(name) else yaml.yaml_text(json.machines_json(machines(name)))},
)


@click.command("machines")
@click.argument("name", required=False, metavar="[NAME]")
@answer_options(VIEW, without="table, with NAME yaml")
def command(name: str | None, output: Output | None, quiet: bool) -> ExitStatus:
    """List the bundled machines, or those that NAME finds; print the machine of this name as a file.

    \b
    Examples:
      numalign machines
      numalign machines b200
      numalign machines dgx-1 > mine.yaml
    """
    if name is not None:
        bundled.check_known(name)
    if not quiet:
        show(VIEW, name, output or ("yaml" if _is_name(name) else "table"))
    return ExitStatus.DONE
