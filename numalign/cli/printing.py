"""Results for programs and build servers on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from numalign.cli.options import Output
from numalign.render.escape import guarded, halved, in_json, in_yaml, lines, printable

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.render.ci.checks import Check
    from numalign.render.json import Data
    from numalign.render.page.document import Document


def print_data(output: Output, data: Data) -> None:
    """Print plain data as `json` or `yaml`."""
    click.echo(json_text(data) if output == "json" else yaml_text(data), nl=False)


def print_found(output: Output, document: Callable[[], Document], data: Callable[[], Data]) -> None:
    """Print what a command found: text for people (`table`, `markdown`), or plain data (`json`, `yaml`)."""
    if output in ("json", "yaml"):
        print_data(output, data())
    else:
        print_document(output, document())


def json_text(data: object) -> str:
    """Write plain data as JSON, in ASCII, so that it is the same in every locale."""
    import json

    return in_json(json.dumps(data, indent=2)) + "\n"


def yaml_text(data: object) -> str:
    """Write plain data as YAML, each text on one line; odd ones stand in double quotes."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes what YAML itself would write as it is, or on several lines."""

        def represent_text(self, text: str) -> yaml.ScalarNode:
            odd = not text.isprintable() or "##" in text or text.startswith("::")
            return self.represent_scalar("tag:yaml.org,2002:str", halved(text), style='"' if odd else None)

    Dumper.add_representer(str, Dumper.represent_text)
    return in_yaml(str(yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=sys.maxsize)))


def print_machine(machine: Machine, output: Output) -> None:
    """Print a machine's file as `json` or `yaml`."""
    from numalign.sources.machine import dump

    click.echo(json_text(dump.dump(machine)) if output == "json" else in_yaml(dump.to_yaml(machine)), nl=False)


def print_names(names: Iterable[str]) -> None:
    """Print names, one a line."""
    click.echo("".join(f"{guarded(printable(name))}\n" for name in names), nl=False)


def print_text(text: str) -> None:
    """Print finished text of several lines: CSV, HTML, a picture."""
    click.echo(lines(text), nl=False)


def print_checks(output: Output, command: str, checks: Sequence[Check]) -> None:
    """Print the checks of a command as one of `CI_REPORTS`."""
    if output == "junit":
        from numalign.render.ci.junit import junit

        click.echo(junit(command, checks), nl=False)
    elif output == "sarif":
        from numalign.render.ci.sarif import sarif

        click.echo(json_text(sarif(command, checks)), nl=False)
    elif output == "gitlab":
        from numalign.render.ci.gitlab import gitlab

        click.echo(json_text(gitlab(checks)), nl=False)
    else:
        from numalign.render.ci.github import github

        click.echo(github(checks), nl=False)


def print_document(output: Output, document: Document) -> None:
    """Print a document as `markdown`, or as text for people."""
    if output == "markdown":
        from numalign.render.page.markdown import markdown

        click.echo(markdown(document), nl=False)
    else:
        from numalign.render.page.document import show

        show(document)
