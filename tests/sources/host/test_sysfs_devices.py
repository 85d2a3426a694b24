"""PCI devices get the names of their plugins by rules; whose node is not known is kept and flagged."""

from __future__ import annotations

from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.model.hardware import PCIFunction
from numalign.model.machine import Device
from numalign.sources.host.device_rules import DeviceRule, load_rules, name_devices, requestable
from numalign.sources.host.discovery import discover
from numalign.sources.host.pci import order, placed
from tests.sources.host import snapshots

VF = {"physical_function": "b"}
VFS = {"virtual_functions": ("b",)}
CASES: list[tuple[str, PCIFunction, str | None]] = [
    ("a data-centre NVIDIA GPU", PCIFunction("a", "0302", "10de", "2330"), "nvidia.com/gpu"),
    ("a consumer NVIDIA GPU", PCIFunction("a", "0300", "10de", "2204"), "nvidia.com/gpu"),
    ("an NVIDIA virtual function is no whole GPU", PCIFunction("a", "0302", "10de", "2330", **VF), None),
    ("an NVSwitch is a bridge", PCIFunction("a", "0680", "10de", "22a3"), None),
    ("an NVIDIA sound function", PCIFunction("a", "0403", "10de", "1aef"), None),
    ("AMD MI300", PCIFunction("a", "1200", "1002", "74a1"), "amd.com/gpu"),
    ("AMD MI250", PCIFunction("a", "0380", "1002", "740f"), "amd.com/gpu"),
    ("an Intel data-centre GPU under i915", PCIFunction("a", "0380", "8086", driver="i915"), "gpu.intel.com/i915"),
    ("an Intel GPU under xe", PCIFunction("a", "0300", "8086", "e20b", driver="xe"), "gpu.intel.com/xe"),
    ("Gaudi", PCIFunction("a", "1200", "1da3", "1020"), "habana.ai/gaudi"),
    ("a management VGA", PCIFunction("a", "0300", "1a03", "2000"), None),
    ("a QAT virtual function", PCIFunction("a", "0b40", "8086", "4941", **VF), "qat.intel.com/generic"),
    ("a QAT whose virtual functions are handed out", PCIFunction("a", "0b40", "8086", "4940", **VFS), None),
    ("a Xeon Phi is no QAT", PCIFunction("a", "0b40", "8086", "225c"), None),
    ("an Intel FPGA", PCIFunction("a", "1200", "8086", "09c4"), "fpga.intel.com/region"),
    ("a Xilinx FPGA", PCIFunction("a", "1200", "10ee", "5000"), "xilinx.com/fpga"),
    ("an Intel VF", PCIFunction("a", "0200", "8086", driver="iavf", **VF), "intel.com/intel_sriov_netdevice"),
    ("an Intel VF for DPDK", PCIFunction("a", "0200", "8086", driver="vfio-pci", **VF), "intel.com/intel_sriov_dpdk"),
    ("a Mellanox VF", PCIFunction("a", "0200", "15b3", "101e", **VF), "mellanox.com/mlnx_sriov_rdma"),
    ("a Mellanox VF, InfiniBand", PCIFunction("a", "0207", "15b3", **VF), "mellanox.com/mlnx_sriov_rdma_ib"),
    ("a VF of another maker", PCIFunction("a", "0200", "14e4", "1806", **VF), "intel.com/sriov_netdevice"),
    ("a card with RDMA", PCIFunction("a", "0200", "15b3", "1021", rdma=True), "rdma/hca_shared_devices_a"),
    ("an RDMA card whose VFs are handed out", PCIFunction("a", "0207", "15b3", rdma=True, num_vfs=4), None),
    ("a plain Ethernet card", PCIFunction("a", "0200", "8086", "1572"), None),
    ("EFA", PCIFunction("a", "0200", "1d0f", "efa2"), "vpc.amazonaws.com/efa"),
    ("NVMe is on request", PCIFunction("a", "0108", "144d", "a80a"), None),
    ("a device of which nothing is known", PCIFunction("a"), None),
]  # fmt: skip


@pytest.fixture(scope="module")
def rules() -> tuple[DeviceRule, ...]:
    return load_rules()


@pytest.mark.parametrize(("device", "resource"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_default_rules(device: PCIFunction, resource: str | None, rules: tuple[DeviceRule, ...]) -> None:
    assert list(name_devices([device], rules)) == ([resource] if resource else [])


def test_nvme_is_published_on_request(rules: tuple[DeviceRule, ...]) -> None:
    disk = PCIFunction("0000:01:00.0", "0108", "144d", "a80a", numa_node=1)
    assert "nvme" in requestable(rules)
    assert name_devices([disk], rules, frozenset(["nvme"])) == {"nvme.storage/disk": (Device("0000:01:00.0", (1,)),)}


@pytest.mark.parametrize(("node", "expected"), [(0, (0,)), (-1, None), (None, None)], ids=["told", "-1", "no file"])
def test_a_node_that_is_not_told_is_no_topology(node: int | None, expected: tuple[int, ...] | None) -> None:
    """Rule 3.2: customary plugins report no topology for -1, so the device never constrains alignment."""
    gpu = PCIFunction("g", "0302", "10de", numa_node=node)
    assert name_devices([gpu], [DeviceRule("a.b/c")]) == {"a.b/c": (Device("g", expected),)}


def test_a_rule_can_name_the_node_of_devices_that_tell_none() -> None:
    found = name_devices([PCIFunction("g", "0302", numa_node=-1)], [DeviceRule("a.b/c", unknown_node=1)])
    assert found == {"a.b/c": (Device("g", (1,)),)}


def test_a_rule_can_withhold_the_topology() -> None:
    found = name_devices([PCIFunction("g", "0302", numa_node=0)], [DeviceRule("a.b/c", topology=False)])
    assert found == {"a.b/c": (Device("g", None),)}


def test_the_first_rule_that_fits_takes_the_device(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "kind: DeviceRules\nrules:\n"
        '- {resource: first.io/x, class: "02", vendor: "8086", function: vf}\n'
        '- {resource: second.io/x, class: ["0200", "0x0207"], device: [1889, "37CD"]}\n'.replace("1889", '"1889"')
    )
    devices = [
        PCIFunction("a", "0200", "8086", "1889", physical_function="p"),
        PCIFunction("b", "0200", "8086", "37cd"),
    ]
    assert {name: found[0].id for name, found in name_devices(devices, load_rules(file)).items()} == {
        "first.io/x": "a",
        "second.io/x": "b",
    }


WRONG = [
    ("no list", "kind: DeviceRules\nrules: 3\n", "rules: expected a list"),
    ("another kind", "kind: Machine\n", "kind: expected DeviceRules"),
    ("an unknown key", "kind: DeviceRules\nrules: [{resource: a.b/c, klass: x}]\n", r"rules\[0\].klass: unknown key"),
    (
        "a name without a slash",
        "kind: DeviceRules\nrules: [{resource: gpu}]\n",
        r"rules\[0\].resource: expected a name",
    ),
    ("an id without quotes", "kind: DeviceRules\nrules: [{resource: a.b/c, vendor: 1002}]\n", "in quotes"),
    (
        "a function there is not",
        "kind: DeviceRules\nrules: [{resource: a.b/c, function: mf}]\n",
        "expected vf, pf, plain",
    ),
    ("a node that is none", "kind: DeviceRules\nrules: [{resource: a.b/c, unknownNode: x}]\n", "id of a NUMA node"),
    ("no YAML", "{[", "rules.yaml"),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_a_wrong_rules_file_says_where_and_what(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        load_rules(file)


def test_the_rules_of_the_documentation_are_rules(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "discover.md").read_text("utf-8")
    file = tmp_path / "rules.yaml"
    file.write_text(text.partition("```yaml\n")[2].partition("```")[0])
    assert [rule.resource for rule in load_rules(file)] == ["openshift.io/fast_nics", "nvidia.com/gpu"]


def test_virtual_functions_are_published_and_their_physical_ones_are_not() -> None:
    machine = snapshots.discovered("gen-hgx-h100-224c-2n").machine
    assert machine is not None
    assert {name: len(found) for name, found in machine.devices.items()} == {
        "intel.com/intel_sriov_dpdk": 2,
        "intel.com/intel_sriov_netdevice": 14,
        "mellanox.com/mlnx_sriov_rdma_ib": 8,
        "nvidia.com/gpu": 8,
        "rdma/hca_shared_devices_a": 6,
    }
    assert [device.numa_nodes for device in machine.devices["nvidia.com/gpu"]] == [(0,)] * 4 + [(1,)] * 4


def test_a_gpu_of_a_virtual_machine_is_kept_and_flagged() -> None:
    found = snapshots.discovered("host-8c-nvidia")
    assert found.machine is not None
    assert found.machine.devices["nvidia.com/gpu"] == (Device("0000:06:00.0", None),)
    assert "device-node-unknown" in {warning.code for warning in found.warnings}


def test_devices_behind_one_switch_share_it() -> None:
    devices = {device.address: device for device in snapshots.discovered("xeon-32c-8ve").hardware.pci}
    assert {devices[f"0000:{bus}:00.0"].switch for bus in ("1a", "1b", "1c", "1d", "1e")} == {"0000:18:00.0"}
    assert devices["0000:1b:00.0"].root_port == "0000:17:00.0"
    assert devices["0000:60:00.0"].switch == "0000:5e:00.0"


def test_a_bridge_below_a_root_port_is_no_switch() -> None:
    device = placed(PCIFunction("0000:03:00.0"), ("pci0000:00", "0000:00:1c.0", "0000:02:00.0"))
    assert device.switch is None
    assert device.root_port == "0000:00:1c.0"


def test_the_outermost_switch_is_told_where_it_is_not_the_nearest() -> None:
    """A GPU behind two levels of switches, and one with a switch of its own on its card; their NIC has one above it."""
    above = ("pci0000:07", "0000:07:01.0", "0000:08:00.0", "0000:09:00.0")
    nic = placed(PCIFunction("0000:0a:00.0"), above)
    gpu = placed(PCIFunction("0000:0f:00.0"), (*above, "0000:0d:00.0", "0000:0e:00.0"))
    assert (nic.switch, nic.outer_switch) == ("0000:08:00.0", None)
    assert (gpu.switch, gpu.outer_switch) == ("0000:0d:00.0", "0000:08:00.0")


def test_addresses_are_ordered_as_numbers() -> None:
    addresses = ["10000:00:00.0", "0000:80:00.0", "0000:09:1f.7", "0000:09:00.0"]
    assert sorted(addresses, key=order) == addresses[::-1]


def test_rules_apply_to_a_captured_tree() -> None:
    path = str(snapshots.FOLDER / "vm-linux61-40c-6n-sriov.tar.xz")
    found = discover(path, load_rules(), frozenset(["nvme"]))
    assert found.machine is not None
    assert [device.numa_nodes for device in found.machine.devices["nvme.storage/vf"]] == [(1,)] * 4
