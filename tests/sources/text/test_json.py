"""JSON text takes memory and time by its length, whatever stands in it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from numalign.sources.text.json import _STRING
from numalign.sources.text.places import _TOKEN
from tests.cli.running import ENVIRONMENT, ROOT

MIB = 8
READ = f"""
import resource, sys
from numalign.sources.text.yaml import load_documents

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

part, path = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2]
with open(path, "wb") as file:
    file.write(b'{{"a": "' + part.encode() * (({MIB} << 20) // len(part.encode())) + b'"}}')
before = peak()
(document,) = load_documents(open(path, "rb").read(), "a.json")
list(document.data)
document.where(("a",))
print((peak() - before) / ({MIB} << 20))
"""


@pytest.mark.parametrize("part", ["a", "\\\\n", "\\\\u00e9", "\\u00e9", "a,b:[{"])
def test_one_long_string_takes_at_most_twelve_times_its_file(tmp_path: object, part: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ, part, f"{tmp_path}/a.json"],
        cwd=ROOT, env={**ENVIRONMENT, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 12


@pytest.mark.parametrize("pattern", [_STRING, _TOKEN])
def test_a_string_without_an_end_is_looked_through_once(pattern: object) -> None:
    """Behind each of its quotes another string could begin: that would take an hour."""
    text = '"' + '\\"' * 200_000

    assert pattern.match(text).end() == len(text)  # type: ignore[attr-defined]  # both are patterns
    assert pattern.sub("", text) == ""  # type: ignore[attr-defined]  # both are patterns
