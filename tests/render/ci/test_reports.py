"""SARIF and GitLab's Code Quality: what the services require is there, whatever the manifests hold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from numalign.analysis.lint.check import CODES
from numalign.render.ci.checks import Check, Problem, gitlab
from numalign.render.ci.sarif import sarif
from tests.cli.running import in_process

ADMIT = ("admit", "pods/announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node")
TEST = ("test", "tests/render/ci/not-as-expected.yaml")
LINT = ("lint", "pods/fractional-cpu.yaml", "pods/sidecar.yaml")
ODD = Check(
    "group",
    "pod\x1b[31m",
    "a folder/ü.yaml",
    0,
    (Problem("notice", "some-code", "two\nlines", False), Problem("error", "Other", "x", True, 7)),
)

SCHEMA = json.loads(gzip.decompress((Path(__file__).parent / "sarif-2.1.0.schema.json.gz").read_bytes()))
"""The published schema of SARIF 2.1.0; README.md beside it says where it comes from."""
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())

GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./)."},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""What GitLab's documentation of the Code Quality report asks for: a path below the repository, without `./`."""


@pytest.mark.parametrize("command", [ADMIT, LINT, TEST], ids=["admit", "lint", "test"])
def test_sarif_has_what_is_required_and_rules_that_results_point_to(command: tuple[str, ...]) -> None:
    log: dict[str, Any] = json.loads(in_process(*command, "-o", "sarif").out)

    VALIDATOR.validate(log)
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


def test_the_schema_refuses_what_is_no_log() -> None:
    """The schema is the real one: a test against it can fail."""
    log = sarif("lint", [ODD])
    log["runs"][0]["results"][0]["level"] = "grave"

    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(log)


REASONS = ("TopologyAffinityError", "OutOfnvidia.com/gpu", "NodeAffinity", "panic", "NotAligned", "DeviceMissing")


@pytest.mark.parametrize("code", [*CODES, *REASONS, "NotAsExpected"])
def test_every_code_has_the_help_that_code_scanning_asks_for(code: str) -> None:
    """GitHub shows no rule without a short and a full description and help."""
    check = ODD._replace(problems=(Problem("error", code, "text", True),))
    log = sarif("lint", [check])

    VALIDATOR.validate(log)
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    texts = [rule["shortDescription"]["text"], rule["fullDescription"]["text"], rule["help"]["text"]]
    assert all(len(text) > 10 for text in texts)
    assert not any("`" in text or "](" in text for text in texts)
    assert "**Instead:** " in rule["help"]["markdown"]
    assert rule.get("name") != rule["id"]


@pytest.mark.parametrize("command", [ADMIT, LINT, TEST], ids=["admit", "lint", "test"])
def test_gitlab_has_what_is_required(command: tuple[str, ...]) -> None:
    issues = json.loads(in_process(*command, "-o", "gitlab").out)

    jsonschema.Draft202012Validator(GITLAB).validate(issues)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) > 0


def test_services_find_a_file_that_was_named_from_here() -> None:
    words = ("lint", "./pods/../pods/sidecar.yaml", "-o")

    (issue, *_) = json.loads(in_process(*words, "gitlab").out)
    (result, *_) = json.loads(in_process(*words, "sarif").out)["runs"][0]["results"]

    assert issue["location"]["path"] == "pods/sidecar.yaml"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "pods/sidecar.yaml"
    assert result["partialFingerprints"]["numalign/v1"] == issue["fingerprint"]


def test_an_issue_is_known_again_where_its_line_moved() -> None:
    moved = ODD._replace(line=90)

    assert [one["fingerprint"] for one in gitlab([ODD])] == [one["fingerprint"] for one in gitlab([moved])]


def test_odd_names_steer_nothing() -> None:
    log = sarif("lint", [ODD])

    VALIDATOR.validate(log)
    assert "\x1b" not in json.dumps([log, gitlab([ODD])])


def test_no_problem_is_an_empty_report() -> None:
    assert json.loads(in_process("lint", "pods/limits-only.yaml", "-o", "gitlab").out) == []
    assert json.loads(in_process("lint", "pods/limits-only.yaml", "-o", "sarif").out)["runs"][0]["results"] == []
