"""The picture of an admission: every CPU and device is drawn once, in its node, in the colour of who holds it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine
from numalign.render.picture.occupants import COLOURS, draw_occupants
from numalign.render.picture.page import admit_page
from numalign.sources.machine import bundled
from numalign.sources.machine.file import load_machine
from numalign.sources.pods import manifest
from numalign.tasks.admit import admit
from tests.cli.running import PODS, ROOT, in_process

SVG = "{http://www.w3.org/2000/svg}"


def drawn(machine: Machine, *names: str, policy: str = "best-effort") -> ElementTree.Element:
    options = {"max-allowable-numa-nodes": "64"} if len(machine.numa_nodes) > 8 else None
    config = IDEAL._replace(topology_manager_policy=policy, topology_manager_policy_options=options)
    pods = manifest.read([PODS / f"{name}.yaml" for name in names]).pods
    return ElementTree.fromstring(draw_occupants(admit(Setup(machine, config, "ideal"), pods, occupants=True)))


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
    assert any("nobody knows" in str(text.text) for text in picture.iter(f"{SVG}text"))


def test_a_page_holds_the_picture_and_the_table() -> None:
    setup = Setup(load_machine("figure-1").machine, IDEAL, "ideal")
    result = admit(setup, manifest.read([PODS / "announcement.yaml"]).pods, occupants=True, reasons=True)
    page = admit_page(result, "bundled")
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
