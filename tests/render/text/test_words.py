"""Words come last: a writer that says something else changes no fact, no order and no number of lines."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

import numalign
from numalign.analysis.explanation import explain_outcome
from numalign.analysis.reasons.change_facts import Reasonable
from numalign.kubelet.config import KubeletConfig
from numalign.render.json.reasons import _named, reason_json, told_json
from numalign.render.text import words
from numalign.render.text.changes import Advice
from numalign.render.text.explain import explanation
from numalign.render.text.words import pods as words_of_changes
from numalign.results.explain import ExplainedPod, reasons_of
from numalign.tasks.explain import explained_pod
from tests.refusals.survey import refusals, scenarios
from tests.schemas import SCHEMAS

ROOT = Path(numalign.__file__).parent
KINDS = (*words.WRITERS, *words_of_changes.WRITERS)
AREA = (
    "analysis/reasons",
    "render/text/words",
    "render/text/reasons.py",
    "render/text/details.py",
    "render/json/reasons.py",
    "render/json/explain.py",
    *(f"render/text/{name}.py" for name in ("aligned_then", "alignment", "changes", "explain", "spread")),
)
"""Where reasons are found, ordered and written."""


class Case(NamedTuple):
    """A recorded refusal, explained."""

    config: KubeletConfig
    told: ExplainedPod


@pytest.fixture(scope="module")
def recorded() -> list[Case]:
    return [
        Case(situation.setup.config, explained_pod(explain_outcome(situation, outcome)))
        for data in scenarios(every=120)
        for _, situation, outcome in refusals(data)
    ]


def shape(case: Case) -> list[str]:
    """Give the kind of each block of an explanation."""
    advice = Advice([""] * len(case.told.changes), "")
    return [type(one).__name__ for one in explanation(case.config, case.told, advice)]


def modules() -> Iterator[Path]:
    for place in AREA:
        path = ROOT / place
        yield from sorted(path.glob("*.py")) if path.is_dir() else [path]


def test_each_kind_of_fact_has_one_writer() -> None:
    assert set(get_args(Reasonable)) == set(KINDS)


def test_rewording_a_writer_changes_no_structure(recorded: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(recorded) > 30
    before = [shape(case) for case in recorded]
    used = set[type]()
    for kind in KINDS:

        def other(_: object, kind: type = kind) -> str:
            used.add(kind)
            return f"{kind.__name__}: 7 asked, free then: as told above, never has more than 3 (node 0: 1)"

        with monkeypatch.context() as patch:
            patch.setitem(words.WRITERS, kind, other)
            assert [shape(case) for case in recorded] == before, kind.__name__
    assert len(used) > len(KINDS) // 2


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in modules()])
def test_no_sentence_is_cut(path: Path) -> None:
    """Nothing there looks into a text: words are only put together."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    cuts = {
        "partition",
        "rpartition",
        "split",
        "startswith",
        "endswith",
        "removeprefix",
        "replace",
        "search",
        "match",
        "sub",
    }
    assert "re" not in imported
    assert called & cuts <= ALLOWED.get(path.name, set())


ALLOWED = {
    "pods.py": {"removeprefix"},  # of its own verb
    "reasons.py": {"partition", "split"},  # of names of fields and of options with their values
    "changes.py": {"partition", "rpartition", "startswith"},  # of flags; whether it is told why it is not aligned
    "explain.py": {"removesuffix"},  # of a number
    "aligned_then.py": {"partition", "replace"},  # why CPUs are not pinned is told once; another point behind it
    "details.py": {"replace"},  # the comma between the thousands of a number
}
"""What is cut still, and why; each list gets shorter."""


def test_what_decides_takes_no_text() -> None:
    """No function that finds or orders facts has a parameter that may be a sentence."""
    for path in sorted((ROOT / "analysis/reasons").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                texts = [one.arg for one in node.args.args if one.annotation and "str" in ast.unparse(one.annotation)]
                assert set(texts) <= NAMES, f"{path.name}: {node.name}"


NAMES = {
    "amounts",
    "at",
    "before",
    "flag",
    "flags",
    "keys",
    "name",
    "names",
    "parts",
    "policy",
    "resource",
    "text",
    "wanted",
    "whom",
}
"""Parameters that are names of resources, containers and settings."""


def test_the_schema_of_explain_describes_each_field_of_a_fact() -> None:
    described = SCHEMAS["explain-result"]["$defs"]["fact"]["properties"]
    for kind in KINDS:
        assert {_named(name) for name in kind._fields} <= set(described), kind.__name__


def test_facts_are_data(recorded: list[Case]) -> None:
    """They have the kind, no sentence, and nodes as lists of numbers."""
    for case in recorded:
        found = reasons_of(case.told, case.config)
        every = [told_json(one) for one in found.every]
        every += [reason_json(one) for each in found.parts for _, reasons in each for one in reasons]
        assert every
        assert {one["kind"] for one in every} <= {kind.__name__ for kind in KINDS}
        assert json.loads(json.dumps(every)) == every
