"""Every command as a page: what --help says of it, in parts that `man` and `markdown` write in their own way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from numalign.cli.help import flags, parts
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
    status: str
    """What the exit status says; empty: nothing of this command alone."""
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
    text = parts(command.help or "")
    above = () if parent is None else tuple(parent.command_path.split())
    return Page(
        words=(*above, name),
        summary=summary or COMMANDS.get(name, "") if len(above) < 2 else text.prose[0],
        usage=" ".join(command.collect_usage_pieces(context)),
        prose=text.prose,
        examples="\n".join(text.examples),
        status=text.status,
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
