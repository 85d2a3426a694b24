"""The picture of an admission: every CPU and device is drawn once, in its node, in the colour of who holds it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine
from numalign.render.picture.canvas import page as page_of
from numalign.render.picture.occupants import COLOURS, draw_occupants
from numalign.render.text.admit import admit_document
from numalign.sources.machine import bundled
from numalign.sources.machine.file import load_machine
from numalign.sources.pods import manifest
from numalign.tasks.admit import admit
from tests.cli.running import PODS, ROOT, in_process

SVG = "{http://www.w3.org/2000/svg}"


def drawn(machine: Machine, *names: str, policy: str = "best-effort") -> ElementTree.Element:
    options = {"max-allowable-numa-nodes": "64"} if len(machine.numa_nodes) > 8 else None
    config = IDEAL._replace(topology_manager_policy=policy, topology_manager_policy_options=options)
    pods = manifest.read_pods([PODS / f"{name}.yaml" for name in names]).pods
    return ElementTree.fromstring(draw_occupants(admit(Setup(machine, config, "ideal"), pods, occupants=True)).svg)


def titles(picture: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {str(rect[0].text): rect for rect in picture.iter(f"{SVG}rect") if len(rect)}


@pytest.mark.parametrize("name", [name for name in bundled.names() if not name.startswith("power9")])
def test_every_cpu_and_device_is_drawn_once_inside_the_picture(name: str) -> None:
    machine = load_machine(name).machine
    picture = drawn(machine, "announcement", "burstable")
    said = [str(rect[0].text) for rect in picture.iter(f"{SVG}rect") if len(rect)]
    assert sum(text.startswith("CPU ") for text in said) == machine.cpus.bit_count()
    for resource, devices in machine.devices.items():
        for device in devices:
            assert sum(text.startswith(f"{resource} {device.id}:") for text in said) == 1
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    for rect in picture.iter(f"{SVG}rect"):
        right = float(rect.get("x", 0)) + float(rect.attrib["width"].removesuffix("%"))
        bottom = float(rect.get("y", 0)) + float(rect.attrib["height"].removesuffix("%"))
        assert right <= width + 0.5
        assert bottom <= height + 0.5


def test_what_a_container_holds_has_its_colour() -> None:
    found = titles(drawn(load_machine("figure-1").machine, "announcement", policy="single-numa-node"))
    first = {text for text, rect in found.items() if rect.get("fill") == COLOURS[0]}
    assert first == {
        "CPU 0: numa-aligned-1/numa-aligned-container",
        "CPU 1: numa-aligned-1/numa-aligned-container",
        "gpu-vendor.com/gpu 0: numa-aligned-1/numa-aligned-container",
        "nic-vendor.com/nic 0: numa-aligned-1/numa-aligned-container",
    }
    assert found["CPU 2: shared pool"].get("fill") == "#ffffff"


def test_a_device_whose_node_only_sys_tells_is_drawn_in_it_dashed() -> None:
    machine = load_machine("figure-1").machine
    devices = {"v.com/d": (Device("0000:01:00.0"), Device("0000:02:00.0"))}
    machine = machine._replace(devices=devices, hardware=Hardware(pci=(PCIFunction("0000:01:00.0", numa_node=1),)))
    picture = drawn(machine, "burstable")
    (told,) = [rect for text, rect in titles(picture).items() if "0000:01:00.0" in text]
    assert "stroke-dasharray" in told.attrib
    assert any("unknown NUMA node" in str(text.text) for text in picture.iter(f"{SVG}text"))


def test_a_page_holds_the_picture_and_the_table() -> None:
    setup = Setup(load_machine("figure-1").machine, IDEAL, "ideal")
    result = admit(setup, manifest.read_pods([PODS / "announcement.yaml"]).pods, occupants=True, reasons=True)
    page = page_of(draw_occupants(result), admit_document(result, "bundled"))
    assert page.startswith("<!DOCTYPE html>")
    assert "numa-aligned-1  admitted" in page
    assert not re.search(r"(src|href)=", page)


@pytest.mark.parametrize("output", ["svg", "html"])
def test_the_command_prints_it(output: str) -> None:
    done = in_process("admit", PODS / "announcement.yaml", "-m", "figure-1", "--policy", "none", "-o", output)
    assert done.status == 1
    assert "<svg" in done.out


def test_the_picture_of_the_readme_is_what_is_drawn_today() -> None:
    """Written by: numalign admit docs/examples/gpu-nic.yaml … -o svg > docs/admit.svg."""
    words = ("docs/examples/vllm.yaml", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "best-effort")
    assert (ROOT / "docs/admit.svg").read_text(encoding="utf-8") == in_process("admit", *words, "-o", "svg").out


def bus_machine() -> Machine:
    """Two GPUs and a NIC, of which a plugin tells no node: the first GPU shares the NIC's switch."""
    gpu = PCIFunction("0000:01:00.0", "0302", numa_node=0, root="pci0000:00", switch="0000:00:01.0")
    nic = gpu._replace(address="0000:02:00.0", class_id="0200", names=("eth0", "mlx5_0"))
    far = gpu._replace(address="0000:81:00.0", numa_node=1, root="pci0000:80", switch=None)
    devices = {
        "v.com/gpu": (Device(gpu.address, (0,)), Device(far.address, (1,))),
        "v.com/nic": (Device("mlx5_0"),),
    }
    return load_machine("figure-1").machine._replace(devices=devices, hardware=Hardware(pci=(gpu, nic, far)))


def test_how_close_devices_are_on_the_bus_stands_beside_the_verdict() -> None:
    limits = {"cpu": 2, "memory": "1Gi", "v.com/gpu": 2, "v.com/nic": 1}
    spec = {"containers": [{"name": "c", "resources": {"limits": limits}}]}
    asked = read_pod({"metadata": {"name": "p"}, "spec": spec})
    setup = Setup(bus_machine(), IDEAL, "ideal")
    picture = ElementTree.fromstring(draw_occupants(admit(setup, [asked], occupants=True)).svg)

    said = [str(text.text) for text in picture.iter(f"{SVG}text")]

    assert "v.com/gpu and v.com/nic: 1 below the same PCIe switch, 1 on different NUMA nodes" in said
    (nic,) = [rect for text, rect in titles(picture).items() if "mlx5_0" in text]
    assert "stroke-dasharray" in nic.attrib


def compared(*words: str) -> tuple[list[str], list[str]]:
    """The heads of the pictures, and what each CPU's title says."""
    picture = ElementTree.fromstring(in_process("compare", *words, "-o", "svg").out)
    heads = [str(text.text) for text in picture.iter(f"{SVG}text") if text.get("font-size") == "18"]
    return heads, [text for text in titles(picture) if text.startswith("CPU ")]


def test_compare_draws_before_and_after() -> None:
    heads, _ = compared("docs/examples/vllm.yaml", "-m", "hgx-h100", "--policy", "single-numa-node")
    assert heads == ["before, as given: hgx-h100", "after, the best that was tried: hgx-h100"]


def test_compare_draws_once_where_nothing_is_better() -> None:
    heads, _ = compared("pods/announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node")
    assert heads == ["as given (nothing that was tried is better): figure-1"]


def test_a_kubelet_that_does_not_start_is_told_in_the_picture() -> None:
    done = in_process("compare", "pods/guaranteed-4cpu-1gpu.yaml", "-m", "gb200", "--policy", "restricted", "-o", "svg")
    assert "the kubelet would not start: unsupported on machines with more than 8 NUMA Nodes" in done.out


def test_an_upgrade_is_drawn_before_and_after() -> None:
    words = ("pods/pod-level.yaml", "-m", "hgx-h100", "--policy", "restricted", "--kubelet-version", "1.32,1.36")
    heads, cpus = compared(*words)
    assert heads == ["before, kubelet 1.32: hgx-h100", "after, kubelet 1.36: hgx-h100"]
    assert any("trainer/train" in text for text in cpus)


def test_a_container_keeps_its_letter_in_both_pictures() -> None:
    words = ("docs/examples/vllm.yaml", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "none", "-o", "svg")
    picture = ElementTree.fromstring(in_process("compare", *words).out)
    looks = {
        (who, rect.get("fill"))
        for rect in picture.iter(f"{SVG}rect")
        if len(rect) and (who := str(rect[0].text).partition(": ")[2]) in ("vllm/server", "rank/train")
    }
    assert len(looks) == 2


def test_a_comparison_as_a_page_has_the_pictures_and_the_table() -> None:
    done = in_process("compare", "pods/announcement.yaml", "-m", "figure-1", "-o", "html")
    assert done.out.count("<svg") == 1
    assert "No variant admits every pod." in done.out
