"""Every command as a page: what --help says of it, in parts that `man` and `markdown` write in their own way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from numalign.cli.help import flags
from numalign.cli.kubectl import CLUSTER
from numalign.cli.kubectl import group as kubectl_group
from numalign.cli.root import COMMANDS, group


class Page(NamedTuple):
    """One command."""

    words: tuple[str, ...]
    """As on the command line: `numalign`, `config`, `check`."""
    summary: str
    """One sentence."""
    usage: str
    """What follows the words."""
    prose: tuple[str, ...]
    """Paragraphs, each on one line."""
    examples: str
    """Command lines, without their indentation; empty: there are none."""
    flags: Mapping[str, Sequence[tuple[str, str]]]
    """Heading -> flags and what they do."""
    below: tuple[Page, ...]
    """The commands of a group."""


def numalign() -> Page:
    """Make the page of `numalign`, with those of all commands below it."""
    return _page(group, "numalign", None, "predicts how a Kubernetes node aligns CPUs, memory and devices")


def kubectl() -> Page:
    """Make the page of `kubectl-numalign`, with those of the commands that numalign itself does not have."""
    return _page(kubectl_group, "kubectl-numalign", None, "explains what the nodes of a cluster decide about pods")


def walk(page: Page) -> Iterator[Page]:
    """Go through a page and all below it."""
    yield page
    for one in page.below:
        yield from walk(one)


def _page(command: click.Command, name: str, parent: click.Context | None, summary: str = "") -> Page:
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    prose, examples = _parts(command.help or "")
    above = () if parent is None else tuple(parent.command_path.split())
    return Page(
        words=(*above, name),
        summary=summary or COMMANDS.get(name, "") if len(above) < 2 else prose[0],
        usage=" ".join(command.collect_usage_pieces(context)),
        prose=prose,
        examples=examples,
        flags=flags(command, context),
        below=tuple(_below(command, context)),
    )


def _below(command: click.Command, context: click.Context) -> Iterator[Page]:
    if not isinstance(command, click.Group):
        return
    for name in CLUSTER if command is kubectl_group else sorted(command.list_commands(context)):
        found = command.get_command(context, name)
        if found is not None:
            yield _page(found, name, context, CLUSTER[name] if command is kubectl_group else "")


def _parts(text: str) -> tuple[tuple[str, ...], str]:
    """Take the prose and the examples of a docstring apart; click's backspace mark stands before what is not filled."""
    prose, examples = [], ""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.lstrip().startswith("\b"):
            lines = paragraph.strip("\b\n ").splitlines()
            examples = "\n".join(line.strip() for line in lines[1:])
        else:
            prose.append(" ".join(paragraph.split()))
    return tuple(prose), examples
