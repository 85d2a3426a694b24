"""SARIF and GitLab's Code Quality: what the services require is there, whatever the manifests hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from numalign.render.ci.checks import Check, Problem
from numalign.render.ci.gitlab import gitlab
from numalign.render.ci.sarif import sarif
from tests.cli.running import in_process

ADMIT = ("admit", "pods/announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node")
LINT = ("lint", "pods/fractional-cpu.yaml", "pods/sidecar.yaml")
ODD = Check(
    "group",
    "pod\x1b[31m",
    "a folder/ü.yaml",
    0,
    (Problem("notice", "some-code", "two\nlines", False), Problem("error", "Other", "x", True, 7)),
)

REQUIRED = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {"driver": {"required": ["name"], "properties": {"rules": {"type": "array"}}}},
                    },
                    "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                },
            },
        },
    },
    "$defs": {
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "ruleIndex", "level"],
            "properties": {
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
                "locations": {
                    "items": {
                        "required": ["physicalLocation"],
                        "properties": {
                            "physicalLocation": {
                                "required": ["artifactLocation", "region"],
                                "properties": {
                                    "artifactLocation": {"properties": {"uri": {"pattern": "^[A-Za-z0-9._~/%-]+$"}}},
                                    "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}},
                                },
                            }
                        },
                    }
                },
            },
        }
    },
}
"""What SARIF 2.1.0 (3.13, 3.14, 3.27) and code scanning require of what is written here."""


@pytest.mark.parametrize("command", [ADMIT, LINT], ids=["admit", "lint"])
def test_sarif_has_what_is_required_and_rules_that_results_point_to(command: tuple[str, ...]) -> None:
    log: dict[str, Any] = json.loads(in_process(*command, "-o", "sarif").out)

    jsonschema.Draft202012Validator(REQUIRED).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert run["results"]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]


def test_a_result_stands_at_the_line_of_what_is_wrong() -> None:
    log = json.loads(in_process(*LINT, "-o", "sarif").out)

    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    line = (
        Path(place["artifactLocation"]["uri"])
        .read_text(encoding="utf-8")
        .splitlines()[place["region"]["startLine"] - 1]
    )
    assert "cpu" in line


@pytest.mark.parametrize("command", [ADMIT, LINT], ids=["admit", "lint"])
def test_gitlab_has_what_is_required(command: tuple[str, ...]) -> None:
    issues = json.loads(in_process(*command, "-o", "gitlab").out)

    assert issues
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


def test_an_issue_is_known_again_where_its_line_moved() -> None:
    moved = ODD._replace(line=90)

    assert [one["fingerprint"] for one in gitlab([ODD])] == [one["fingerprint"] for one in gitlab([moved])]


def test_odd_names_steer_nothing() -> None:
    log = sarif("lint", [ODD], {"some-code": "what it means"})

    jsonschema.Draft202012Validator(REQUIRED).validate(log)
    assert "\x1b" not in json.dumps([log, gitlab([ODD])])
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert rules[0]["help"] == {"text": "what it means"}


def test_no_problem_is_an_empty_report() -> None:
    assert json.loads(in_process("lint", "pods/limits-only.yaml", "-o", "gitlab").out) == []
    assert json.loads(in_process("lint", "pods/limits-only.yaml", "-o", "sarif").out)["runs"][0]["results"] == []
