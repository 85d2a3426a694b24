"""`numalign machines`."""

from __future__ import annotations

import json

import pytest
import yaml
from click.testing import CliRunner

from numalign.cli.commands.machines import command
from numalign.sources.machine import bundled
from numalign.sources.machine.file import from_data
from numalign.sources.machine.loading import load_machine
from tests.cli.running import ROOT, in_process

PASTES = ROOT / "tests" / "pastes"


def output(*arguments: str) -> str:
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_the_table_has_a_line_a_machine() -> None:
    lines = output().splitlines()

    assert lines[0].split() == ["NAME", "SOCKETS", "NUMA", "NODES", "CPUS", "MEMORY", "DEVICES", "DESCRIPTION"]
    assert tuple(line.split()[0] for line in lines[1 : lines.index("")]) == bundled.names()
    assert "dgx-1                       2           2    80   512Gi  4 ib, 8 gpu" in output()


def test_names_alone() -> None:
    assert output("-o", "name").splitlines() == list(bundled.names())


@pytest.mark.parametrize(
    "read", [lambda: json.loads(output("-o", "json")), lambda: yaml.safe_load(output("-o", "yaml"))]
)
def test_the_list_as_data(read: object) -> None:
    data = read()

    assert data["kind"] == "MachineList"
    assert [item["name"] for item in data["items"]] == list(bundled.names())
    assert next(item for item in data["items"] if item["name"] == "dgx-1") == {
        "name": "dgx-1",
        "description": "NVIDIA DGX-1 (V100): eight GPUs joined by NVLinks",
        "sockets": 2,
        "numaNodes": 2,
        "cpus": 80,
        "memory": 512 << 30,
        "devices": {"mellanox.com/ib": 4, "nvidia.com/gpu": 8},
    }


def test_a_word_lists_the_machines_it_finds() -> None:
    assert output("gb200", "-o", "name") == "gb200\n"
    assert [line.split()[0] for line in output("b200").splitlines()[1:5]] == list(bundled.meant_by("b200"))
    assert json.loads(output("mi300x", "-o", "json"))["items"][0]["name"] == "nd96isr-mi300x-v5"


def test_a_machine_is_printed_as_it_was_written() -> None:
    assert output("dgx-1") == output("dgx-1", "-o", "yaml") == bundled.text("dgx-1")


def test_a_machine_in_full() -> None:
    assert from_data(json.loads(output("dgx-1", "-o", "json")), "")[0] == load_machine("dgx-1").machine


def test_quiet_prints_nothing() -> None:
    assert output("-q") == ""


@pytest.mark.parametrize("name", bundled.names())
def test_every_machine_can_be_drawn_and_has_settings_suggested(name: str) -> None:
    drawn = in_process("discover", "--machine", name, "-o", "svg")
    assert (drawn.status, "<svg " in drawn.out) == (0, True)
    assert in_process("config", "suggest", "--machine", name).status == 0


def test_several_outputs_are_one_machine_and_their_names_are_given_back() -> None:
    lscpu, topo = str(PASTES / "two-sockets.lscpu.txt"), str(PASTES / "two-sockets.nvidia-topo.txt")
    done = in_process("discover", "--machine", lscpu, "--machine", topo, "--memory-per-numa-node", "8Gi")
    assert done.status == 0
    assert "SAME SWITCH  COMMON BRIDGE" in done.out
    assert f"--machine {lscpu} --machine {topo} --memory-per-numa-node 8Gi --save machine.yaml" in done.out
    assert in_process("discover", "--machine", topo).status == 2
