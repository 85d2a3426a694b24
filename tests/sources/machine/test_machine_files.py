"""Finding machines: bundled ones, files, standard input, formats; and the JSON Schema of the file."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.model.cpuset import format_set
from numalign.sources.machine import bundled
from numalign.sources.machine.dump import dump
from numalign.sources.machine.loading import load_machine
from numalign.sources.text.yaml import load_file
from tests import packages
from tests.schemas import validator

ROOT = Path(__file__).parents[3]

MACHINE = """\
# a comment
numaNodes:
  - id: 0
    cpus: "0-3"
    memory: 1Gi
"""


class TestFiles:
    def test_the_name_is_the_files_unless_it_names_itself(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        file.write_text(MACHINE, encoding="utf-8")

        loaded = load_machine(str(file))

        assert (loaded.machine.name, loaded.origin, loaded.warnings) == ("mine", str(file), ())

    def test_a_format_is_told_by_content(self, tmp_path: Path) -> None:
        """JSON in a file of any name; XML is taken for hwloc's."""
        file = tmp_path / "machine.txt"
        file.write_text(json.dumps({"numaNodes": [{"id": 0, "cpus": "0", "memory": 1}]}), encoding="utf-8")
        assert load_machine(str(file)).machine.cpus == 1

        file.write_text("  <topology", encoding="utf-8")
        with pytest.raises(InputError, match="XML"):
            load_machine(str(file))

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MACHINE.encode())))

        assert load_machine("-").machine.cpus == 15

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (MACHINE.replace('"0-3"', '"0-"'), ':4: numaNodes[0].cpus: expected a CPU list like "0-3,8", got "0-"'),
            (MACHINE + "node:\n  label: {}\n", ":7: node.label: unknown key; hint: similar: labels"),
            (MACHINE + "---\n" + MACHINE, ": expected one machine, got 2 documents"),
            ("", ": expected one machine, got 0 documents"),
            ("a: [", ":"),
        ],
        ids=["a bad field", "an unknown key", "two machines", "nothing", "no YAML"],
    )
    def test_errors_name_file_line_and_field(self, tmp_path: Path, text: str, message: str) -> None:
        file = tmp_path / "m.yaml"
        file.write_text(text, encoding="utf-8")

        with pytest.raises(InputError) as caught:
            load_machine(str(file))

        assert str(caught.value).startswith(f"{file}{message}")

    def test_warnings_name_them_too(self, tmp_path: Path) -> None:
        file = tmp_path / "m.yaml"
        file.write_text(MACHINE.replace("id: 0", "id: 70"), encoding="utf-8")

        assert [warning.path for warning in load_machine(str(file)).warnings] == [f"{file}:3: numaNodes[0].id"]

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("figure1", '"figure1": no file and no bundled machine has this name; hint: similar: figure-1'),
            ("zzz", '"zzz": no file and no bundled machine has this name; hint: numalign machines lists all'),
            ("", '"": no file and no bundled machine has this name; hint: numalign machines lists all'),
            ("a\0b", r'"a\x00b": no file'),
            ("x" * 5000, '"xxx'),
            ("/", "/: cannot be read: Is a directory"),
        ],
        ids=["nearly a bundled one", "nothing like it", "empty", "a NUL", "very long", "a folder"],
    )
    def test_what_is_not_there(self, spec: str, message: str) -> None:
        with pytest.raises(InputError) as caught:
            load_machine(spec)

        assert str(caught.value).startswith(message)

    def test_a_file_in_the_way_does_not_hide_a_bundled_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "figure-1").write_text(MACHINE, encoding="utf-8")

        assert load_machine("figure-1").origin == "bundled"
        assert load_machine("./figure-1").origin == "./figure-1"


class TestBundled:
    @pytest.mark.parametrize("name", bundled.names())
    def test_each_is_what_its_name_says(self, name: str) -> None:
        """No warnings, no kubelet section, and a first line that tells what it is."""
        loaded = load_machine(name)

        assert (loaded.machine.name, loaded.warnings, loaded.machine.kubelet) == (name, (), None)
        assert bundled.text(name).startswith("# ")
        assert 10 < len(bundled.description(name)) < 70

    def test_figure_1_is_the_announcements_node(self) -> None:
        machine = load_machine("figure-1").machine

        assert [node.cpus for node in machine.numa_nodes] == [0x0F, 0xF0]
        assert {
            name: [(device.id, device.numa_nodes) for device in devices] for name, devices in machine.devices.items()
        } == {
            "gpu-vendor.com/gpu": [("0", (0,)), ("1", (1,))],
            "nic-vendor.com/nic": [("0", (0,)), ("1", (1,))],
        }

    def test_dgx_1_has_the_ten_pairs_with_two_links(self) -> None:
        """docs/rules/device-manager.md example 7."""
        links = load_machine("dgx-1").machine.links["nvidia.com/gpu"]

        pairs = [(int(one[3:]), int(other[3:])) for one, other, count in links if count == 2]
        assert pairs == [(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 7), (5, 6), (6, 7)]

    @pytest.mark.parametrize(
        ("name", "nodes", "cpus"),
        [("hgx-h100", 2, 224), ("gb200", 34, 144), ("xeon-8s", 8, 256), ("epyc-2s-nps4", 8, 256), ("xeon-4s", 4, 224)],
    )
    def test_sizes(self, name: str, nodes: int, cpus: int) -> None:
        machine = load_machine(name).machine

        assert (len(machine.numa_nodes), machine.cpus.bit_count()) == (nodes, cpus)

    @pytest.mark.parametrize(
        ("name", "cpus", "devices"),
        [
            (
                "p4d.24xlarge",
                ("0-23,48-71", "24-47,72-95"),
                {"nvidia.com/gpu": (4, 4), "vpc.amazonaws.com/efa": (2, 2)},
            ),
            (
                "p5.48xlarge",
                ("0-47,96-143", "48-95,144-191"),
                {"nvidia.com/gpu": (4, 4), "vpc.amazonaws.com/efa": (16, 16)},
            ),
            ("a3-highgpu-8g", ("0-51,104-155", "52-103,156-207"), {"nvidia.com/gpu": (4, 4)}),
            ("nd96isr-h100-v5", ("0-47", "48-95"), {"nvidia.com/gpu": (4, 4), "mellanox.com/ib": (4, 4)}),
            ("nd96isr-mi300x-v5", ("0-47", "48-95"), {"amd.com/gpu": (4, 4), "mellanox.com/ib": (4, 4)}),
            ("m7i.metal-48xl", ("0-47,96-143", "48-95,144-191"), {}),
            ("c7a.metal-48xl", ("0-95", "96-191"), {}),
            ("gb300", ("0-71", "72-143"), {"nvidia.com/gpu": (2, 2)}),
        ],
    )
    def test_a_shape_that_people_rent_says_where_its_facts_are_from(
        self, name: str, cpus: tuple[str, str], devices: dict[str, tuple[int, int]]
    ) -> None:
        machine = load_machine(name).machine
        found = {
            resource: tuple(sum(node in (device.numa_nodes or ()) for device in each) for node in (0, 1))
            for resource, each in machine.devices.items()
        }

        assert tuple(format_set(node.cpus) for node in machine.numa_nodes[:2]) == cpus
        assert found == devices
        assert re.search(r"^# Sources: .*\S", bundled.text(name), re.M)
        assert re.search(r"^# (Derived|Taken for granted)", bundled.text(name), re.M)

    def test_they_are_found_from_any_folder(self, tmp_path: Path) -> None:
        code = "from numalign.sources.machine.loading import load_machine; print(load_machine('dgx-1').machine.name)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )

        assert done.stdout == "dgx-1\n", done.stderr

    @packages.TOGETHER
    def test_they_come_with_a_wheel(self, checkout_packages: tuple[Path, Path], tmp_path: Path) -> None:
        """Unpacked as an installer would, away from the checkout."""
        with zipfile.ZipFile(checkout_packages[0]) as wheel:
            wheel.extractall(tmp_path / "site")
        code = (
            "import numalign; from numalign.sources.machine import bundled, file as machine_file;"
            "print(numalign.__file__, *bundled.names(), sep='\\n'); machine_file.load_machine('gb200')"
        )
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path / "site")},  # the editable install comes later on sys.path
            capture_output=True,
            text=True,
        )

        assert done.stdout.splitlines() == [str(tmp_path / "site/numalign/__init__.py"), *bundled.names()], done.stderr
        assert (tmp_path / "site/numalign/schemas/machine.schema.json").is_file()


class TestSchema:
    @pytest.mark.parametrize("name", bundled.names())
    def test_bundled_machines_obey_it_as_written_and_as_dumped(self, name: str) -> None:
        validator("machine").validate(load_file(bundled.path(name))[0].data)
        validator("machine").validate(dump(load_machine(name).machine))

    @pytest.mark.parametrize(
        "broken",
        [
            [],
            {},
            {"numaNodes": []},
            {"numaNodes": [{"id": 0}], "regular": {"coresPerNumaNode": 1}},
            {"numaNodes": [{"id": 0}], "socket": []},
            {"numaNodes": [{"id": "0"}]},
            {"numaNodes": [{"cpus": "0"}]},
            {"numaNodes": [{"id": 0, "cpus": "0-"}]},
            {"numaNodes": [{"id": 0, "memory": "16GiB"}]},
            {"numaNodes": [{"id": 0, "memory": -1}]},
            {"numaNodes": [{"id": 0, "hugepages": {"2Mi": {"page": 1}}}]},
            {"numaNodes": [{"id": 0, "distances": ["10"]}]},
            {"numaNodes": [{"id": 0}], "sockets": [{"cpus": "0"}]},
            {"numaNodes": [{"id": 0}], "devices": {"gpu": []}},
            {"numaNodes": [{"id": 0}], "devices": {"v/g": [{"numaNode": 0}]}},
            {"numaNodes": [{"id": 0}], "devices": {"v/g": [{"id": "a", "numaNode": 0, "numaNodes": [0]}]}},
            {"numaNodes": [{"id": 0}], "links": [["a", "b"]]},
            {"numaNodes": [{"id": 0}], "kind": "Pod"},
            {"regular": {"sockets": 2}},
            {"regular": {"coresPerNumaNode": 4, "sockets": 0}},
            {"regular": {"coresPerNumaNode": 4}, "cores": []},
        ],
        ids=lambda broken: json.dumps(broken)[:60],
    )
    def test_broken_machines_do_not(self, broken: Any, tmp_path: Path) -> None:
        """What the schema refuses the loader refuses too."""
        assert not validator("machine").is_valid(broken)

        file = tmp_path / "broken.json"
        file.write_text(json.dumps(broken), encoding="utf-8")
        with pytest.raises(InputError):
            load_machine(str(file))
