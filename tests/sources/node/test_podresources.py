"""Saved answers of the PodResources API, in every shape that people have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.sources.node.podresources import PodResources, is_answer, read_podresources

PROTO: dict[str, Any] = {
    "pod_resources": [
        {
            "name": "web",
            "namespace": "default",
            "containers": [
                {
                    "name": "app",
                    "cpu_ids": [3, 1],
                    "memory": [{"memory_type": "memory", "size": 1024, "topology": {"nodes": [{"ID": 0}, {"ID": 1}]}}],
                    "devices": [
                        {"resource_name": "v/x", "device_ids": ["d"], "topology": {"nodes": [{"ID": 0}]}},
                        {"resource_name": "v/x", "device_ids": ["d"], "topology": {"nodes": [{"ID": 1}]}},
                        {"resource_name": "v/x", "device_ids": ["e"]},
                    ],
                    "dynamic_resources": [
                        {
                            "claim_name": "c",
                            "claim_namespace": "n",
                            "claim_resources": [{"driver_name": "d", "pool_name": "p", "device_name": "dev"}],
                        }
                    ],
                },
                {"name": "sidecar"},
            ],
        }
    ]
}


def camel(value: Any) -> Any:
    """Write it as grpcurl does: camel case, numbers as text, node 0 left out."""
    if isinstance(value, dict):
        return {
            "".join(part.title() if index else part for index, part in enumerate(key.split("_"))): camel(one)
            for key, one in value.items()
            if (key, one) != ("ID", 0)
        }
    if isinstance(value, list):
        return [camel(one) for one in value]
    return str(value) if isinstance(value, int) else value


SHAPES = {
    "the proto's names": json.dumps(PROTO),
    "camel case, numbers as text": json.dumps(camel(PROTO)),
    "a bare list of pods": json.dumps(PROTO["pod_resources"]),
    "several lines": json.dumps(PROTO, indent=2) + "\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_says_the_same(shape: str) -> None:
    assert read_podresources(SHAPES[shape], "answer.json") == read_podresources(
        SHAPES["the proto's names"], "answer.json"
    )


def test_the_values_mean_what_the_api_says() -> None:
    found = read_podresources(SHAPES["the proto's names"], "answer.json")

    assert found.pods is not None
    (pod,) = found.pods
    app, sidecar = pod.containers
    assert (pod.name, pod.namespace) == ("web", "default")
    assert app.cpus == {1, 3}
    assert app.memory == (("memory", 1024, (0, 1)),)
    assert app.devices == {"v/x": {"d": (0, 1), "e": ()}}
    assert app.claimed[0].device == "dev"
    assert not sidecar.cpus
    assert found.allocatable is None


ALLOCATABLE = {"cpu_ids": ["1", "2"], "devices": [{"resource_name": "v/x", "device_ids": ["d"]}]}
BOTH = {
    "one after the other": json.dumps(PROTO) + "\n" + json.dumps(ALLOCATABLE),
    "under one roof": json.dumps({**PROTO, "allocatable_resources": ALLOCATABLE}),
    "under one roof, camel case": json.dumps(camel({**PROTO, "allocatable": ALLOCATABLE})),
}


@pytest.mark.parametrize("case", BOTH)
def test_list_and_capacity_come_in_one_file(case: str) -> None:
    found = read_podresources(BOTH[case], "answer.json")

    assert found.pods is not None
    assert found.allocatable is not None
    assert found.allocatable.cpus == {1, 2}


def test_an_empty_answer_of_list_is_one() -> None:
    assert read_podresources('{"pod_resources": []}', "a") == PodResources((), None)


WRONG = {
    "a pod of Kubernetes": '{"kind": "Pod"}',
    "a number": "7",
    "nothing": "",
    "a CPU that is none": '{"pod_resources": [{"name": "a", "containers": [{"cpu_ids": ["x"]}]}]}',
    "a negative CPU": '{"pod_resources": [{"name": "a", "containers": [{"cpu_ids": [-1]}]}]}',
    "devices that are no list": '{"pod_resources": [{"name": "a", "containers": [{"devices": {"a": 1}}]}]}',
    "a name that is none": '{"pod_resources": [{"name": 1, "containers": []}]}',
    "a pod that is none": '{"pod_resources": [7]}',
    "a device that is none": '{"devices": [{"device_ids": [1]}]}',
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_answer_is_told(case: str) -> None:
    with pytest.raises(InputError):
        read_podresources(WRONG[case], "answer.json")


def test_a_list_of_kubernetes_objects_is_no_answer() -> None:
    assert not is_answer([{"kind": "Pod", "containers": []}])
    assert not is_answer({"kind": "List", "podResources": []})
