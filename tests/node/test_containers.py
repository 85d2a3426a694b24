"""Who a container is where no runtime's own file says it: pod objects, crictl, a sosreport with its answers."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from numalign.sources.node.containers import ask_crictl, of_crictl, of_statuses
from tests.cli.running import in_process
from tests.cli.test_node_flag import NODE, machine
from tests.node.fake_root import FakeContainer, Layout, identity_of
from tests.node.test_verify import AS_PLANNED, UIDS, found, running, verdicts, verify

__all__ = ["machine"]

NAMELESS = Layout(bundles=False)
WIDER = FakeContainer(UIDS["dpdk"], "fwd", "3-4,19-20", "0", threads=("3",))
"""By its CPUs nobody can tell who it is."""


def inspected(one: FakeContainer) -> dict[str, object]:
    """What `crictl inspect` prints of a container, as far as it is read."""
    labels = {"io.kubernetes.container.name": one.name, "io.kubernetes.pod.uid": one.uid}
    status = {"id": identity_of(one), "metadata": {"attempt": 0, "name": one.name}, "labels": labels}
    return {"info": {"pid": 1}, "status": status}


def api_objects(root: Path) -> Path:
    """The pods as `kubectl get pods -o json` has them, with the ids of their containers."""
    pods = []
    for name, uid in UIDS.items():
        here = [one for one in AS_PLANNED if one.uid == uid]
        status = [{"name": one.name, "containerID": f"containerd://{identity_of(one)}"} for one in here]
        resources = {"limits": {"cpu": "2", "memory": "2Gi"}}
        spec = {"containers": [{"name": one.name, "image": "i", "resources": resources} for one in here]}
        metadata = {"name": name, "namespace": "net", "uid": uid}
        status_of = {"phase": "Running", "containerStatuses": status}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status_of})
    path = root / "pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    return path


def test_without_any_name_a_container_on_other_cpus_is_a_stranger(tmp_path: Path) -> None:
    running(tmp_path, WIDER, layout=NAMELESS)

    assert verdicts(verify(tmp_path))["net/dpdk/fwd"] == "unknown"


def test_ids_of_pod_objects_name_containers(tmp_path: Path) -> None:
    running(tmp_path / "root", WIDER, layout=NAMELESS)

    done = verify(tmp_path / "root", "--beside", str(api_objects(tmp_path)))

    assert found(done, "net/dpdk/fwd") == ["cpuset-differs"]


def test_answers_of_crictl_in_a_sosreport_name_containers(tmp_path: Path) -> None:
    """A made sosreport, laid out as its plug-in for CRI-O writes one."""
    root = running(tmp_path / "root", WIDER, layout=NAMELESS._replace(runtime="cri-o"))
    for one in AS_PLANNED:
        name = f"sos_commands/crio/containers/crictl_inspect_{identity_of(one)}"
        root.write(name, json.dumps(inspected(one), indent=2))
    file = tmp_path / "sosreport.tar.xz"
    with tarfile.open(file, "w:xz") as archive:
        archive.add(tmp_path / "root", "sosreport-worker-1")

    done = verify(file)

    assert found(done, "net/dpdk/fwd") == ["cpuset-differs"]
    assert verdicts(done)["default/db/exporter"] == "none"


def test_crictl_is_asked_once_for_all_that_nobody_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = "\n".join(json.dumps(inspected(one)) for one in AS_PLANNED[:2])
    program = tmp_path / "crictl"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat <<E\n{answers}\nE\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    told = ask_crictl(["0" * 64, identity_of(AS_PLANNED[0])])

    assert told == {identity_of(one): (one.uid, one.name) for one in AS_PLANNED[:2]}
    assert (tmp_path / "asked").read_text() == f"inspect --output json {'0' * 64} {identity_of(AS_PLANNED[0])}\n"


def test_without_crictl_nobody_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert ask_crictl(["0" * 64]) == {}


FIRST = inspected(AS_PLANNED[0])
SHAPES = {
    "one document": (json.dumps(FIRST), 1),
    "a list": (json.dumps([FIRST, inspected(AS_PLANNED[1])]), 2),
    "several one after another": (f"{json.dumps(FIRST)}\n{json.dumps(inspected(AS_PLANNED[1]), indent=1)}\n", 2),
    "one that is cut": (f"{json.dumps(FIRST)}\n{{", 1),
    "something else": ('{"status": []} 5 "x" [null]', 0),
    "no JSON": ("Error: no such container", 0),
    "deep nesting": ("[" * 100_000, 0),
}


@pytest.mark.parametrize("case", SHAPES)
def test_what_crictl_prints_is_read_in_every_shape(case: str) -> None:
    text, number = SHAPES[case]

    assert len(of_crictl(text)) == number


def test_statuses_of_every_kind_of_container_are_read_and_odd_ones_passed_over() -> None:
    rows = [{"name": "a", "containerID": "cri-o://1"}, {"name": "b"}, 5]
    status = {"containerStatuses": rows, "initContainerStatuses": [{"name": "i", "containerID": "docker://2"}]}
    pods = [{"metadata": {"uid": "u"}, "status": status}, {"metadata": {}, "status": {"containerStatuses": "x"}}]

    assert of_statuses(pods) == {"1": ("u", "a"), "2": ("u", "i")}


def test_odd_annotations_of_a_runtime_are_passed_over(tmp_path: Path) -> None:
    root = running(tmp_path, layout=Layout())
    for bundle in tmp_path.rglob("config.json"):
        told = {"io.kubernetes.cri.container-type": {}, "io.kubernetes.cri.container-name": ["x"]}
        root.write(str(bundle.relative_to(tmp_path)), json.dumps({"annotations": told}))

    assert verify(tmp_path).status in (0, 1)


def test_a_file_of_the_first_generation_is_taken_over_where_pods_tell_the_ids(machine: str, tmp_path: Path) -> None:
    """Kubelets before 1.18 wrote container ids; the runtime, here the pods' statuses, says whose they are."""
    folder = tmp_path / "kubelet"
    folder.mkdir()
    (folder / "config.yaml").write_text((NODE / "kubelet/config.yaml").read_text())
    fwd = next(one for one in AS_PLANNED if one.name == "fwd")
    state = {"policyName": "static", "defaultCpuSet": "0-2,4-18,20-31", "entries": {identity_of(fwd): "3,19"}}
    (folder / "cpu_manager_state").write_text(json.dumps({**state, "checksum": 0}))
    place = ("--node", folder, "--machine", machine)

    without = in_process("status", *place)
    done = in_process("status", *place, "--beside", api_objects(tmp_path), "-o", "json")

    assert without.status == 4
    assert "not found in initial containers list" in without.out
    assert done.status == 0
    assert [pod["name"] for pod in done.json["pods"]] == ["dpdk"]


def test_a_snapshot_keeps_names_and_nothing_else_of_dockers_files(tmp_path: Path) -> None:
    running(tmp_path / "root", layout=Layout(runtime="cri-dockerd"))
    file = tmp_path / "n.tar.xz"

    assert in_process("snapshot", file, "--host-root", tmp_path / "root").status == 0

    with tarfile.open(file) as archive:
        texts = [archive.extractfile(one).read() for one in archive if one.isreg()]  # type: ignore[union-attr]  # regular
    assert not any(b"secret" in text for text in texts)
    assert verdicts(verify(file)) == verdicts(verify(tmp_path / "root"))
