"""Results for programs and build servers on standard output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from numalign.cli.options import Output
from numalign.cli.root import OutputError
from numalign.errors import NumalignError
from numalign.render.escape import guarded, halved, in_json, in_yaml, lines, printable

if TYPE_CHECKING:
    import yaml

    from numalign.model.machine import Machine
    from numalign.render.ci.checks import Check
    from numalign.render.json import Data
    from numalign.render.page.document import Document


@contextmanager
def answering(files: ExitStack) -> Iterator[None]:
    """Print the answer inside, and let `files` take their places, and end their locks, before it or after it.

    After it, where it may not be taken, as on a full disk: a status that says that nothing was changed is then true.
    Before it, where a reader takes it, who may be slow: nobody else has to wait for the files meanwhile. A reader that
    goes away has read what it wanted: the files are written.

    Raises:
        NumalignError: a file could not take its place.
        OutputError: the answer could not be written.
        BrokenPipeError: its reader went away.
    """
    gone = None
    read = _has_reader()
    if read:
        files.close()
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not (read or isinstance(error, BrokenPipeError)):
            raise OutputError(*error.args) from None
        gone = error
    try:
        files.close()
    except NumalignError as error:
        error.answered = True
        raise
    if gone is not None:
        raise BrokenPipeError from gone


def _has_reader() -> bool:
    """Tell whether standard output waits until somebody reads it: a pipe, a socket, a terminal."""
    try:
        number = sys.stdout.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number)):
        return False
    import fcntl

    flags = fcntl.fcntl(number, fcntl.F_GETFL)
    return not flags & os.O_NONBLOCK and flags & os.O_ACCMODE != os.O_RDONLY


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

    # libyaml is many times quicker, where PyYAML was built with it, and writes the same but for what is not plain.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper) if _is_plain(data) else yaml.SafeDumper
    return in_yaml(dumped(data, dumper))


def dumped(data: object, dumper: type[yaml.SafeDumper]) -> str:
    """Write plain data with an emitter of PyYAML; quotes what YAML itself would write as it is, or on several lines."""
    import yaml

    def represent_text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        odd = not text.isprintable() or "##" in text or text.startswith("::")
        return writer.represent_scalar("tag:yaml.org,2002:str", halved(text), style='"' if odd else None)

    quoting: type[yaml.SafeDumper] = type("Quoting", (dumper,), {})
    quoting.add_representer(str, represent_text)
    return str(yaml.dump(data, Dumper=quoting, sort_keys=False, allow_unicode=True, width=_NO_WIDTH))


_NO_WIDTH = 2**31 - 1
"""The longest line that libyaml can be allowed: no text is folded."""

_LONGEST_KEY = 100
"""Of longer keys some are written behind a question mark, and the emitters do not agree on which."""


def _is_plain(data: object) -> bool:
    """Tell whether every emitter writes the same: no sign beyond U+FFFF, no key that is empty, long or unprintable."""
    if isinstance(data, str):
        return data.isascii() or max(data) <= "\uffff"
    if isinstance(data, dict):
        return all(_is_plain_key(key) for key in data) and all(map(_is_plain, data.values()))
    return not isinstance(data, list | tuple) or all(map(_is_plain, data))


def _is_plain_key(key: object) -> bool:
    return isinstance(key, str) and 0 < len(key) <= _LONGEST_KEY and key.isprintable() and _is_plain(key)


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
