"""Pools of nodes: a label says what machine they are and how their kubelets are set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numalign.errors import InputError, StartError
from numalign.kubelet.setup import Setup
from numalign.sources.cluster.objects import read_node
from numalign.tasks.cluster import ClusterRequest, referred
from numalign.tasks.pools import INSTANCE_TYPE, Pools, bundled_instance
from numalign.tasks.requests import KubeletRequest
from tests.cli.running import in_process

CONFIG = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
GPUS = {"cpu": "190", "memory": "1900Gi", "pods": "110", "nvidia.com/gpu": "8"}


def setup(pools: Pools, cpus: str | None = None, **labels: str) -> Setup | None:
    named = {name.replace("_", "-"): value for name, value in labels.items()}
    status = {"capacity": {"cpu": cpus}} if cpus else {}
    return pools.setup(read_node({"metadata": {"name": "n", "labels": named}, "status": status}))


def of_type(pools: Pools, kind: str, cpus: str | None = None) -> Setup | None:
    return setup(pools, cpus, **{INSTANCE_TYPE: kind})


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "kubelet.yaml"
    file.write_text(
        CONFIG + "topologyManagerPolicy: single-numa-node\ncpuManagerPolicy: static\nkubeReserved: {cpu: '1'}\n"
    )
    return file


@pytest.mark.parametrize(
    ("kind", "machine"),
    [
        ("p5.48xlarge", "p5.48xlarge"),
        ("Standard_ND96isr_H100_v5", "nd96isr-h100-v5"),
        ("BM.GPU.H100.8", "bm.gpu.h100.8"),
        ("a3-highgpu-8g", "a3-highgpu-8g"),
        ("p5.4xlarge", None),
        ("../../etc/passwd", None),
        ("", None),
    ],
)
def test_an_instance_type_names_the_bundled_machine_of_just_this_name(kind: str, machine: str | None) -> None:
    assert bundled_instance(kind) == machine


def test_labels_choose_machine_and_settings(config: Path) -> None:
    pools = Pools(
        machine_of=("pool=gpu:hgx-h100", f"{INSTANCE_TYPE}=p5.48xlarge:figure-1"),
        kubelet_config_of=(f"tier=strict:{config}",),
        kubelet=KubeletRequest(settings={"topology-manager-policy": "restricted"}),
    )

    strict = setup(pools, pool="gpu", tier="strict")
    other = setup(pools, pool="gpu")
    named = of_type(pools, "p5.48xlarge")
    by_itself = of_type(pools, "p4d.24xlarge")

    assert strict is not None
    assert other is not None
    assert named is not None
    assert by_itself is not None
    assert [one.machine.name for one in (strict, named, by_itself)] == ["hgx-h100", "figure-1", "p4d.24xlarge"]
    assert strict is setup(pools, pool="gpu", tier="strict")
    assert strict.config.kube_reserved == {"cpu": "1"}
    assert [one.config.topology_manager_policy for one in (other, by_itself)] == ["restricted"] * 2
    assert setup(pools, pool="other") is None


def test_an_instance_of_another_size_is_not_known_by_its_type() -> None:
    pools = Pools()

    assert of_type(pools, "p5.48xlarge", "192") is not None
    assert of_type(pools, "p5.48xlarge", "96") is None
    said = Pools(machine_of=(f"{INSTANCE_TYPE}=p5.48xlarge:p5.48xlarge",))
    assert of_type(said, "p5.48xlarge", "96") is not None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"machine_of": ["pool"]}, 'expected LABEL=VALUE:MACHINE, got "pool"'),
        ({"kubelet_config_of": ["a=b"]}, 'expected LABEL=VALUE:FILE, got "a=b"'),
        ({"kubelet_config_of": ["a=b:/no/such"]}, "/no/such"),
        ({"machine_of": ["a=b:no-such-machine"]}, "no-such-machine"),
    ],
)
def test_what_is_wrong_is_said_at_once(given: dict[str, list[str]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Pools(**given)


def test_settings_that_do_not_fit_a_machine_are_said_where_they_meet(config: Path) -> None:
    config.write_text(CONFIG + "memoryManagerPolicy: Static\n")
    pools = Pools(kubelet_config_of=(f"{INSTANCE_TYPE}=p5.48xlarge:{config}",))
    found = of_type(pools, "p5.48xlarge")
    from numalign.kubelet.admission import open_session

    assert found is not None
    with pytest.raises(StartError):
        open_session(found)


def test_the_files_of_pools_are_watched(config: Path) -> None:
    request = ClusterRequest(
        (), machine_of=("a=b:m.yaml",), kubelet_config_of=(f"a=b:{config}",), kubelet=KubeletRequest("k.yaml")
    )
    assert referred("nodes.tar", request) == ("m.yaml", str(config), "k.yaml")


@pytest.mark.parametrize("gpus", [4, 5])
def test_schedule_and_capacity_judge_template_nodes_of_a_dump(gpus: int, config: Path, tmp_path: Path) -> None:
    """Four of eight GPUs are on each NUMA node."""
    dump, manifest = tmp_path / "nodes.json", tmp_path / "pod.json"
    about = {"name": "template", "labels": {INSTANCE_TYPE: "p5.48xlarge"}}
    status = {"allocatable": GPUS, "capacity": {**GPUS, "cpu": "192"}, "nodeInfo": {"kubeletVersion": "v1.34.1-eks"}}
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": about, "status": status}))
    limits = {"cpu": "8", "memory": "8Gi", "nvidia.com/gpu": str(gpus)}
    containers = [{"name": "c", "image": "i", "resources": {"limits": limits}}]
    manifest.write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}})
    )
    pools = ("--cluster", dump, "--kubelet-config-of", f"{INSTANCE_TYPE}=p5.48xlarge:{config}", "-o", "json")

    (pod,) = in_process("schedule", manifest, *pools).json["pods"]
    (shape,) = in_process("capacity", manifest, *pools).json["shapes"]

    assert pod["nodes"][0]["kubelet"]["admit"] == (gpus == 4)
    assert shape["now"] == (2 if gpus == 4 else 0)
