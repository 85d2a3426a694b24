"""The site around the pages: public issues with their answers, what a page says of itself, what it weighs."""

from __future__ import annotations

import re
import shlex
import struct
from pathlib import Path

import pytest

from manual import issues, site, weight
from manual.playground import question_of
from tests.cli.running import ROOT
from tests.cli.test_public_issues import ISSUES

COMMON = "Predicts how a node aligns a pod"


def sections() -> list[str]:
    return re.split(r"^## ", issues.page(), flags=re.M)[1:]


def test_every_public_issue_is_answered_on_the_page() -> None:
    assert len(sections()) == len(ISSUES)
    for issue, section in zip(ISSUES, sections(), strict=True):
        assert [number for number in re.findall(r"\d+", issue["issues"]) if f"/issues/{number})" not in section] == []
        assert re.search(r"^\$ (?:.*\\\n)*.*\n\S", section, re.M), "no answer"


def test_a_command_of_the_page_is_the_one_of_the_test() -> None:
    for issue, section in zip(ISSUES, sections(), strict=True):
        (command,) = re.findall(r"^\$ numalign ((?:.*\\\n)*.*)", section, re.M)
        assert shlex.split(command.replace("\\\n", " ")) == issues.words(issue["command"])


def test_most_public_issues_open_in_the_playground() -> None:
    asked = [issue for issue in ISSUES if question_of(issues.words(issue["command"]))]
    assert len(asked) >= 15


def test_addresses_are_those_of_the_one_setting() -> None:
    assert site.addresses("") == {}
    assert site.addresses("https://numalign.example") == {
        "SITE_ADDRESS": "https://numalign.example/docs/",
        "SOURCE_ADDRESS": "https://numalign.example/source",
    }


def test_a_page_is_described_by_its_first_sentences() -> None:
    first = 'A pod gets <em>CPUs</em> &amp; GPUs of one NUMA node. Nothing else is "aligned". '
    page = f'<meta content="{COMMON}"><h1 id="a">Word<a>¶</a></h1><p>{first}{"Too long. " * 20}</p>'
    found = re.search('content="(.*?)"', site.described(page, COMMON))
    assert found is not None
    assert found[1].startswith(
        "A pod gets CPUs &amp; GPUs of one NUMA node. Nothing else is &quot;aligned&quot;. Too long."
    )
    assert len(found[1]) <= site.LONGEST + 20
    assert site.described(f'<meta content="{COMMON}"><h1>Word</h1><p>Short.</p>', COMMON).startswith(
        f'<meta content="Word. {COMMON}.">'
    )


def test_a_page_weighs_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_bytes(bytes(1000))
    (tmp_path / "index.html").write_text('<script src="a.js"></script><a href="b.js">', encoding="utf-8")
    (tmp_path / "b.js").write_bytes(bytes(1000))
    ((name, size),) = weight.weights(tmp_path)
    assert name == "index.html"
    assert 60 < size < 200
    assert weight.main(str(tmp_path)) == 0


def test_too_heavy_a_page_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight, "MOST", 20)
    (tmp_path / "index.html").write_text("<p>heavier", encoding="utf-8")
    assert weight.main(str(tmp_path)) == 1


def test_the_preview_of_a_link_has_the_size_that_it_tells() -> None:
    data = (ROOT / "docs/preview.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (1200, 630)
    assert len(data) < 100_000
