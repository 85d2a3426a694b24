"""Machine files in full: what is accepted, what it means, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.errors import InputError
from numalign.model.cpuset import format_set
from numalign.model.hardware import Hardware
from numalign.model.machine import Device, Machine, Taint, Unit
from numalign.sources.machine.file import from_data, machine_from_scenario


def two_nodes(**more: Any) -> dict[str, Any]:
    nodes = [{"id": 0, "cpus": "0-3", "memory": "1Gi"}, {"id": 1, "cpus": "4-7", "memory": "1Gi"}]
    return {"numaNodes": nodes, **more}


def one_node(**more: Any) -> dict[str, Any]:
    return {"numaNodes": [{"id": 0, "cpus": "0-3", "memory": "1Gi"}], **more}


def read(data: object) -> Machine:
    return from_data(data, "m")[0]


def refusal(data: object) -> str:
    with pytest.raises(InputError) as caught:
        from_data(data, "m")
    return str(caught.value)


class TestNodes:
    def test_quantities_and_cpu_lists_become_whole_numbers(self) -> None:
        """Quantities may be written the Kubernetes way, CPU sets the Linux way or as lists."""
        machine = read({"numaNodes": [{"id": 0, "cpus": [0, 1, 5], "memory": "1.5Gi", "hugepages": {"2Mi": "4Mi"}}]})

        node = machine.numa_nodes[0]
        assert (format_set(node.cpus), node.memory, node.hugepages) == ("0-1,5", 3 << 29, {"2Mi": 4 << 20})

    def test_cores_and_sockets_left_out_are_one_a_cpu_and_one_a_node(self) -> None:
        machine = read(two_nodes())

        assert machine.cores == tuple(1 << cpu for cpu in range(8))
        assert machine.sockets == (Unit(0, 0x0F), Unit(1, 0xF0))

    def test_a_node_without_cpus_is_no_socket_by_default(self) -> None:
        machine = read({"numaNodes": [{"id": 0}, {"id": 1, "cpus": "0-1", "memory": 1}]})

        assert machine.sockets == (Unit(0, 0b11),)

    def test_units_may_name_their_id(self) -> None:
        machine = read(two_nodes(sockets=["0-3", {"id": 36, "cpus": "4-7"}], uncoreCaches=[{"id": 9, "cpus": "0-1"}]))

        assert machine.sockets == (Unit(0, 0x0F), Unit(36, 0xF0))
        assert machine.uncore_caches == (Unit(9, 0b11),)

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"2Mi": 2097152}, {"2Mi": 2097152}),
            ({"2Mi": {"pages": 1024}}, {"2Mi": 2 << 30}),
            ({"2048Ki": "2Gi"}, {"2Mi": 2 << 30}),
            ({"1073741824": 0}, {"1Gi": 0}),
            ({"1Gi": "4Gi", "2Mi": 0}, {"1Gi": 4 << 30, "2Mi": 0}),
        ],
        ids=["bytes", "pages", "another name of the size", "a size in bytes", "two sizes"],
    )
    def test_huge_pages_are_bytes_by_the_kubelets_name_of_the_size(
        self, given: dict[str, Any], expected: dict[str, int]
    ) -> None:
        node = {"id": 0, "cpus": "0", "memory": "8Gi", "hugepages": given}

        assert read({"numaNodes": [node]}).numa_nodes[0].hugepages == expected


class TestDevices:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"id": "a", "numaNodes": [0, 1]}, Device("a", (0, 1))),
            ({"id": "a", "numaNode": 1}, Device("a", (1,))),
            ({"id": "a", "numaNodes": None}, Device("a", None)),
            ({"id": "a", "numaNodes": []}, Device("a", ())),
            ({"id": "a", "numaNodes": [-1]}, Device("a", (-1,))),
            ({"id": 0, "numaNode": 0, "unhealthy": True}, Device("0", (0,), False)),
        ],
        ids=["several nodes", "one node", "no topology", "empty topology", "unknown node", "unhealthy, number as id"],
    )
    def test_the_topology_cases_stay_apart(self, given: dict[str, Any], expected: Device) -> None:
        """docs/rules/device-manager.md 1.3."""
        assert read(two_nodes(devices={"v/gpu": [given]})).devices == {"v/gpu": (expected,)}

    def test_a_bare_id_is_on_the_only_node(self) -> None:
        machine = read({"numaNodes": [{"id": 7, "cpus": "0", "memory": 1}], "devices": {"v/gpu": ["a", {"id": "b"}]}})

        assert machine.devices == {"v/gpu": (Device("a", (7,)), Device("b", (7,)))}

    @pytest.mark.parametrize("links", [[["a", "b", 2]], {"v/gpu": [["a", "b", 2]]}], ids=["list", "by resource"])
    def test_links_belong_to_a_resource(self, links: object) -> None:
        machine = read(one_node(devices={"v/gpu": ["a", "b"], "v/nic": ["n"]}, links=links))

        assert machine.links == {"v/gpu": (("a", "b", 2),)}

    def test_preferred_sets_keep_their_order(self) -> None:
        sets = {"v/gpu": [["b", "a"], ["a"]]}

        assert read(one_node(devices={"v/gpu": ["a", "b"]}, preferredAllocation=sets)).preferred_allocation == {
            "v/gpu": (("b", "a"), ("a",))
        }


def test_the_other_sections_are_kept() -> None:
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    node = {"name": "n1", "labels": {"a": ""}, "taints": taints, "extendedResources": {"v/x": 2}}
    machine = read(
        one_node(node=node, kubelet={"maxPods": 3}, totalMemory="2Gi", storage="1Ti", hardware={"model": "m"})
    )

    assert machine.node.taints == (Taint("gpu", "", "NoSchedule"),)
    assert (machine.node.name, machine.node.labels, machine.node.extended_resources) == ("n1", {"a": ""}, {"v/x": 2})
    assert (machine.total_memory, machine.storage) == (2 << 30, 1 << 40)
    assert (machine.kubelet, machine.hardware) == ({"maxPods": 3}, Hardware(model="m"))


def nodes(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"numaNodes": list(entries), **more}


REFUSED = {
    "not a mapping": ([], "expected a machine: a mapping with numaNodes or regular, got a list"),
    "nothing in it": ({}, "numaNodes: expected the list of NUMA nodes, got nothing"),
    "no node": ({"numaNodes": []}, "numaNodes: expected at least one NUMA node"),
    "another kind": (one_node(kind="Pod"), 'kind: expected Machine, got "Pod"'),
    "another version": (one_node(apiVersion="v1"), 'apiVersion: expected numalign/v1, got "v1"'),
    "an unknown key": (one_node(socket=[]), "socket: unknown key; hint: similar: sockets"),
    "an unknown key in a node": (
        nodes({"id": 0, "hugePages": {}}),
        "numaNodes[0].hugePages: unknown key; hint: similar: hugepages",
    ),
    "a node without an id": (nodes({"cpus": "0"}), "numaNodes[0].id: expected the NUMA node's id, got nothing"),
    "an id that is text": (nodes({"id": "0"}), 'numaNodes[0].id: expected a NUMA node id, got "0"'),
    "an id that is true": (nodes({"id": True}), "numaNodes[0].id: expected a NUMA node id, got true"),
    "an id twice": (nodes({"id": 0}, {"id": 0}), "numaNodes[1].id: NUMA node 0 is given twice"),
    "a broken CPU list": (
        nodes({"id": 0}, {"id": 1, "cpus": "0-"}),
        'numaNodes[1].cpus: expected a CPU list like "0-3,8", got "0-"',
    ),
    "a CPU beyond any machine": (nodes({"id": 0, "cpus": "99999"}), "numaNodes[0].cpus: CPU ids may go up to 16383"),
    "a CPU far beyond": (
        nodes({"id": 0, "cpus": "0-9999999999"}),
        "numaNodes[0].cpus: CPU id 9999999999 is too large",
    ),
    "a CPU list with a CPU twice": (
        nodes({"id": 0, "cpus": [1, 1]}),
        "numaNodes[0].cpus[1]: CPU 1 is in the list twice",
    ),
    "a CPU list with text": (nodes({"id": 0, "cpus": ["1"]}), 'numaNodes[0].cpus[0]: expected a CPU id, got "1"'),
    "CPUs in two nodes": (
        nodes({"id": 0, "cpus": "0-3"}, {"id": 1, "cpus": "3-7"}),
        "numaNodes[1].cpus: CPU 3 is in an earlier NUMA node too",
    ),
    "memory that is no quantity": (
        nodes({"id": 0, "memory": "16GiB"}),
        'numaNodes[0].memory: expected bytes or a quantity like "256Gi", got "16GiB"',
    ),
    "memory in parts of bytes": (
        nodes({"id": 0, "memory": "1500m"}),
        'numaNodes[0].memory: expected a whole number of bytes, got "1500m"',
    ),
    "negative memory": (nodes({"id": 0, "memory": -1}), "numaNodes[0].memory: expected bytes from 0 to 2^63-1, got -1"),
    "huge pages that are a count": (
        nodes({"id": 0, "memory": "8Gi", "hugepages": {"2Mi": 1024}}),
        (
            'numaNodes[0].hugepages["2Mi"]: 1024 is 1024 bytes, not a multiple of the 2Mi page; '
            'fix: for 1024 pages write {pages: 1024} or "2Gi"'
        ),
    ),
    "a page size that is none": (
        nodes({"id": 0, "hugepages": {"2M": 0}}),
        'numaNodes[0].hugepages["2M"]: expected a page size like "2Mi" or "1Gi", got "2M"',
    ),
    "a page size twice": (
        nodes({"id": 0, "hugepages": {"2Mi": 0, "2048Ki": 0}}),
        'numaNodes[0].hugepages["2048Ki"]: duplicate page size 2Mi',
    ),
    "a distance row too short": (
        nodes({"id": 0, "distances": [10]}, {"id": 1}),
        "numaNodes[0].distances: expected 2 distances, one a NUMA node in ascending order of ids, got 1",
    ),
    "a distance that is text": (
        nodes({"id": 0, "distances": ["10"]}),
        'numaNodes[0].distances[0]: expected a distance, got "10"',
    ),
    "a socket with a foreign CPU": (two_nodes(sockets=["0-7,9"]), "sockets[0]: CPU 9 is in no NUMA node"),
    "sockets that leave CPUs out": (
        two_nodes(sockets=["0-3"]),
        "sockets: expected every CPU of the NUMA nodes, 4-7 is missing",
    ),
    "overlapping sockets": (two_nodes(sockets=["0-4", "4-7"]), "sockets[1]: CPU 4 is in an earlier entry too"),
    "a socket id twice": (
        two_nodes(sockets=["0-3", {"id": 0, "cpus": "4-7"}]),
        "sockets[1]: socket 0 is given twice",
    ),
    "an empty core": (one_node(cores=["0-3", ""]), "cores[1]: expected at least one CPU"),
    "overlapping cores": (one_node(cores=["0-1", "1-3"]), "cores[1]: CPU 1 is in an earlier entry too"),
    "a core in two nodes": (
        two_nodes(cores=["0-2", "3-4", "5-7"]),
        "cores[1]: expected the core 3-4 to lie in one NUMA node, 4 is outside",
    ),
    "a core in two sockets": (
        one_node(sockets=["0-1", "2-3"], cores=["0", "1-2", "3"]),
        "cores[1]: expected the core 1-2 to lie in one socket, 2 is outside",
    ),
    "a core partly in a cache": (
        one_node(uncoreCaches=["0-1"], cores=["0", "1-2", "3"]),
        "cores[1]: expected the core 1-2 to lie in one uncore cache, 2 is outside",
    ),
    "a native resource as device": (
        one_node(devices={"cpu": []}),
        'devices.cpu: expected the name of an extended resource like "nvidia.com/gpu"',
    ),
    "a bare device on two nodes": (
        two_nodes(devices={"v/gpu": ["a"]}),
        (
            'devices["v/gpu"][0]: device a has no NUMA node, and the machine has 2 NUMA nodes; '
            "fix: write {id: a, numaNode: N}, or {id: a, numaNodes: null} if unknown"
        ),
    ),
    "a device twice": (one_node(devices={"v/gpu": ["a", "a"]}), 'devices["v/gpu"][1]: the id a is given twice'),
    "a device with both spellings": (
        one_node(devices={"v/gpu": [{"id": "a", "numaNode": 0, "numaNodes": [0]}]}),
        'devices["v/gpu"][0].numaNode: expected numaNode or numaNodes, got both',
    ),
    "a link to nobody": (
        one_node(devices={"v/gpu": ["a"]}, links={"v/gpu": [["a", "z", 1]]}),
        'links["v/gpu"][0]: unknown device id "z"',
    ),
    "links of two resources": (
        one_node(devices={"v/gpu": ["a", "b"], "v/nic": ["a", "b"]}, links=[["a", "b", 1]]),
        "links: expected ids of exactly one resource, 2 have all of them; write links: {RESOURCE: […]}",
    ),
    "a link twice": (
        one_node(devices={"v/gpu": ["a", "b"]}, links=[["a", "b", 1], ["b", "a", 1]]),
        "links[1]: duplicate link between b and a",
    ),
    "regular and full": (
        one_node(regular={"coresPerNumaNode": 1}),
        "numaNodes: expected either regular: or the sections in full, got both",
    ),
    "a key with a line break": (one_node(**{"a\nb": 1}), r'expected printable keys, got "a\nb"'),
    "a label with a line break": (one_node(node={"labels": {"a\nb": ""}}), "node.labels: expected printable keys"),
    "a name with a line break": (one_node(name="a\nb"), "name: expected the machine's name of printable characters"),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses_with_the_place_and_what_would_be_right(data: object, message: str) -> None:
    found = refusal(data)

    assert found == message or found.startswith(message)


WARNED = {
    "an id beyond the bit masks": (nodes({"id": 64, "cpus": "0", "memory": 1}), "node-id"),
    "a negative id": (nodes({"id": -1, "cpus": "0", "memory": 1}), "node-id"),
    "a row longer than the nodes": (
        nodes({"id": 0, "cpus": "0", "memory": 1, "distances": [10, 21]}),
        "distances-long",
    ),
    "a node without a row": (
        nodes({"id": 0, "cpus": "0", "memory": 1, "distances": [10, 21]}, {"id": 1}),
        "distances-partial",
    ),
    "more huge pages than memory": (
        nodes({"id": 0, "cpus": "0", "memory": 1, "hugepages": {"2Mi": "2Mi"}}),
        "hugepages-exceed",
    ),
    "no CPU": (nodes({"id": 0, "memory": 1}), "no-cpus"),
    "no memory": (nodes({"id": 0, "cpus": "0"}), "no-memory"),
    "a device on an unknown node": (one_node(devices={"v/g": [{"id": "a", "numaNode": 5}]}), "device-node"),
    "a preferred set of unknown devices": (one_node(preferredAllocation={"v/g": [["a"]]}), "preferred-unknown"),
}


@pytest.mark.parametrize(("data", "code"), WARNED.values(), ids=WARNED.keys())
def test_takes_what_is_odd_but_real_with_a_warning(data: object, code: str) -> None:
    _, warnings = from_data(data, "m")

    assert [warning.code for warning in warnings] == [code]


class TestScenario:
    def test_devices_stand_beside_the_machine(self) -> None:
        machine = machine_from_scenario(two_nodes(), {"v/gpu": [{"id": "a", "numaNodes": None}]}, {"v/gpu": [["a"]]})

        assert machine.devices == {"v/gpu": (Device("a", None),)}
        assert machine.preferred_allocation == {"v/gpu": (("a",),)}

    @pytest.mark.parametrize(
        ("machine", "devices", "where"),
        [
            ({"numaNodes": [{"id": 0, "cpus": "x"}]}, None, "machine.numaNodes[0].cpus"),
            (two_nodes(cores=["0-7"]), None, "machine.cores[0]"),
            (two_nodes(node={}), None, "machine.node"),
            (two_nodes(), {"v/g": [{"id": "a", "numaNodes": [0]}] * 2}, 'devices["v/g"][1]'),
        ],
        ids=["a bad field", "an impossible core", "an unknown key", "a device twice"],
    )
    def test_errors_carry_the_path_in_the_scenario(self, machine: Any, devices: Any, where: str) -> None:
        with pytest.raises(InputError) as caught:
            machine_from_scenario(machine, devices)

        assert caught.value.where == where
