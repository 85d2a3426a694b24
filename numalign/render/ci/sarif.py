"""Checks as SARIF 2.1.0, which code scanning services show beside the lines of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from numalign import __version__
from numalign.render.ci.checks import Check, Level, Problem, fingerprinted
from numalign.render.ci.rules import plain, rule_text
from numalign.render.escape import lines
from numalign.render.json import Data

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "notice": "note"}


def sarif(command: str, checks: Sequence[Check]) -> Data:
    """Write a log with one run.

    Args:
        command: `lint`, `admit` or `test`.
        checks: what was looked at.
    """
    codes = list(dict.fromkeys(problem.title for check in checks for problem in check.problems))
    driver = {"name": "numalign", "semanticVersion": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"numalign/{command}/"},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(check, problem, mark, codes.index(problem.title)) for check, problem, mark in fingerprinted(checks)
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> Data:
    text = rule_text(code)
    parts = [("Why", text.why), ("Instead", text.instead), ("To pass over it", text.leave)]
    said = [(label, part) for label, part in parts if part]
    rule: Data = {"id": lines(code)}
    name = "".join(word.capitalize() for word in code.split("-"))
    if "-" in code:  # a name must say more than the id
        rule["name"] = name
    return rule | {
        "shortDescription": {"text": lines(plain(f"{text.found}."))},
        "fullDescription": {"text": lines(plain(f"{text.found}: {text.why}."))},
        "help": {
            "text": lines(plain("\n".join(f"{label}: {part}." for label, part in said))),
            "markdown": lines("\n\n".join(f"**{label}:** {part}." for label, part in said)),
        },
    }


def _result(check: Check, problem: Problem, mark: str, rule: int) -> Data:
    result: Data = {
        "ruleId": lines(problem.title),
        "ruleIndex": rule,
        "level": _LEVELS[problem.level],
        "message": {"text": lines(f"{check.name}: {problem.message}")},
        "partialFingerprints": {"numalign/v1": mark},
    }
    path = check.path
    if path is not None:
        place = {
            "artifactLocation": {"uri": ("file://" if path.startswith("/") else "") + quote(path)},
            "region": {"startLine": max(problem.line or check.line, 1)},
        }
        result["locations"] = [{"physicalLocation": place}]
    return result
