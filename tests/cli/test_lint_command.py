"""`numalign lint` on the command line, and what lint and admit tell build servers."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from numalign.analysis.lint.check import CODES
from numalign.render.ci.checks import Check, Problem, github
from numalign.render.ci.junit import junit
from tests.cli.running import PODS, ROOT, in_process, one_line
from tests.schemas import strictly

HOSTILE = 'a<b>&"\x1b[31m\x00\ud800]]>,:%\r\nend'


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([PODS / "limits-only.yaml"], 0),
        ([PODS / "burstable.yaml"], 1),
        (["-f", PODS / "burstable.yaml", "--fail-on", "rejected"], 0),
        ([PODS / "sidecar.yaml"], 0),
        ([PODS / "cronjob.yaml", "-m", "xeon-2s-snc4", "--fail-on", "rejected"], 1),
        ([PODS / "cronjob.yaml", "-m", "xeon-2s-snc4", "--fail-on", "impossible"], 0),
        ([PODS / "wide.yaml", "-m", "figure-1", "--fail-on", "impossible"], 1),
        ([PODS / "wide.yaml", "-m", "figure-1", "--fail-on", "nothing"], 0),
        ([PODS / "fractional-cpu.yaml", "--ignore", "fractional-cpus"], 0),
    ],
)
def test_the_status_tells_whether_the_bar_is_reached(words: list[str | Path], status: int) -> None:
    assert in_process("lint", *words).status == status
    assert in_process("lint", "-q", *words)[:2] == (status, "")


def test_wrong_codes_are_wrong_input(tmp_path: Path) -> None:
    done = in_process("lint", PODS / "sidecar.yaml", "--ignore", "sidecar-cpu")
    assert (done.status, "similar: sidecar-cpus" in done.err) == (2, True)

    text = (PODS / "deployment.yaml").read_text()
    path = tmp_path / "d.yaml"
    path.write_text(text.replace("      labels:", "      annotations: {numalign/ignore: odd}\n      labels:", 1))
    done = in_process("lint", path)
    assert done.status == 2
    assert f'{path}:12: spec.template.metadata.annotations["numalign/ignore"]: unknown rule "odd"' in done.err


def test_flags_of_the_kubelet_without_a_machine_are_told_to_be_unused() -> None:
    assert "kubelet flags require --machine" in in_process("lint", PODS / "sidecar.yaml", "--scope", "pod").err


def test_what_is_printed_for_programs_is_described() -> None:
    strictly("lint-result").validate(in_process("lint", PODS, "-o", "json").json)
    strictly("lint-result").validate(in_process("lint", PODS, "-o", "json", "-m", "figure-1").json)


def test_standard_input_has_no_file_for_build_servers() -> None:
    manifest = (PODS / "burstable.yaml").read_bytes()
    lines = in_process("lint", "-", "-o", "github", stdin=manifest).out.splitlines()
    assert lines[0].startswith("::warning title=not-guaranteed::Pod burstable: ")


@pytest.mark.parametrize("bar", ["unaligned", "rejected", "nothing"])
def test_failures_of_junit_are_what_the_status_is_about(bar: str) -> None:
    done = in_process("lint", PODS, "-o", "junit", "--fail-on", bar)
    root = ElementTree.fromstring(done.out)
    failed = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert (int(root.attrib["failures"]), bool(failed)) == (len(failed), bool(done.status))


def test_admit_tells_refusals() -> None:
    words = ("admit", PODS / "announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node", "-o")
    root = ElementTree.fromstring(in_process(*words, "junit").out)
    cases = {case.attrib["name"]: case.find("failure") for case in root.iter("testcase")}
    refused = cases["numa-aligned-3"]
    assert [name for name, failure in cases.items() if failure is not None] == ["numa-aligned-3"]
    assert refused is not None
    assert refused.attrib["type"] == "TopologyAffinityError"
    assert {case.attrib["classname"] for case in root.iter("testcase")} == {"figure-1.single-numa-node"}
    assert in_process(*words, "github").out.startswith("::error file=")
    assert in_process(*words, "github", "--fail-on", "nothing").out.startswith("::warning file=")


def test_hostile_names_break_neither_format() -> None:
    check = Check(HOSTILE, HOSTILE, HOSTILE, 3, (Problem("error", HOSTILE, HOSTILE, True),) * 2)

    root = ElementTree.fromstring(junit(HOSTILE, [check]))
    lines = github([check]).splitlines()

    case = root.find("./testsuite/testcase")
    assert case is not None
    assert case.attrib["name"] == 'a<b>&"\\x1b[31m\\x00\\ud800]]>,:%\\r\nend'
    assert len(lines) == 2
    assert lines[0].startswith('::error file=a<b>&"\\x1b[31m\\x00\\ud800]]>%2C%3A%25\\r%0Aend,line=3,title=')


def test_every_code_stands_in_the_manual() -> None:
    text = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"\n| `{code}` | " not in text] == []


def test_a_repository_of_mixed_files_is_judged_by_its_pods(tmp_path: Path) -> None:
    """What has no pod is passed over, what is broken is named, and the status comes from what is judged."""
    (tmp_path / "svc.yaml").write_text("kind: Service\nmetadata: {name: s}\n")
    (tmp_path / "broken.yaml").write_text("kind: Pod\nspec: [\n")
    good, bad = PODS / "limits-only.yaml", PODS / "burstable.yaml"

    alone = in_process("lint", bad)
    mixed = in_process("lint", bad, tmp_path / "svc.yaml", tmp_path / "broken.yaml")
    assert (mixed.status, mixed.out) == (2, alone.out)
    assert mixed.err.splitlines() == [
        "note: skipped 1 document without a pod: Service",
        BROKEN.format(tmp_path),
        "fix: correct the YAML there",
    ]
    assert in_process("lint", good, tmp_path / "svc.yaml").status == 0


BROKEN = (
    "error: {}/broken.yaml:3: not YAML: did not find expected node content while parsing a flow node that begins in "
    "line 3"
)
MIXED: dict[str, bytes] = {
    "README.md": b"# Title\n\n```yaml\nkind: Pod\n```\n",
    "main.py": b"import os\nprint({'a': 1})\n",
    "notes.txt": b"all: of this: is no: yaml\n",
    "picture.png": bytes(range(256)),
    "tsconfig.json": b'{// comments\n "strict": true}',
    "values-prod.yaml": b"resources: {limits: {cpu: 2}}\n",
    "chart/templates/web.yaml": b"kind: Pod\nmetadata: {name: {{ .Values.name }}}\n",
    "quantity.yaml": b'kind: Pod\nspec:\n  containers:\n  - {name: a, resources: {limits: {cpu: "{{ x }}"}}}\n',
    "patch.yaml": b"kind: Pod\nspec: {containers: [{name: a, resources: {$patch: delete}}]}\n",
}


def test_what_git_diff_lists_is_judged_by_its_manifests(tmp_path: Path) -> None:
    """Other text is passed over, sources of Helm and kustomize are named; the status is that of the pods alone."""
    for name, content in MIXED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)

    for name, status in (("limits-only.yaml", 0), ("burstable.yaml", 1)):
        pod = ROOT / "pods" / name
        done = in_process("lint", *MIXED, pod, cwd=tmp_path)
        assert (done.status, done.out) == (status, in_process("lint", pod).out)

    said = [line for line in done.err.splitlines() if line[0] != " "]
    assert [line.partition(", not a ")[0] for line in said] == [
        "note: README.md, main.py, notes.txt and 2 more: skipped: not a manifest",
        "warning: chart/templates/web.yaml: a Helm template",
        "warning: quantity.yaml:4: spec.containers[0].resources.limits.cpu: a Go template",
        'warning: patch.yaml:2: spec.containers[0].resources["$patch"]: a kustomize patch',
        "note: skipped 1 document without a pod: Helm values",
    ]
    assert sum(line.startswith("  fix: ") for line in done.err.splitlines()) == 3


def test_what_should_be_a_manifest_and_is_not_is_named(tmp_path: Path) -> None:
    """Alone, or where another command is to try it, nothing is passed over."""
    text = tmp_path / "notes.txt"
    text.write_bytes(MIXED["notes.txt"])
    (tmp_path / "broken.yaml").write_text("a: [")
    pod = PODS / "limits-only.yaml"

    assert in_process("lint", text).status == 2
    assert in_process("lint", pod, tmp_path / "broken.yaml").status == 2
    assert in_process("lint", pod, tmp_path / "gone.txt").status == 2
    assert in_process("admit", pod, text, "-m", "edge-1s").status == 2


def test_a_broken_file_or_claim_does_not_keep_pods_with_claims_from_being_judged(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("kind: Pod\nspec: [\n")
    (tmp_path / "old.yaml").write_text(
        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata: {name: c}\n"
    )
    (tmp_path / "pod.yaml").write_text(
        "kind: Pod\nmetadata: {name: p}\nspec:\n  resourceClaims: [{name: c, resourceClaimName: c}]\n"
        "  containers: [{name: a, resources: {claims: [{name: c}], requests: {cpu: 2}}}]\n"
    )
    done = in_process("lint", tmp_path)

    assert (done.status, done.out.splitlines()[-1].partition(",")[0]) == (2, "1 pod")
    assert [line.partition(": apiVersion")[0] for line in done.err.splitlines() if line.startswith("error")] == [
        BROKEN.format(tmp_path),
        f"error: {tmp_path}/old.yaml:1",
    ]


def test_without_any_pod_there_is_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / "svc.yaml").write_text("kind: Service\nmetadata: {name: s}\n")

    done = in_process("lint", tmp_path / "svc.yaml")

    assert (done.status, done.out) == (0, "0 pods, 0 findings. No machine given (--machine adds checks).\n")
    assert done.err == "note: skipped 1 document without a pod: Service\n"


@pytest.mark.parametrize("text", ["", "---\n", "kind: List\napiVersion: v1\nitems: []\n"])
def test_an_empty_file_is_noted(text: str, tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text(text)
    done = in_process("lint", tmp_path / "empty.yaml")
    assert (done.status, done.out) == (0, "0 pods, 0 findings. No machine given (--machine adds checks).\n")
    assert (
        one_line(done.err) == "note: no manifest found: the input is empty; fix: name a file or folder with manifests"
    )
    assert in_process("lint", tmp_path / "empty.yaml", PODS / "limits-only.yaml").err == ""


def test_the_same_file_twice_is_taken_once() -> None:
    twice = in_process("lint", PODS / "burstable.yaml", f"{PODS}/../pods/burstable.yaml")

    assert twice.out == in_process("lint", PODS / "burstable.yaml").out
    assert "named several times, read once" in twice.err


@pytest.mark.parametrize("code", CODES)
def test_every_rule_is_explained(code: str) -> None:
    done = in_process("lint", "--explain", code)

    assert done.status == 0
    assert done.out.startswith(f"{code}\n  effects:")


def test_an_unknown_rule_is_not_explained() -> None:
    done = in_process("lint", "--explain", "odd-cpu")

    assert (done.status, done.out) == (2, "")
    assert 'unknown rule "odd-cpu"\nhint: similar: odd-cpus' in done.err


def test_folders_below_are_read_on_request(tmp_path: Path) -> None:
    for name in ("a/b", "a/c", "chart", ".hidden"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text("name: x\n")
    for name in ("a/b/one.yaml", "a/c/two.yaml", ".hidden/three.yaml"):
        (tmp_path / name).write_bytes((PODS / "limits-only.yaml").read_bytes())

    done = in_process("lint", "-R", tmp_path)
    assert (done.status, done.out.partition(",")[0]) == (0, "2 pods")
    assert "a Helm chart" in done.err
    assert in_process("lint", "--recursive", tmp_path / "a", "-o", "json").json["pods"] != []


def test_a_count_that_is_not_expanded_is_told(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  parallelism: $NUM_NODES\n"
        "  template: {spec: {containers: [{name: a, resources: {limits: {cpu: 2}}}]}}\n"
    )
    done = in_process("lint", path)
    assert done.status == 2
    assert "fix: expand NUM_NODES first, for example with envsubst" in done.err
