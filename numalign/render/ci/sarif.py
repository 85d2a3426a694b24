"""Checks as SARIF 2.1.0, which code scanning services show beside the lines of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from numalign import __version__
from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.escape import lines
from numalign.render.json.data import Data

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "notice": "note"}


def sarif(command: str, checks: Sequence[Check], rules: Mapping[str, str] | None = None) -> Data:
    """Write a log with one run.

    Args:
        command: `lint` or `admit`.
        checks: what was looked at.
        rules: code -> what it means, for the help beside a finding.
    """
    codes = list(dict.fromkeys(problem.title for check in checks for problem in check.problems))
    driver = {
        "name": "numalign",
        "semanticVersion": __version__,
        "rules": [_rule(code, (rules or {}).get(code, "")) for code in codes],
    }
    results = [_result(check, problem, codes.index(problem.title)) for check in checks for problem in check.problems]
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"numalign/{command}/"},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, text: str) -> Data:
    rule: Data = {"id": code, "name": "".join(word.capitalize() for word in code.split("-"))}
    if text:
        rule |= {"shortDescription": {"text": lines(text)}, "help": {"text": lines(text)}}
    return rule


def _result(check: Check, problem: Problem, rule: int) -> Data:
    result: Data = {
        "ruleId": problem.title,
        "ruleIndex": rule,
        "level": _LEVELS[problem.level],
        "message": {"text": lines(f"{check.name}: {problem.message}")},
    }
    if check.file is not None:
        place = {
            "artifactLocation": {"uri": quote(check.file)},
            "region": {"startLine": max(problem.line or check.line, 1)},
        }
        result["locations"] = [{"physicalLocation": place}]
    return result
