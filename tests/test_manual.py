"""The manual: a man page and a section of the site's page for every command, with all that --help says."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

from manual import links, man, markdown
from manual.__main__ import PAGES as MADE
from manual.pages import Page, kubectl, numalign, walk
from numalign.cli.root import COMMANDS
from tests.cli.running import ROOT

PAGES = [*walk(numalign()), *walk(kubectl())]
WITHOUT_MAN = pytest.mark.skipif(
    shutil.which("man") is None, reason="there is no man here, so only the source is tested"
)


@cache
def sources() -> Mapping[str, str]:
    return dict(man.pages())


def source(page: Page) -> str:
    return sources()[f"{'-'.join(page.words)}.1"]


def read(text: str, folder: Path) -> str:
    """Read a page as on a terminal of 80 columns."""
    path = folder / "page.1"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["man", "--warnings", "-l", str(path)],
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return re.sub("\x1b\\[[0-9;]*m", "", done.stdout)


def test_every_command_has_a_page() -> None:
    assert {f"numalign-{name}.1" for name in COMMANDS} < set(sources())
    assert {"numalign.1", "numalign-config-check.1", "kubectl-numalign.1", "kubectl-numalign-why.1"} < set(sources())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: " ".join(page.words))
def test_a_page_says_what_help_says(page: Page, tmp_path: Path) -> None:
    assert page.summary, "apropos would show nothing"
    assert page.flags
    if shutil.which("man") is None:
        pytest.skip("there is no man here; the sources are looked at by the other tests")
    text = read(source(page), tmp_path)

    assert max(map(len, text.splitlines())) <= 80
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"):
        assert f"\n{heading}\n" in text
    unbroken = re.sub(r"\s+", "", text)
    for rows in page.flags.values():
        for flag, said in rows:
            assert re.sub(r"\s+", "", flag + said) in unbroken


@WITHOUT_MAN
def test_the_first_page_tells_what_holds_for_all_commands(tmp_path: Path) -> None:
    text = read(sources()["numalign.1"], tmp_path)

    for heading in ("COMMANDS", "EXAMPLES", "MACHINES", "FORMATS", "ENVIRONMENT", "EXIT STATUS", "FILES"):
        assert f"\n{heading}\n" in text
    assert re.search(r"\n +70 +a bug in numalign", text)


@WITHOUT_MAN
def test_what_is_typed_can_be_copied(tmp_path: Path) -> None:
    """No sign of a command line becomes a typographic one, and a line that goes on does so as a shell reads it."""
    page = Page(("numalign",), "x", "", ("x",), "numalign 'a-b' `c` ~ ^ \\ --d " + "e " * 40, "", {}, ())

    text = read("".join(f"{line}\n" for line in man._page(page, page)), tmp_path)

    shown = text.split("EXAMPLES\n")[-1].split("\nSEE ALSO")[0].replace("\\\n", " ")
    assert shown.split() == ["numalign", "'a-b'", "`c`", "~", "^", "\\", "--d", *["e"] * 40]


def test_the_site_s_page_has_every_command_and_flag() -> None:
    text = markdown.reference()

    for page in PAGES:
        assert f"\n## `{' '.join(page.words).replace('kubectl-', 'kubectl ')}`\n" in text
        for rows in page.flags.values():
            for flag, _ in rows:
                assert f"| `{flag.replace('|', chr(92) + '|')}` |" in text


def test_every_page_of_the_docs_is_reached_from_the_site_s_menu() -> None:
    def named(entry: object) -> set[str]:
        if isinstance(entry, str):
            return {entry}
        values = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
        return {name for value in values for name in named(value)}

    menu = named(yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), yaml.BaseLoader)["nav"])
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}

    assert pages | set(MADE) == menu


def test_a_page_is_made_of_a_command_as_click_knows_it() -> None:
    """A flag that click would show and the page would not is a flag that nobody finds."""
    (lint,) = [page for page in PAGES if page.words == ("numalign", "lint")]
    from numalign.cli.commands.lint import command

    shown = " ".join(flag for rows in lint.flags.values() for flag, _ in rows)
    assert [one.opts for one in command.params if isinstance(one, click.Option) and one.opts[-1] not in shown] == []


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        pytest.param("other/", None, id="a page"),
        pytest.param("other/index.html#part", None, id="an anchor of a page"),
        pytest.param("#here", None, id="an anchor of this page"),
        pytest.param("a%20picture.svg", None, id="a file"),
        pytest.param("https://example.com/x?y#z", None, id="an address"),
        pytest.param("gone/", "no such page or file", id="no page"),
        pytest.param("other/#gone", "no such anchor", id="no anchor"),
        pytest.param("../above.html", "no such page or file", id="above the site"),
        pytest.param("https://localhost/x", "no address", id="no host that others have"),
        pytest.param("ftp:x", "no address", id="another scheme"),
    ],
)
def test_a_link_that_leads_nowhere_is_told(link: str, wrong: str | None, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/index.html").write_text('<h2 id="part">x</h2>')
    (tmp_path / "a picture.svg").write_text("<svg/>")
    (tmp_path / "index.html").write_text(f'<p id="here">\n<a href="{link}">x</a>')

    found = [] if wrong is None else [f"index.html:2: {link}: {wrong}"]
    assert list(links.problems(tmp_path)) == found
    assert links.main(str(tmp_path)) == len(found)


def test_a_site_without_pages_is_no_site(tmp_path: Path) -> None:
    assert links.main(str(tmp_path)) == 1
