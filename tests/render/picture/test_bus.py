"""The PCI bus in the picture of a machine: who is below one switch is in one frame."""

from __future__ import annotations

from xml.etree import ElementTree

from numalign.analysis.closeness import buses
from numalign.model.hardware import Hardware, PCIFunction
from numalign.render.picture.chips import GUESSED
from numalign.render.picture.machine import draw
from numalign.sources.machine.loading import load_machine
from tests.sources.host import snapshots

SVG = "{http://www.w3.org/2000/svg}"


def test_switches_of_a_real_machine_hold_their_accelerators_and_ports() -> None:
    machine = snapshots.discovered("xeon-32c-8ve").machine
    assert machine is not None
    found = {
        switch: [function.names[-1] if function.names else function.address for function in listed]
        for bus in buses(machine)[0]
        for switch, listed in bus.switches.items()
    }
    assert found == {
        "0000:18:00.0": ["ve0", "ve1", "ve2", "ve3", "0000:1a:00.0"],
        "0000:3b:00.0": ["ve4", "ve5", "ve6", "ve7", "0000:3e:00.0"],
    }
    texts = [str(text.text) for text in ElementTree.fromstring(draw(machine).svg).iter(f"{SVG}text")]
    assert "switch 18:00.0" in texts
    assert "switch 3b:00.0" in texts


def test_a_root_without_an_accelerator_is_not_drawn() -> None:
    nic = PCIFunction("0000:02:00.0", "0200", numa_node=0, root="pci0000:00")
    gpu = PCIFunction("0000:81:00.0", "0302", numa_node=1, root="pci0000:80")
    machine = load_machine("figure-1").machine
    assert buses(machine._replace(hardware=Hardware(pci=(nic, gpu)))) == {}
    near = nic._replace(address="0000:82:00.0", numa_node=1, root="pci0000:80")
    (bus,) = buses(machine._replace(hardware=Hardware(pci=(nic, gpu, near))))[1]
    assert (bus.root, bus.switches) == ("pci0000:80", {"": (gpu, near)})


def test_a_device_that_only_sys_places_is_on_the_wall_of_its_node() -> None:
    machine = snapshots.discovered("gen-hgx-h100-224c-2n").machine
    assert machine is not None
    picture = draw(machine).svg
    assert picture.count(GUESSED) == 6 + 1, "six devices, and the key"
    assert "rdma/hca_shared_devices_a ×3" in picture
    assert "0000:40:00.0: NUMA node from /sys, not from the device plugin" in picture
