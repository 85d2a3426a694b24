"""Writing machines: the same text for the same machine, and reading gives the same machine."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given

from numalign.errors import InputError
from numalign.model.machine import Machine
from numalign.sources.machine import bundled
from numalign.sources.machine.dump import dump, to_json, to_yaml
from numalign.sources.machine.file import from_data, machine_from_scenario
from numalign.sources.machine.loading import load_machine
from numalign.sources.text.yaml import load_documents
from tests.dice import Dice, Form, draws, rolled

FULL: dict[str, Any] = {
    "apiVersion": "numalign/v1",
    "kind": "Machine",
    "name": "no",
    "numaNodes": [
        {"id": 0, "cpus": "0-3", "memory": 5368709121, "hugepages": {"2Mi": 2097152, "1Gi": 0}, "distances": [10, 40]},
        {"id": 8, "cpus": "4-7", "memory": 4294967296, "distances": [40, 10]},
    ],
    "sockets": ["0-3", {"id": 8, "cpus": "4-7"}],
    "cores": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "uncoreCaches": ["0-1", "2-3", {"id": 40, "cpus": "4-7"}],
    "devices": {
        "a/b": [{"id": "7", "numaNodes": None}, {"id": "x: y", "numaNodes": []}],
        "v/gpu": [{"id": "é", "numaNodes": [0, 8]}, {"id": "1e3", "numaNodes": [-1], "unhealthy": True}],
    },
    "preferredAllocation": {"v/gpu": [["é"], ["é", "1e3"]]},
    "links": {"v/gpu": [["é", "1e3", 2]]},
    "totalMemory": 1 << 34,
    "storage": 12345,
    "node": {
        "name": "n",
        "labels": {"on": "yes", "x.y/z": ""},
        "taints": [{"key": "k", "effect": "NoSchedule"}],
        "extendedResources": {"v/x": 3},
    },
    "kubelet": {
        "maxPods": 7,
        "evictionHard": {},
        "text": "a\nb\t\u0085",
        "number": 1e300,
        "list": [[], {}, None, False],
    },
    "hardware": {
        "model": "Any Processor",
        "cpus": "0-9",
        "offlineCPUs": "10",
        "isolatedCPUs": "2-3",
        "sockets": [{"id": 0, "cpus": "0-4"}, {"cpus": "5-9"}],
        "cores": ["0,2", "1,3"],
        "numaNodes": [{"id": 0, "cpus": "", "memory": 1 << 30, "hugepages": {"2Mi": 4 << 20}, "distances": [10, 20]}],
        "memory": 1 << 30,
        "hugepages": {"2Mi": 4 << 20},
        "l3Caches": [{"id": 1, "cpus": "0-3", "size": 1 << 20}, {"cpus": "4-7"}],
        "dies": ["0-3"],
        "clusters": ["0-1"],
        "cpuKinds": [{"kind": "performance", "cpus": "0-3"}],
        "allowed": {"cpus": "0", "numaNodes": "0", "cpuQuota": 1.5, "memory": 1 << 20},
        "pci": [
            {
                "address": "0000:3b:00.0",
                "class": "0200",
                "vendor": "8086",
                "device": "1592",
                "numaNode": -1,
                "driver": "ice",
                "names": ["eth0"],
                "root": "pci0000:3a",
                "rootPort": "0000:3a:00.0",
                "switch": "0000:3b:00.0",
                "physicalFunction": "0000:3b:00.1",
                "virtualFunctions": ["0000:3b:01.0"],
                "totalVFs": 8,
                "numVFs": 0,
            },
            {"address": "0000:00:00.0"},
        ],
    },
}


def read_back(text: str) -> Machine:
    return from_data(load_documents(text, "written")[0].data, "other")[0]


def test_plain_data_says_everything() -> None:
    assert dump(from_data(FULL, "m")[0]) == FULL


@pytest.mark.parametrize("write", [to_yaml, to_json])
def test_a_full_machine_round_trips(write: Any) -> None:
    machine = from_data(FULL, "m")[0]

    text = write(machine)

    assert read_back(text) == machine
    assert write(read_back(text)) == text


@pytest.mark.parametrize("name", bundled.names())
def test_bundled_machines_round_trip(name: str) -> None:
    machine = load_machine(name).machine

    assert read_back(to_yaml(machine)) == machine
    assert read_back(to_json(machine)) == machine
    assert to_yaml(read_back(to_yaml(machine))) == to_yaml(machine)


def test_json_has_bytes_and_yaml_sizes_that_people_read() -> None:
    machine = load_machine("figure-1").machine

    assert json.loads(to_json(machine))["numaNodes"][0]["memory"] == 16 << 30
    assert to_yaml(machine) == (
        "# yaml-language-server: $schema=numalign/schemas/machine.schema.json\n"
        "apiVersion: numalign/v1\n"
        "kind: Machine\n"
        "name: figure-1\n"
        "numaNodes:\n"
        '  - {id: 0, cpus: "0-3", memory: 16Gi, hugepages: {2Mi: 1Gi}, distances: [10, 20]}\n'
        '  - {id: 1, cpus: "4-7", memory: 16Gi, hugepages: {2Mi: 1Gi}, distances: [20, 10]}\n'
        'sockets: ["0-3", "4-7"]\n'
        "cores: [[0], [1], [2], [3], [4], [5], [6], [7]]\n"
        "devices:\n"
        "  gpu-vendor.com/gpu:\n"
        '    - {id: "0", numaNodes: [0]}\n'
        '    - {id: "1", numaNodes: [1]}\n'
        "  nic-vendor.com/nic:\n"
        '    - {id: "0", numaNodes: [0]}\n'
        '    - {id: "1", numaNodes: [1]}\n'
    )


TEXTS = ("0-3", "0-1048576", "2Mi", "1Gi", "9E", "1n", "v/gpu", "hugepages-2Mi", "numaNodes", "-1")
FORM = Form(TEXTS, bits=63, finite=True)  # larger numbers are floats when they come from a file
VALUES = rolled(lambda dice: dice.data(FORM))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a value."""
    if not isinstance(value, dict | list):
        return []
    found: list[tuple[Any, Any]] = []
    for key in value if isinstance(value, dict) else range(len(value)):
        found += [(value, key), *places(value[key])]
    return found


def mutated(dice: Dice) -> dict[str, Any]:
    """A machine file with up to three fields replaced, removed or added."""
    data = copy.deepcopy(FULL)
    for _ in range(dice.between(1, 3)):
        container, key = dice.pick(places(data))
        action = dice.pick(("replace", "remove", "add"))
        if action == "replace":
            container[key] = dice.data(FORM)
        elif action == "remove":
            del container[key]
        elif isinstance(container, dict):
            container[dice.pick((*FULL, "id", "pages", "regular", "x"))] = dice.data(FORM)
        else:
            container.insert(key, dice.data(FORM))
    return data


MUTATED = rolled(mutated)


@draws(200)
@given(MUTATED)
def test_whatever_is_in_a_file_it_is_a_machine_that_round_trips_or_refused(data: dict[str, Any]) -> None:
    try:
        machine, _ = from_data(data, "m")
    except InputError as error:
        refusal = str(error)
    else:
        text = to_yaml(machine)
        refusal = ""
        assert to_yaml(read_back(text)) == text

    assert "\n" not in refusal


@draws(80)
@given(MUTATED, VALUES, VALUES)
def test_whatever_is_in_a_scenario_it_is_a_machine_or_refused(
    data: dict[str, Any], devices: Any, preferred: Any
) -> None:
    hardware = {key: data[key] for key in ("numaNodes", "sockets", "cores", "uncoreCaches") if key in data}
    try:
        machine_from_scenario(hardware, devices, preferred)
    except InputError as error:
        where = error.where
    else:
        where = "nothing was refused"

    assert where
