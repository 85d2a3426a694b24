"""What people read uses the words of `words.toml`: outputs, `--help`, README and docs, sentence by sentence.

`words_allowed.toml` counts by check and place what is still wrong. It may only shrink and is to end empty;
`NUMALIGN_UPDATE_GOLDEN=1` takes out what is mended. Exempt are the kubelet's messages in double quotes, code in
backticks, `docs/rules`, and what CHANGELOG says of releases before the newest.
"""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from manual.__main__ import PAGES as MADE
from numalign.cli.root import COMMANDS
from tests import source_code
from tests.cli.running import ROOT, in_process

WORDS = tomllib.loads((ROOT / "tests" / "words.toml").read_text(encoding="utf-8"))
ALLOWED = ROOT / "tests" / "words_allowed.toml"
LIMITS, RETIRED = WORDS["limits"], WORDS["retired"]
LISTS = ("glossary.md", "issues.md")
"""Pages of words and of answers, which other tests look at."""
QUOTING = {"numalign.dra.plan", "numalign.kubelet.cpu.distributed"}
"""Modules with messages of the kubelet or of the scheduler in which a retired word stands."""
PATTERN = re.compile("|".join(f"(?:{each})" for each in RETIRED["patterns"]), re.I)
BARE = re.compile(RETIRED["bare"])
COMMAND = re.compile(r"\s*(\$ )?(numalign|kubectl|[A-Z_]+=\S+) |\s*--\S")
HEADINGS = re.compile(r"[^\w]*[A-Z0-9_]{2,}( [A-Z0-9_]+)*$")
CODE = re.compile(r"^( *)```.*?\n(.*?)^ *```", re.M | re.S)


@cache
def outputs() -> dict[str, str]:
    """Every golden of standard output and standard error, and every `--help`."""
    goldens = [*(ROOT / "tests" / "golden").glob("*/*.out"), *(ROOT / "tests" / "golden").glob("*/*.err")]
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(goldens)}
    return found | helps()


@cache
def helps() -> dict[str, str]:
    """Every `--help`, in a terminal of 80 columns."""
    environment = {"COLUMNS": "80", "NO_COLOR": "1"}
    return {f"{name} --help": in_process(*name.split(), "--help", env=environment).out for name in COMMANDS}


@cache
def documents() -> dict[str, str]:
    """README, documents, pages that are made, and what CHANGELOG says of the newest release."""
    paths = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in MADE)]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## .*?(?=^## |\Z)", changes, re.M | re.S)
    assert newest is not None
    written = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    made = {f"docs/{name}": write() for name, write in MADE.items() if name not in LISTS}
    return written | made | {"CHANGELOG.md": newest[0]}


def plain(text: str) -> str:
    """Leave out what is quoted, code, addresses and names of files."""
    text = re.sub(r'"[^"\n]*(?:\n[^"\n]*)?"', "“", text)
    text = re.sub(r"`[^`\n]*`|<[^>\s]*>|\]\([^)]*\)|\S+\.(?:yaml|yml|md|json|out)\b", "X", text)
    return re.sub(r"\b[a-z]+(?:-[a-z]+)+\b", lambda found: found[0].replace("-", "_"), text)


def prose(text: str) -> str:
    """Leave of a document the paragraphs and lists: no code, tables, headings."""
    text = CODE.sub("\n\n", text)
    return "\n".join("" if re.match(r"\s*(\||#|<|!\[)", line) else line for line in text.splitlines())


def spoken(text: str) -> Iterator[str]:
    """Cut an output into sentences: a line that is no row of a table, or what its full stops make of it."""
    for line in plain(text.replace("%0A", "\n")).splitlines():
        words = line.strip()
        if COMMAND.match(line) or re.search(r"\S {2,}\S", words) or HEADINGS.match(words) or words.startswith("{"):
            continue
        yield from re.split(r"(?<=[.?!]) +", re.sub(r"\([^()]*\)", "", words))


def written(text: str) -> Iterator[str]:
    """Cut a document into sentences."""
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", prose(text)):
        yield from re.split(r"(?<=[.?!:]) +", re.sub(r"\([^()]*\)", "", plain(" ".join(block.split()))))


def longer(sentences: Iterator[str], most: int) -> list[str]:
    return [one for one in sentences if len(re.findall(r"[\w/.:×–-]*\w[\w/.:×–-]*", one)) > most]


def sources() -> dict[str, str]:
    """The texts of each module that are no docstrings: sentences that no golden shows, too."""
    found = {}
    for module in source_code.MODULES.keys() - QUOTING:
        docstrings = {id(node.value) for node in source_code.nodes(module) if isinstance(node, ast.Expr)}
        strings = (node for node in source_code.nodes(module) if isinstance(node, ast.Constant))
        texts = [node.value for node in strings if isinstance(node.value, str) and id(node) not in docstrings]
        found[module] = "\n".join(text for text in texts if " " in text.strip())
    return found


def retired() -> Iterator[tuple[str, list[str]]]:
    for place, text in (outputs() | documents() | sources()).items():
        yield place, [found[0] for found in PATTERN.finditer(plain(text))]


def long_sentences() -> Iterator[tuple[str, list[str]]]:
    yield from ((place, longer(spoken(text), LIMITS["output"])) for place, text in outputs().items())
    yield from ((place, longer(written(text), LIMITS["docs"])) for place, text in documents().items())


def bare_pronouns() -> Iterator[tuple[str, list[str]]]:
    yield from ((place, [one for one in spoken(text) if BARE.search(one)]) for place, text in outputs().items())


def late_verdicts() -> Iterator[tuple[str, list[str]]]:
    """Say where an explanation does not begin with its verdict, behind the lines of settings."""
    verdict = re.compile(r"^(\S+: (admitted|rejected|(crashes|hangs) the kubelet)|The kubelet |An earlier pod)")
    for place, text in outputs().items():
        if "golden/explain/" in place and place.endswith(".out") and not text.startswith("{"):
            lines = [line.strip("*") for line in text.splitlines() if line]
            first = next((line for line in lines[1:] if ", scope " not in line), "")
            yield place, [] if verdict.match(first) else [first]


def long_helps() -> Iterator[tuple[str, list[str]]]:
    yield from ((place, text.splitlines()[LIMITS["help"] :]) for place, text in helps().items())


def wide_blocks() -> Iterator[tuple[str, list[str]]]:
    for place, text in documents().items():
        blocks = [block for _, block in CODE.findall(text)]
        yield place, [line for block in blocks for line in block.splitlines() if len(line) > LIMITS["block"]]


CHECKS: dict[str, Callable[[], Iterator[tuple[str, list[str]]]]] = {
    "retired": retired,
    "long": long_sentences,
    "bare": bare_pronouns,
    "late": late_verdicts,
    "help": long_helps,
    "wide": wide_blocks,
}


@pytest.mark.parametrize("check", CHECKS)
def test_words(check: str) -> None:
    found = {place: hits for place, hits in CHECKS[check]() if hits}
    allowed = tomllib.loads(ALLOWED.read_text(encoding="utf-8")).get(check, {})
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        shrink(check, {place: min(len(hits), allowed.get(place, 0)) for place, hits in found.items()})
    wrong = {place: hits for place, hits in found.items() if len(hits) > allowed.get(place, 0)}
    assert not wrong, "\n".join(f"{place}: {one}" for place, hits in wrong.items() for one in hits)


def shrink(check: str, found: dict[str, int]) -> None:
    """Write what is still allowed."""
    every = tomllib.loads(ALLOWED.read_text(encoding="utf-8")) | {check: found}
    lines = (
        f"[{name}]\n" + "".join(f'"{place}" = {count}\n' for place, count in places.items() if count)
        for name, places in every.items()
        if any(places.values())
    )
    ALLOWED.write_text("\n".join(lines), encoding="utf-8")


def test_a_retired_word_is_found() -> None:
    assert PATTERN.findall(plain('the kubelet says "it was refused": `asked`, odd-cpus'))
    assert not PATTERN.findall(plain('Kubelet: "it was refused" `asked` odd-cpus.md'))


def test_the_glossary_has_each_word_once() -> None:
    every = [row["word"] for row in WORDS["glossary"]]
    assert len(every) == len(set(every))
    assert all(row["means"] and row["not"] for row in WORDS["glossary"])
