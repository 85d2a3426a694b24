"""SARIF and GitLab's Code Quality: what the services require is there, whatever the manifests hold."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

from numalign.analysis.lint.check import CODES
from numalign.render.ci.checks import Check, Problem, gitlab
from numalign.render.ci.sarif import sarif
from numalign.render.ci.summary import summary
from tests.cli.running import in_process

ADMIT = ("admit", "pods/announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node")
VLLM = (
    "admit",
    "tests/render/ci/eight-gpus.yaml",
    "docs/examples/mesh.yaml",
    "-m",
    "hgx-h100",
    "--policy",
    "restricted",
)
WRONG = ("test", "tests/render/ci/rejected.yaml")
TEST = ("test", "tests/render/ci/not-as-expected.yaml")
LINT = ("lint", "pods/fractional-cpu.yaml", "pods/sidecar.yaml")
COMMANDS = [
    pytest.param(ADMIT, id="admit"),
    pytest.param((*VLLM, "--fail-on", "unaligned"), id="admit two manifests"),
    pytest.param(LINT, id="lint"),
    pytest.param(TEST, id="test"),
    pytest.param(WRONG, id="test with a rejected pod"),
]
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


@pytest.mark.parametrize("command", COMMANDS)
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


@pytest.mark.parametrize("command", COMMANDS)
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


JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"tests", "failures"}, {"name", "errors", "skipped", "time", "timestamp"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"skipped", "time", "timestamp", "hostname", "id", "package", "file"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"classname", "name"},
        {"time", "file", "line"},
        {"failure", "error", "skipped", "system-out", "system-err"},
    ),
    "failure": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
}
"""Element -> attributes it must have, may have, and elements in it: what readers of JUnit reports agree on."""


@pytest.mark.parametrize("command", COMMANDS)
def test_junit_has_what_readers_agree_on(command: tuple[str, ...]) -> None:
    root = ElementTree.fromstring(in_process(*command, "-o", "junit").out)

    assert root.tag == "testsuites"
    for element in root.iter():
        required, optional, inside = JUNIT[element.tag]
        assert required <= set(element.keys()) <= required | optional
        assert {one.tag for one in element} <= inside
    cases = list(root.iter("testcase"))
    assert int(root.attrib["tests"]) == len(cases)
    assert int(root.attrib["failures"]) == sum(case.find("failure") is not None for case in cases)


ANNOTATION = re.compile(r"::(error|warning|notice) ([^:]*)::(.+)")
"""A workflow command, as GitHub's documentation has it: properties behind a blank, values escaped."""


@pytest.mark.parametrize("command", COMMANDS)
def test_annotations_of_github_are_commands_at_a_line_of_a_file(command: tuple[str, ...]) -> None:
    lines = in_process(*command, "-o", "github").out.splitlines()

    assert lines
    for line in lines:
        match = ANNOTATION.fullmatch(line)
        assert match, line
        properties = dict(each.split("=", 1) for each in match[2].split(","))
        assert properties.keys() == {"file", "line", "title"}
        file = Path(unquote(properties["file"]))
        assert 1 <= int(properties["line"]) <= len(file.read_text(encoding="utf-8").splitlines())


def annotations(*command: str) -> list[tuple[str, str]]:
    """The line of the manifest that each annotation is at, and its message."""
    found = []
    for line in in_process(*command, "-o", "github").out.splitlines():
        match = ANNOTATION.fullmatch(line)
        assert match
        properties = dict(each.split("=", 1) for each in match[2].split(","))
        text = Path(properties["file"]).read_text(encoding="utf-8").splitlines()
        found.append((text[int(properties["line"]) - 1].strip(), unquote(match[3])))
    return found


EMPTY = "even on an empty node with these settings."
FIT = "16 CPUs fit on 1 NUMA node: each has 112."
NEED = "8 nvidia.com/gpu need 2 NUMA nodes: each has at most 4."
THEN = "fetch on NUMA 0, server on NUMA 0-1, the fewest possible"
RULE = "restricted requires each resource on as few NUMA nodes as possible, and all resources on the same NUMA nodes."


def test_a_rejection_is_told_with_amounts_a_fix_and_the_kubelet_at_the_line_of_the_request() -> None:
    (line, message), *_ = annotations(*VLLM)

    assert line == "cpu: 16"
    assert message.splitlines() == [
        f"vllm-0: rejected at container server, {EMPTY} {FIT} {NEED} {RULE}",
        f"fix: Request 113 CPUs (now 16) in container server: aligned ({THEN})",
        'Kubelet: "TopologyAffinityError: Resources cannot be allocated with Topology locality"',
    ]


def test_a_container_that_is_not_pinned_is_told_at_what_keeps_it_so() -> None:
    (line, message) = annotations(*VLLM)[1]

    assert "The CPUs are not pinned" in message
    assert "\nfix: annotate the pod with sidecar.istio.io/proxyCPU" in message
    assert line


@pytest.mark.parametrize(
    ("limits", "machine", "at", "message"),
    [
        pytest.param(
            {"nvidia.com/gpu": 1}, "edge-1s", "nvidia.com/gpu: 1", "This machine has no nvidia.com/gpu", id="missing"
        ),
        pytest.param({"nvidia.com/gpu": 8}, "hgx-h100", "cpu: 4", "NOT aligned (spread)", id="spread, mended by CPUs"),
        pytest.param(
            {"cpu": "1500m", "nvidia.com/gpu": 1}, "hgx-h100", "cpu: 1500m", "NOT aligned (floating)", id="floating"
        ),
    ],
)
def test_an_admitted_pod_is_told_at_what_is_missing_or_apart(
    tmp_path: Path, limits: dict[str, object], machine: str, at: str, message: str
) -> None:
    asked = {"cpu": 4, "memory": "1Gi", **limits}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": asked}}]},
    }
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(pod))

    ((line, text),) = annotations("admit", str(tmp_path / "pod.yaml"), "-m", machine, "--policy", "best-effort")

    assert line == at
    assert message in text


def test_a_test_says_why_at_the_line_of_the_pod() -> None:
    ((line, message),) = annotations(*WRONG)

    assert line == "cpu: 16"
    assert message.startswith("eight GPUs are admitted (policy restricted): 0 of 1 pods admitted, expected 1 ")
    assert "8 nvidia.com/gpu need 2 NUMA nodes: each has at most 4." in message
    assert "\nfix: Request 113 CPUs" in message


def test_a_named_device_that_is_nearly_right_is_offered() -> None:
    ((_, message),) = annotations("admit", "pods/announcement.yaml", "-m", "hgx-h100", "--replicas", "1")[:1]

    assert message.endswith("\nfix: Request nvidia.com/gpu in place of gpu-vendor.com/gpu")


@pytest.mark.parametrize("command", COMMANDS)
def test_markdown_for_a_pull_request_counts_lists_and_folds(command: tuple[str, ...]) -> None:
    text = in_process(*command, "-o", "markdown").out

    assert re.match(rf"### numalign {command[0]}: ([0-9]+ of [0-9]+ fails?|all [0-9]+ pass)\n\n\| \| what ", text)
    rows = text.partition("| --- | --- | --- | --- | --- |\n")[2].partition("\n\n")[0].splitlines()
    assert len(rows) == len(in_process(*command, "-o", "github").out.splitlines())
    assert "<details><summary>Details</summary>" in text


def test_markdown_without_a_problem_is_a_title_and_the_answer() -> None:
    text = in_process("admit", "pods/guaranteed-4cpu-1gpu.yaml", "-m", "hgx-h100", "-o", "markdown").out

    assert text.startswith("### numalign admit: 1 passes\n\n<details>")


def test_a_name_does_not_break_out_of_its_cell() -> None:
    text = summary("lint", [ODD._replace(name="a | <b>\n## c")], [])

    assert "a \\| \\<b\\> \\#\\# c" in text


def test_many_pods_are_explained_only_as_far_as_that_is_quick() -> None:
    words = ("docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "restricted", "--replicas", "20")
    found = annotations("admit", *words)

    assert len(found) == 12
    assert len({message.partition(": ")[2] for _, message in found}) == 1
