"""Dumps for `--slices` are read item by item: what is found, where errors are, and how much memory it takes."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.sources.cluster.claims import read_slices
from tests.dra.objects import claim, device, device_class, request, resource_slice

API = {"apiVersion": "resource.k8s.io/v1"}
NUMBER = 1000
MAX_TIMES = 12
"""How often the memory may hold the file, at most."""


def objects(slices: int, devices: int = 2) -> list[dict[str, Any]]:
    made = [device(f"gpu-{index}", numa=index % 2) for index in range(devices)]
    return [
        {**API, "kind": "DeviceClass", **device_class("gpu")},
        {**API, "kind": "ResourceClaim", **claim("mine", request("g", "gpu"))},
        *(
            {**API, "kind": "ResourceSlice", **resource_slice("gpu.example.com", made, f"node-{number}")}
            for number in range(slices)
        ),
    ]


def written(folder: Path, data: object, **how: Any) -> str:
    path = folder / "dump.json"
    path.write_text(json.dumps(data, **how), encoding="utf-8")
    return str(path)


def test_a_list_is_read_item_by_item_with_the_line_of_each(tmp_path: Path) -> None:
    found = read_slices(written(tmp_path, {"apiVersion": "v1", "items": objects(3), "kind": "List"}, indent=1))

    assert [one.placement.node_name for one in found.slices] == ["node-0", "node-1", "node-2"]
    assert list(found.classes) == ["gpu"]
    [placed] = found.claims.values()
    lines = (tmp_path / "dump.json").read_text(encoding="utf-8").splitlines()
    line = int(placed.origin.rpartition(":")[2])
    assert any("ResourceClaim" in text for text in lines[line - 1 : line + 3])


def test_items_take_their_kind_from_the_list_that_the_api_server_gives(tmp_path: Path) -> None:
    items = [{key: value for key, value in one.items() if key != "kind"} for one in objects(2)[2:]]

    found = read_slices(written(tmp_path, {"kind": "ResourceSliceList", **API, "items": items}))

    assert len(found.slices) == 2


def test_lists_in_lists_and_one_object_after_the_other_are_read(tmp_path: Path) -> None:
    first, second, *slices = objects(2)
    path = tmp_path / "dump.json"
    inner = {"apiVersion": "v1", "kind": "List", "items": slices}
    path.write_text("\n".join(map(json.dumps, [first, second, {"kind": "List", "items": [inner]}])), encoding="utf-8")

    assert len(read_slices(path).slices) == 2


def test_standard_input_is_read_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"kind": "List", "items": objects(2)}).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    assert len(read_slices("-").slices) == 2


WRONG = [
    ("a device without a name", {"devices": [{}]}, r"dump\.json:[0-9]+: spec\.devices\[0\]\.name: is missing"),
    ("devices that are no list", {"devices": 3}, r"dump\.json:[0-9]+: spec\.devices: expected a list"),
]


@pytest.mark.parametrize(("spec", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_wrong_is_told_with_its_line_and_field(spec: dict[str, Any], message: str, tmp_path: Path) -> None:
    items = objects(1)
    items[2]["spec"] |= spec

    with pytest.raises(InputError, match=message):
        read_slices(written(tmp_path, {"kind": "List", "items": items}, indent=1))


@pytest.mark.parametrize("text", ['{"items": [', '{"items": [{"kind": "ResourceSlice"', '{"items": [1]}', "{} x", "{"])
def test_what_is_no_dump_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(text, encoding="utf-8")

    with pytest.raises(InputError):
        read_slices(tmp_path / "dump.json")


def test_the_memory_that_a_dump_takes_is_bounded(tmp_path: Path) -> None:
    read_slices(written(tmp_path, {"kind": "List", "items": objects(1)}))  # what is made once does not count
    path = written(tmp_path, {"kind": "List", "items": objects(NUMBER, devices=12)})
    size = (tmp_path / "dump.json").stat().st_size
    assert size > 1 << 20
    tracemalloc.start()
    try:
        found = read_slices(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(found.slices) == NUMBER
    assert most < MAX_TIMES * size
