"""Pods from files, folders and standard input: what counts as a pod, names of replicas, refusals with their place."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from numalign.errors import InputError
from numalign.model.quantity import canonical
from numalign.sources.pods.beside import read_beside
from numalign.sources.pods.manifest import PodInput, read_pods
from numalign.sources.pods.template_pods import Copies
from tests.dice import draws
from tests.model.apiserver.test_apiserver import PLAIN

PODS = Path(__file__).parents[3] / "pods"
CONTAINERS: dict[str, Any] = {"containers": [{"name": "c", "resources": {"limits": {"cpu": 2, "memory": "1Gi"}}}]}
TEMPLATE: dict[str, Any] = {"spec": CONTAINERS}


def pod(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": CONTAINERS}


def workload(kind: str, name: str = "web", **spec: Any) -> dict[str, Any]:
    group = "batch/v1" if "Job" in kind else "apps/v1"
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": {"template": TEMPLATE, **spec}}


def write(folder: Path, *documents: Any, name: str = "f.yaml") -> Path:
    path = folder / name
    path.write_text("\n---\n".join(json.dumps(document, indent=1) for document in documents))
    return path


def names(given: PodInput) -> list[str]:
    return [each.name for each in given.pods]


def messages(given: PodInput) -> list[str]:
    return [notice.message for notice in given.notices]


def refusal(*inputs: Path | str) -> str:
    with pytest.raises(InputError) as error:
        read_pods(inputs)
    return str(error.value)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(pod("a"), ["a"], id="a Pod"),
        pytest.param({**pod(""), "metadata": {"generateName": "a-"}}, ["a-0"], id="a generated name"),
        pytest.param({"kind": "List", "items": [pod("a"), pod("b")]}, ["a", "b"], id="a List"),
        pytest.param(
            {"kind": "PodList", "items": [{"metadata": {"name": "a"}, "spec": CONTAINERS}]},
            ["a"],
            id="a PodList, whose items have no kind",
        ),
        pytest.param({"kind": "List", "items": [{"kind": "List", "items": [pod("a")]}]}, ["a"], id="a List of Lists"),
        *[
            pytest.param(workload(kind), ["web-0"], id=kind)
            for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job")
        ],
        pytest.param(
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "web"},
                "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}},
            },
            ["web-0"],
            id="CronJob",
        ),
        pytest.param(
            {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "web"}, "spec": {"template": TEMPLATE}},
            ["web-0"],
            id="a custom kind with a pod template",
        ),
    ],
)
def test_pods_are_found_in_every_kind_that_carries_one(tmp_path: Path, document: Any, expected: list[str]) -> None:
    assert names(read_pods([write(tmp_path, document)])) == expected


def test_a_template_takes_namespace_from_its_owner_and_labels_from_itself(tmp_path: Path) -> None:
    owner = workload("Deployment")
    owner["metadata"]["namespace"] = "prod"
    owner["spec"] = {"template": {"metadata": {"labels": {"a": "b"}}, "spec": CONTAINERS}}

    (read_pod,) = read_pods([write(tmp_path, owner)]).pods

    assert (read_pod.namespace, read_pod.uid, read_pod.labels) == ("prod", "prod/web-0", {"a": "b"})


def test_documents_without_a_pod_are_passed_over_and_counted(tmp_path: Path) -> None:
    others = [
        {"kind": "Service", "metadata": {"name": "s"}, "spec": {}},
        {"kind": "MachineDeployment", "metadata": {"name": "m"}, "spec": {"template": {"spec": {"version": "1"}}}},
        {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": []}},
        [1, 2],
        "text",
        {"kind": "List", "items": [{"kind": "ConfigMap"}, None]},
    ]
    found = read_pods([write(tmp_path, pod("a"), *others)])

    assert (names(found), found.passed_over) == (["a"], 7)


def test_one_replica_is_tried_unless_told_otherwise(tmp_path: Path) -> None:
    path = write(tmp_path, workload("Deployment", replicas=3), pod("p"))

    assert names(read_pods([path])) == ["web-0", "p"]
    assert messages(read_pods([path])) == ["Deployment web: 1 of 3 replicas is tried; --replicas N tries N"]
    assert names(read_pods([path], Copies(2))) == ["web-0", "web-1", "p-0", "p-1"]
    assert messages(read_pods([path], Copies(2))) == []


@pytest.mark.parametrize(
    ("kind", "spec", "wanted"),
    [
        ("Deployment", {}, 1),
        ("Deployment", {"replicas": 0}, 0),
        ("DaemonSet", {"replicas": 9}, 1),
        ("Job", {"parallelism": 4}, 4),
        ("Job", {"parallelism": 4, "completions": 2}, 2),
    ],
)
def test_the_wanted_replicas_are_known(tmp_path: Path, kind: str, spec: dict[str, Any], wanted: int) -> None:
    assert read_pods([write(tmp_path, workload(kind, **spec))]).sources[0].template.wanted == wanted


def test_names_of_replicas_avoid_names_that_are_given(tmp_path: Path) -> None:
    """Two objects may have one name; their pods may not, and neither may the pods that are already there."""
    path = write(tmp_path, workload("Deployment"), workload("StatefulSet"), pod("web-1"))
    beside = read_pods([write(tmp_path, pod("web-0"), name="beside.yaml")]).pods

    assert names(read_pods([path])) == ["web-0", "web-2", "web-1"]
    assert names(read_pods([path], beside=beside)) == ["web-2", "web-3", "web-1"]


def test_two_pods_of_one_name_or_uid_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, pod("a"), pod("b", namespace="x"), pod("b"))
    assert names(read_pods([path])) == ["a", "b", "b"]

    path = write(tmp_path, pod("a"), pod("a"))
    assert refusal(path) == f'{path}:26: metadata.name: "a" is also the name of the pod at {path}:1'

    path = write(tmp_path, pod("a", uid="u"), pod("b", uid="u"))
    assert refusal(path).endswith(f'metadata.uid: "u" is also the uid of the pod at {path}:1')

    with pytest.raises(InputError, match=r'metadata\.name: "a" is also the name of a pod on the node'):
        read_pods([write(tmp_path, pod("a"))], beside=read_pods([write(tmp_path, pod("a"), name="g.yaml")]).pods)


def test_a_folder_is_read_by_name_and_other_files_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, pod("b"), name="2.yml")
    write(tmp_path, pod("a"), name="1.yaml")
    write(tmp_path, pod("c"), name="3.json")
    (tmp_path / "README.md").write_text("- not: [a manifest")
    (tmp_path / "sub.yaml").mkdir()

    assert names(read_pods([tmp_path])) == ["a", "b", "c"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(json.dumps(pod("a")).encode())

    monkeypatch.setattr("sys.stdin", Stdin())
    found = read_pods(["-"])

    assert (names(found), found.sources[0].origin) == (["a"], "standard input:1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "f.yaml: no pod found: no document is a Pod or has a pod template", id="an empty file"),
        pytest.param(
            "hello",
            "f.yaml: no pod found, only 1 object without a kind; fix: name a file with a Pod or a pod template",
            id="a text",
        ),
        pytest.param(
            "kind: Service",
            "f.yaml: no pod found, only Service; fix: name a file with a Pod or a pod template",
            id="none",
        ),
        pytest.param("\x00\x7fELF", "f.yaml:1: binary data, not text (character U+0000)", id="binary bytes"),
        pytest.param(
            "kind: Pod\n  x: y",
            "f.yaml:2: not YAML: mapping values are not allowed in this context; fix: correct the YAML there",
            id="no YAML",
        ),
        pytest.param("kind: Pod", "f.yaml:1: spec: missing; it is required (and 0 more problems)", id="half a pod"),
        pytest.param(
            "spec:\n  containers: []",
            "f.yaml:1: kind: missing; fix: add kind: Pod",
            id="no kind",
        ),
        pytest.param(
            "kind: Deployment\nmetadata: {name: x}\nspec:\n  replicas: 2",
            "f.yaml:3: spec.template.spec: missing; it is required",
            id="a Deployment without template",
        ),
        pytest.param(
            "kind: Deployment\nspec:\n  template:\n    spec: {containers: [{name: c}]}",
            "f.yaml:1: metadata.name: missing; it is required",
            id="a Deployment without name",
        ),
        pytest.param(
            "kind: Deployment\nmetadata: {name: x}\nspec:\n  replicas: two\n"
            "  template:\n    spec: {containers: [{name: c}]}",
            'f.yaml:4: spec.replicas: expected a whole number, zero or more, got "two"',
            id="replicas that are no number",
        ),
        pytest.param(
            "kind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: c\n    resources:\n      limits:\n"
            "        cpu: no",
            "f.yaml:8: spec.containers[0].resources.limits.cpu: expected a quantity, got false",
            id="cpu: no",
        ),
        pytest.param(
            "kind: List\nitems:\n- kind: Pod\n  metadata: {name: x}\n  spec:\n    containers:\n    - name: c\n"
            "      resources:\n        limits:\n          nvidia.com/gpu: 0.5",
            'f.yaml:10: items[0].spec.containers[0].resources.limits["nvidia.com/gpu"]: 500m is no whole number; '
            "extended resources are counted in whole units",
            id="half a device, in a List",
        ),
        pytest.param(
            "kind: Deployment\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n"
            "        resources:\n          limits: {cpu: 1}\n          requests: {cpu: 2}",
            "f.yaml:10: spec.template.spec.containers[0].resources.requests.cpu: 2 is more than the limit 1",
            id="a request above its limit, in a template",
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.yaml").write_text(text)

    assert refusal("f.yaml") == message.removesuffix(" (and 0 more problems)")


@pytest.mark.parametrize(
    ("wrong", "told"), [(2, "(and 1 more problem)"), (3, "(and 2 more problems)"), (12, "(and 11 more problems)")]
)
def test_more_problems_are_counted(tmp_path: Path, wrong: int, told: str) -> None:
    bad = pod("a")
    bad["spec"] = {"containers": [{"name": f"C{number}"} for number in range(wrong)]}

    assert refusal(write(tmp_path, bad)).endswith(told)


def test_inputs_that_are_not_there_are_named(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path / "none.yaml")
        == f"{tmp_path}/none.yaml: cannot be read: No such file or directory; fix: correct the path"
    )
    assert refusal(tmp_path) == f"{tmp_path}: no file that ends in .yaml, .yml, .json in this folder"
    assert "no file can have this name" in refusal("a\0b")


def test_folders_below_are_not_read_and_told(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".git", pod("hidden"))
    assert refusal(tmp_path) == f"{tmp_path}: no file that ends in .yaml, .yml, .json in this folder"

    write(tmp_path / "a/b", pod("deep"))
    assert refusal(tmp_path).endswith(f" in this folder, but in {tmp_path}/a/b: name that one")

    write(tmp_path, pod("here"))
    found = read_pods([tmp_path])
    assert names(found) == ["here"]
    told = f"skipped the folders below; fix: name each, as {tmp_path}/a/b"
    assert ("folder-below", told, str(tmp_path)) in found.notices
    assert read_pods([tmp_path / "a/b"]).notices == ()


def test_folders_below_that_are_named_too_are_not_told_as_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m/a/b").mkdir(parents=True)
    for number, folder in enumerate(("m", "m/a", "m/a/b")):
        write(tmp_path / folder, pod(f"p{number}"))
    (tmp_path / "link").symlink_to("m/a/b")
    monkeypatch.chdir(tmp_path)

    def told(*given: str) -> list[str]:
        return [one.message.rpartition(" ")[2] for one in read_pods([*given]).notices if one.code == "folder-below"]

    assert told("m") == ["m/a"]
    assert told("m", "m/a") == ["m/a/b", "m/a/b"]
    assert told("m", "m/a/b") == ["m/a"]
    assert told("m", str(tmp_path / "m/a"), "link") == []
    assert told("m", *map(str, Path("m/a").rglob("*.yaml"))) == []


def test_states_of_our_own_are_no_pods_to_run(tmp_path: Path) -> None:
    inside = {**pod("there"), "metadata": {"uid": "u"}}
    state = {"apiVersion": "numalign/v1", "kind": "NodeState", "version": 1, "pods": [inside]}
    (tmp_path / "a.json").write_text(json.dumps(state))
    write(tmp_path, pod("next"))

    found = read_pods([tmp_path])

    assert [one.name for one in found.pods] == ["next"]
    assert (found.without_pod, found.broken) == ({"NodeState": 1}, ())
    assert refusal(tmp_path / "a.json").endswith("no pod found, only NodeState; add it with --state or --node")


def test_pods_already_there_come_by_age_without_the_finished_ones(tmp_path: Path) -> None:
    items = [
        pod("late", creationTimestamp="2024-05-02T10:00:00Z"),
        pod("early", creationTimestamp="2024-05-01T10:00:00Z"),
        {**pod("done", creationTimestamp="2024-05-01T09:00:00Z"), "status": {"phase": "Succeeded"}},
        {**pod("dead", creationTimestamp="2024-05-01T08:00:00Z"), "status": {"phase": "Failed"}},
        {**pod("same", creationTimestamp="2024-05-01T10:00:00Z"), "status": {"phase": "Running"}},
    ]
    path = write(tmp_path, {"apiVersion": "v1", "kind": "List", "items": items})

    assert [each.name for each in read_beside(path).pods] == ["early", "same", "late"]
    assert read_beside(write(tmp_path, {"kind": "List", "items": []})).pods == ()
    with pytest.raises(InputError, match="no pod found; fix: kubectl get pods -o json"):
        read_beside(write(tmp_path, {"kind": "Service"}))


def test_the_example_pods_are_all_valid_and_named_by_what_they_show() -> None:
    for path in sorted(PODS.rglob("*.yaml")):
        assert path.read_text().startswith("# "), f"{path.name} says what it shows"
        assert read_pods([path]).pods

    classes = {each.name: each.qos for each in read_pods([PODS]).pods}
    assert classes["guaranteed-4cpu-1gpu"] == classes["limits-only"] == classes["numa-aligned-1"] == "Guaranteed"
    assert (classes["burstable"], classes["besteffort-gpu"]) == ("Burstable", "BestEffort")


@draws(120)
@given(PLAIN)
def test_whatever_a_document_holds_nothing_but_an_input_error_is_raised(tmp_path: Path, data: Any) -> None:
    for document in (
        data,
        {"kind": "Pod", "metadata": data, "spec": data},
        {**pod("a"), "spec": data},
        {"kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replicas": data, "template": TEMPLATE}},
        {"kind": "X", "metadata": data, "spec": {"template": {"spec": data}}},
        {"kind": "CronJob", "metadata": {"name": "x"}, "spec": {"jobTemplate": data}},
        {"kind": data, "items": data, "spec": data},
        {"kind": "List", "items": data},
        {**pod("a"), "status": data},
    ):
        path = tmp_path / "f.yaml"
        path.write_text(json.dumps(document))
        with contextlib.suppress(InputError):
            read_pods([path], Copies(2))
        with contextlib.suppress(InputError):
            read_beside(path)


def test_of_keys_that_are_there_twice_the_last_counts_and_both_lines_are_told(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text(
        "kind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    resources:\n"
        "      limits: {cpu: 2}\n      limits: {cpu: 4}\n"
    )
    given = read_pods([path])

    assert [canonical(one.limits["cpu"]) for pod in given.pods for one in pod.containers] == ["4"]
    (notice,) = given.notices
    assert (notice.code, notice.message) == ("duplicate-key", "line 8 overrides line 7")
    assert notice.path == f"{path}:8: spec.containers[0].resources.limits"


def test_networks_of_multus_may_bring_devices(tmp_path: Path) -> None:
    wanted = pod("a", annotations={"k8s.v1.cni.cncf.io/networks": "sriov-net"})
    assert [one.code for one in read_pods([write(tmp_path, wanted)]).notices] == ["network-devices"]
    wanted["spec"] = {"containers": [{"name": "c", "resources": {"limits": {"intel.com/sriov": 1}}}]}
    assert read_pods([write(tmp_path, wanted)]).notices == ()
