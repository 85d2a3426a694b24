"""The bundled machines: found by what people call them, and true to what is known of them."""

from __future__ import annotations

import pytest

from numalign.analysis.closeness import reaches
from numalign.errors import InputError
from numalign.model.cpuset import parse
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dgx-1", ("dgx-1",)),
        ("b200", ("a4-highgpu-8g", "hgx-b200", "hgx-b200-snc2", "p6-b200.48xlarge")),
        ("MI300X", ("nd96isr-mi300x-v5",)),
        ("Standard_ND96isr_H100_v5", ("nd96isr-h100-v5",)),
        ("PowerEdge-XE9680", ("xe9680", "xe9680-snc4")),
        ("dgx a100", ("dgx-a100",)),
        ("nothing", ()),
        ("--", ()),
    ],
)
def test_a_word_finds_machines(word: str, expected: tuple[str, ...]) -> None:
    assert bundled.meant_by(word) == expected


@pytest.mark.parametrize(
    "word", ["mi325x", "Gaudi 3", "a3-megagpu-8g", "m8i.metal-96xl", "ND96isr_H200_v5", "g7e.48xlarge"]
)
def test_nobody_has_described_these(word: str) -> None:
    with pytest.raises(InputError, match=r"not described yet; fix: .*--capture"):
        bundled.check_known(word)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("gb3000", "hint: similar: gb300"),
        ("mi300x", "hint: similar: nd96isr-mi300x-v5"),
        ("xyz", "hint: numalign machines lists all"),
        ("p5.48xlarg", "hint: similar: p5.48xlarge"),
    ],
)
def test_near_names_mean_what_people_mean(word: str, says: str) -> None:
    assert says in bundled.nearest(word)


TWO = [0] * 4 + [1] * 4
FACTS = {
    "dgx-a100": (256, ["0-15,128-143", "16-31,144-159"], [3, 3, 1, 1, 7, 7, 5, 5]),
    "bm.gpu.a100-v2.8": (256, ["0-15,128-143", "16-31,144-159"], [3, 3, 1, 1, 7, 7, 5, 5]),
    "nd96asr-a100-v4": (96, ["0-23", "24-47"], [1, 1, 0, 0, 3, 3, 2, 2]),
    "p5e.48xlarge": (192, ["0-23,96-119", "24-47,120-143"], [1, 1, 0, 0, 3, 3, 2, 2]),
    "xe9680-snc4": (208, ["0-12,104-116", "13-25,117-129"], [0, 2, 3, 1, 4, 6, 7, 5]),
    "xe9680": (224, ["0-222:2", "1-223:2"], TWO),
    "hgx-h100-snc2": (192, ["0-23,96-119", "24-47,120-143"], [0, 0, 0, 1, 2, 2, 2, 3]),
    "hgx-h100-snc4": (96, ["0-11", "12-23"], [0, 0, 2, 2, 4, 4, 6, 6]),
    "dgx-h100": (224, ["0-55,112-167", "56-111,168-223"], TWO),
    "hgx-b200": (224, ["0-55,112-167", "56-111,168-223"], TWO),
    "hgx-b200-snc2": (224, ["0-27,112-139", "28-55,140-167"], [0, 0, 1, 1, 2, 2, 3, 3]),
    "hgx-b300": (256, ["0-63,128-191", "64-127,192-255"], TWO),
    "bm.gpu.h100.8": (224, ["0-55,112-167", "56-111,168-223"], TWO),
    "a4-highgpu-8g": (224, ["0-55,112-167", "56-111,168-223"], TWO),
    "p5en.48xlarge": (192, ["0-47,96-143", "48-95,144-191"], TWO),
    "p6-b200.48xlarge": (192, ["0-47,96-143", "48-95,144-191"], TWO),
    "p6-b300.48xlarge": (192, ["0-47,96-143", "48-95,144-191"], TWO),
    "p6e-gb200.36xlarge": (144, ["0-71", "72-143"], [0, 0, 1, 1]),
    "mi355x": (384, ["0-95,192-287", "96-191,288-383"], TWO),
    "granite-rapids-snc3": (384, ["0-31,192-223", "32-63,224-255"], []),
    "xeon-max-flat": (208, ["0-51,104-155", "52-103,156-207", "", ""], []),
    "epyc-2s-l3-as-numa": (384, ["0-7,192-199", "8-15,200-207"], []),
    "gh200": (72, ["0-71", ""], [0]),
}
"""Machine -> CPUs in all, those of the first NUMA nodes, the node of each GPU."""


@pytest.mark.parametrize("name", FACTS)
def test_a_machine_is_as_its_sources_say(name: str) -> None:
    cpus, nodes, gpus = FACTS[name]
    machine = load_machine(name).machine
    assert machine.cpus.bit_count() == cpus
    assert [node.cpus for node in machine.numa_nodes[: len(nodes)]] == [
        sum(1 << cpu for cpu in range(int(text.partition("-")[0]), cpus, 2)) if ":" in text else parse(text)
        for text in nodes
    ]
    devices = machine.devices.get(GPU, machine.devices.get("amd.com/gpu", ()))
    assert [device.numa_nodes for device in devices] == [(node,) for node in gpus]


NEAR = {
    "dgx-a100": ("common bridge", {"gpu0": {"mlx5_0", "mlx5_1"}, "gpu6": {"mlx5_8", "mlx5_9"}}),
    "dgx-h100": ("common bridge", {"gpu0": {"mlx5_0"}, "gpu5": {"mlx5_9"}}),
    "bm.gpu.h100.8": ("common bridge", {"gpu0": {"mlx5_0"}, "gpu7": {"mlx5_16"}}),
    "hgx-b300": ("common bridge", {"gpu3": {"mlx5_13"}}),
    "mi355x": ("common bridge", {}),
    "xe9680-snc4": ("same switch", {"gpu1": {"mlx5_3"}, "gpu7": {"mlx5_11"}}),
    "hgx-b200-snc2": ("same switch", {"gpu1": {"mlx5_7"}, "gpu7": {"mlx5_15"}}),
    "a4-highgpu-8g": ("same switch", {"gpu3": {"gpu2rdma0", "gpu3rdma0"}}),
    "p5.48xlarge": ("same switch", {"gpu0": {"rdmap79s0", "rdmap80s0", "rdmap81s0", "rdmap82s0"}}),
    "p4d.24xlarge": ("same root", {"gpu7": {"rdmap160s27"}}),
    "p5en.48xlarge": ("same switch", {"gpu7": {"rdmap160s0", "rdmap161s0", "rdmap162s0", "rdmap163s0"}}),
    "p6-b200.48xlarge": ("same switch", {"gpu0": {"rdmap79s0", "rdmap80s0"}}),
    "p6-b300.48xlarge": ("same switch", {"gpu0": {"rdmap86s0", "rdmap87s0"}}),
    "p6e-gb200.36xlarge": ("same switch", {"gpu0": {"rdmap39s0", "rdmap40s0"}, "gpu2": {"rdmap154s0", "rdmap155s0"}}),
    "nd96isr-h100-v5": ("same switch", {}),
}
"""Machine -> what GPU and NIC share, and by GPU the ports that it shares that with."""


@pytest.mark.parametrize("name", NEAR)
def test_gpus_and_their_ports_talk_below_one_switch(name: str) -> None:
    how, ports = NEAR[name]
    found = {
        reach.accelerator.names[-1] if reach.accelerator.names else reach.accelerator.address: {
            port.names[-1] if port.names else port.address
            for near in ("same switch", how)
            for port in reach.ports.get(near, ())  # type: ignore[call-overload]  # one of the names of closeness
        }
        for reach in reaches(load_machine(name).machine)
    }
    assert len(found) in (4, 8)
    assert all(found.values()), found
    assert {gpu: found[gpu] for gpu in ports} == ports


def test_the_names_by_size_are_those_of_all_machines() -> None:
    def size(name: str) -> tuple[int, str]:
        return load_machine(name).machine.cpus.bit_count(), name

    assert list(bundled.SMALLEST_FIRST) == sorted(bundled.names(), key=size)
