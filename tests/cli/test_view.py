"""A command prints what the faces of its view make possible, and imports what it prints."""

from __future__ import annotations

import ast
import re
import sys

import click
import pytest

from numalign.cli.root import COMMANDS, group
from numalign.cli.view import FORMS, View, show
from numalign.render.page.document import Paragraph, Title
from tests import source_code as code


def printed(view: View[str], output: str, capsys: pytest.CaptureFixture[str]) -> str:
    show(view, "world", output)  # type: ignore[arg-type]  # a parameter of the test is a plain text
    return capsys.readouterr().out


ALL = View[str](
    document=lambda name: [Title(f"hello {name}")],
    data=lambda name: {"hello": name},
    rows=lambda name: (("hello",), [(name,)]),
    names=lambda name: [name],
    own={"tree": lambda name: [Paragraph(f"+ {name}")], "kubeadm": lambda name: f"# {name}\n"},
)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("table", "hello world\n"),
        ("markdown", "**hello world**\n"),
        ("json", '{\n  "hello": "world"\n}\n'),
        ("yaml", "hello: world\n"),
        ("csv", "hello\nworld\n"),
        ("name", "world\n"),
        ("tree", "+ world\n"),
        ("kubeadm", "# world\n"),
    ],
)
def test_an_output_is_printed_of_its_face(output: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(ALL, output, capsys) == text


def test_a_view_offers_what_its_faces_make_and_its_own() -> None:
    assert ALL.outputs == ("table", "json", "yaml", "markdown", "csv", "name", "tree", "kubeadm")
    assert View[str](data=lambda _: {}).outputs == ("json", "yaml")


def test_a_page_takes_a_picture_and_a_document() -> None:
    assert "html" not in ALL.outputs
    assert "html" in ALL._replace(picture=lambda _: None).outputs  # type: ignore[arg-type, return-value]  # never made


def test_what_is_its_own_wins() -> None:
    assert ALL._replace(own={"json": lambda _: ""}).outputs == ("table", "json", "yaml", "markdown", "csv", "name")


def commands() -> list[click.Command]:
    found = [command for name in COMMANDS if (command := group.get_command(click.Context(group), name)) is not None]
    return [*found, *(below for one in found if isinstance(one, click.Group) for below in one.commands.values())]


def test_every_command_with_a_document_has_markdown_and_with_data_both_forms() -> None:
    for command in commands():
        for option in command.params:
            if option.name == "output" and isinstance(option.type, click.Choice):
                choices = set(option.type.choices)
                assert ("markdown" in choices) == ("table" in choices), command.name
                assert ("yaml" in choices) == ("json" in choices), command.name


def test_no_command_asks_for_the_name_of_an_output() -> None:
    """But where a stream of YAML needs a sign between its documents, and where a view is asked what it offers."""
    asked = re.compile(r"\boutput (==|!=|in|not in) ")
    modules = [module for module in code.MODULES if module.startswith("numalign.cli")]
    lines = [line for module in modules for line in code.MODULES[module].read_text("utf-8").splitlines()]
    assert len([line for line in lines if asked.search(line)]) <= 3


def test_a_late_import_is_done_when_something_is_looked_up() -> None:
    from numalign.cli.view import late_imports

    before = {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith("numalign.render.ci")}
    try:
        with late_imports():
            from numalign.render.ci import checks

        assert "numalign.render.ci.checks" not in sys.modules
        assert checks.gitlab(()) == []
        assert "numalign.render.ci.checks" in sys.modules
    finally:
        sys.modules.update(before)


def test_what_writes_data_stands_apart_from_what_writes_text() -> None:
    texts = [module for module in code.MODULES if module.startswith("numalign.render.text")]
    named = [
        f"{module}.{node.name}"
        for module in texts
        for node in code.nodes(module)
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_json")
    ]
    assert named == []


def test_every_form_is_made_of_faces_that_a_view_has() -> None:
    assert {face for form in FORMS.values() for face in form.faces} < set(View._fields)
