"""A command's view: the faces of its answer, and how each output is printed of them on standard output.

A command names the modules that make its faces at its top, within `late_imports`, where a reader and a type checker
look for them, and pays for those that it prints.
"""

from __future__ import annotations

import builtins
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

import click

from numalign.cli.stderr import OutputError, tell
from numalign.errors import Notice, NumalignError
from numalign.render.escape import guarded, in_json, lines, printable
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.render.ci.checks import Check
    from numalign.render.json import Data
    from numalign.render.page.document import Document
    from numalign.render.page.table_csv import Rows
    from numalign.render.picture.canvas import Picture


class _Late(ModuleType):
    """A name for a module that is imported when something is looked up in it."""

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self.__name__), name)


class _Package(ModuleType):
    """What an import statement takes modules from."""

    def __getattr__(self, name: str) -> _Late:
        return _Late(f"{self.__name__}.{name}")


@contextmanager
def late_imports() -> Iterator[None]:
    """Let `from package import module` name modules that are imported when used, as Python's `lazy import` will."""
    at_once = builtins.__import__
    builtins.__import__ = lambda package, *_: _Package(package)
    try:
        yield
    finally:
        builtins.__import__ = at_once


with late_imports():
    from numalign.cli import yaml_text as yaml
    from numalign.render.ci import checks as reports
    from numalign.render.ci import junit, sarif, summary
    from numalign.render.page import document as documents
    from numalign.render.page import html, markdown, table_csv

ForPeople = Literal["table", "wide", "tree", "name", "markdown", "csv", "svg", "html"]
ForPrograms = Literal["json", "yaml", "prometheus"]
ForBuildServers = Literal["junit", "github", "gitlab", "sarif"]
Output: TypeAlias = "ForPeople | ForPrograms | ForBuildServers | str"
"""What some command can be asked to print; the files of `config suggest` have names of their own."""

Face = Literal["document", "wide", "data", "rows", "names", "checks", "picture"]
Answer = TypeVar("Answer", contravariant=True)


class View(NamedTuple, Generic[Answer]):
    """The faces of a command's answer. Each is made, and what makes it imported, when an output is made of it."""

    document: Callable[[Answer], Document] | None = None
    wide: Callable[[Answer], Document] | None = None
    """The document with all that there is to tell."""
    data: Callable[[Answer], Data] | None = None
    rows: Callable[[Answer], Rows] | None = None
    names: Callable[[Answer], Iterable[str]] | None = None
    checks: Callable[[Answer], Sequence[Check]] | None = None
    picture: Callable[[Answer], Picture] | None = None
    own: Mapping[Output, Callable[[Answer], Document | str]] = {}
    """Outputs that no other command has, or that are something else here, as a document or a finished text."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What can be printed of these faces, and what is the command's own."""
        able = [name for name, form in FORMS.items() if all(getattr(self, face) for face in form.faces)]
        return tuple(dict.fromkeys((*able, *self.own)))

    def offers(self, output: Output | None) -> bool:
        """Tell whether an output can be printed; None, which is nothing, can not."""
        return output in self.outputs


def show(view: View[Answer], answer: Answer, output: Output) -> None:
    """Print an answer as one of the outputs of its view."""
    if output in view.own:
        made = view.own[output](answer)
    elif form := _form(view, output):
        made = form.write(*(getattr(view, face)(answer) for face in form.faces))
    if isinstance(made, str):
        click.echo(made, nl=False)
    else:
        documents.show(made)


def tell_and_show(
    view: View[Answer], answer: Answer, output: Output, notices: Iterable[Notice], *, quiet: bool
) -> None:
    """Tell what is to be known beside an answer, and print the answer, if it is wanted."""
    tell(notices)
    if not quiet:
        show(view, answer, output)


def faces_of(view: View[Answer], output: Output) -> tuple[Face, ...]:
    """Name the faces that an output is made of, so that nothing is worked out that it does not show."""
    form = _form(view, output)
    return form.faces if form else ()


def _form(view: View[Answer], output: Output) -> Form | None:
    """Find the form of an output; None: it is a command's own."""
    return (OF_CHECKED.get(output) if view.checks else None) or FORMS.get(output)


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
    click.echo(FORMS[output].write(data), nl=False)


def json_text(data: object) -> str:
    """Write plain data as JSON, in ASCII, so that it is the same in every locale."""
    import json

    return in_json(json.dumps(data, indent=2)) + "\n"


def print_names(names: Iterable[str]) -> None:
    """Print names, one a line."""
    click.echo(_names_text(names), nl=False)


def _names_text(names: Iterable[str]) -> str:
    return "".join(f"{guarded(printable(name))}\n" for name in names)


def html_page(picture: Picture, document: Document) -> str:
    """Write a page with a picture and the document."""
    body = f"{html.picture_of(picture.svg)}\n{html.blocks(document)}"
    return html.page(f"numalign {_command()}, {picture.name}", picture.verdict, command_line(), body)


def command_line() -> str:
    """Write the command line that was given; empty: it is not known, as for a call of the library."""
    import shlex

    return shlex.join(getattr(click.get_current_context().find_root().obj, "words", ()))


def _command() -> str:
    return click.get_current_context().command.name or ""


class Form(NamedTuple):
    """How an output is written of the faces that it is made of."""

    faces: tuple[Face, ...]
    write: Callable[..., Document | str]


FORMS: Mapping[Output, Form] = {
    "table": Form(("document",), lambda document: document),
    "wide": Form(("wide",), lambda document: document),
    "json": Form(("data",), lambda data: json_text(data)),
    "yaml": Form(("data",), lambda data: yaml.yaml_text(data)),
    "markdown": Form(("document",), lambda document: markdown.markdown(document)),
    "csv": Form(("rows",), lambda rows: lines(table_csv.table_csv(*rows))),
    "name": Form(("names",), _names_text),
    "svg": Form(("picture",), lambda picture: lines(picture.svg)),
    "html": Form(("picture", "document"), lambda picture, document: lines(html_page(picture, document))),
    "junit": Form(("checks",), lambda checks: junit.junit(_command(), checks)),
    "github": Form(("checks",), lambda checks: reports.github(checks)),
    "gitlab": Form(("checks",), lambda checks: json_text(reports.gitlab(checks))),
    "sarif": Form(("checks",), lambda checks: json_text(sarif.sarif(_command(), checks))),
}
"""Output -> what it is made of: every command whose view has these faces has the output, too."""
OF_CHECKED: Mapping[Output, Form] = {
    "markdown": Form(("checks", "document"), lambda checks, document: summary.summary(_command(), checks, document)),
}
"""The same of commands that build servers run: their Markdown is for a pull request."""
