"""Results for programs and build servers on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from numalign.render.ci.checks import Check
    from numalign.render.page.document import Document


def print_data(output: str, data: dict[str, Any]) -> None:
    """Print plain data as `json` or `yaml`."""
    if output == "json":
        import json

        click.echo(json.dumps(data, indent=2))
    else:
        import yaml

        click.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), nl=False)


def print_checks(output: str, command: str, checks: Sequence[Check]) -> None:
    """Print the checks of a command as `junit` or `github`."""
    if output == "junit":
        from numalign.render.ci.junit import junit

        click.echo(junit(command, checks), nl=False)
    else:
        from numalign.render.ci.github import github

        click.echo(github(checks), nl=False)


def print_document(output: str, document: Document) -> None:
    """Print a document as `markdown`, or as text for people."""
    if output == "markdown":
        from numalign.render.page.markdown import markdown

        click.echo(markdown(document), nl=False)
    else:
        from numalign.render.page.document import show

        show(document)
