"""`numalign machines`: the bundled machines, or one of them as a file."""

from __future__ import annotations

import json

import click

from numalign.cli.options import quiet_option
from numalign.render.text import machines as view
from numalign.sources.machine import bundled
from numalign.sources.machine import file as machine_file


@click.command("machines")
@click.argument("name", required=False, metavar="[NAME]")
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "name", "json", "yaml")),
    help="How to print; without it a table, or with NAME the machine's file.",
)
@quiet_option
def command(name: str | None, output: str | None, quiet: bool) -> None:
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
    names = bundled.names() if name is None else (name,)
    if quiet:
        return
    if form == "table":
        from numalign.render.page.document import show

        show(view.machines_document(_read(names)))
    else:
        click.echo(_text(names, form, in_full=name is not None), nl=False)


def _read(names: tuple[str, ...]) -> list[view.Bundled]:
    return [(machine_file.load_machine(name).machine, bundled.description(name)) for name in names]


def _text(names: tuple[str, ...], form: str, *, in_full: bool) -> str:
    if form == "name":
        return "".join(f"{name}\n" for name in names)
    if in_full and form == "yaml":
        return bundled.text(names[0])
    if in_full:
        from numalign.sources.machine import dump as machine_dump

        return machine_dump.to_json(machine_file.load_machine(names[0]).machine)
    data = view.machines_json(_read(names))
    if form == "json":
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    import yaml

    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
