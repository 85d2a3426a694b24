"""The picture of a machine can be read: texts keep apart, stay inside and are large enough, states have shapes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import NamedTuple

import pytest

from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.render.picture.chips import LOOSE, PLAIN, RESOURCE
from numalign.render.picture.machine import draw
from numalign.render.picture.machine_looks import KEY, SEATS
from numalign.sources.machine.loading import load_machine
from tests.sources.host import snapshots

SVG = "{http://www.w3.org/2000/svg}"
WIDEST = 0.61
"""Width of a character of the widest font named in the picture, in font sizes."""

CAPTURED = (
    "laptop-i7-1270p",
    "xeon-32c-8ve",
    "gen-hgx-h100-224c-2n",
    "gen-epyc9965-768c-8n",
    "gen-uv-1792c-32n",
    "vm-linux61-40c-6n-sriov",
    "amd64-8n-cpuset-cpu4off",
    "gb200-144c-34n",
    "ia64-256c-64n",
    "power7-256c-8n-smt4",
    "power9-v100-nodes",
    "s390-20c-books",
    "xeon-96c-4n",
    "xeon-16c-2n-mic-ib-dax",
    "xeon-offline-cpu0-node0",
    "worker-112c-2n",
)
BUNDLED = ("figure-1",)


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    text: str

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def picture(name: str) -> ET.Element:
    machine = load_machine(name).machine if name in BUNDLED else snapshots.discovered(name).machine
    assert machine is not None
    return ET.fromstring(draw(machine).svg)


def texts(root: ET.Element) -> list[Box]:
    """Return where each text is, with the full height of the font above and below its base line."""
    boxes = []
    for item in root.iter(f"{SVG}text"):
        size, x, y = (float(item.attrib[key]) for key in ("font-size", "x", "y"))
        text = item.text or ""
        width = len(text) * size * WIDEST
        anchor = item.attrib.get("text-anchor", "start")
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        boxes.append(Box(left, y - 0.78 * size, left + width, y + 0.22 * size, text))
    return boxes


@pytest.mark.parametrize("name", snapshots.each([*CAPTURED, *BUNDLED]))
def test_no_two_texts_overlap(name: str) -> None:
    boxes = sorted(texts(picture(name)), key=lambda box: box.top)
    for index, box in enumerate(boxes):
        for other in boxes[index + 1 :]:
            if other.top >= box.bottom:
                break
            assert not box.overlaps(other), (box, other)


@pytest.mark.parametrize("name", snapshots.each([*CAPTURED, *BUNDLED]))
def test_everything_is_inside_the_frame(name: str) -> None:
    root = picture(name)
    _, _, width, height = (float(number) for number in root.attrib["viewBox"].split())

    for box in texts(root):
        assert box.left >= 0, box
        assert box.top >= 0, box
        assert box.right <= width, box
        assert box.bottom <= height, box
    for item in root.iter(f"{SVG}rect"):
        if "x" in item.attrib:
            x, y, wide, high = (float(item.attrib[key]) for key in ("x", "y", "width", "height"))
            assert x >= 0, item.attrib
            assert y >= 0, item.attrib
            assert x + wide <= width, item.attrib
            assert y + high <= height, item.attrib


@pytest.mark.parametrize("name", snapshots.each([*CAPTURED, *BUNDLED]))
def test_the_smallest_text_has_9_pixels_at_a_width_of_1200(name: str) -> None:
    root = picture(name)

    assert root.attrib["viewBox"].split()[2] == "1200"
    assert min(float(item.attrib["font-size"]) for item in root.iter(f"{SVG}text")) >= 9


def test_every_state_differs_by_more_than_its_colour() -> None:
    """Two seats, or two devices, have another outline, corner or hatching."""
    looks = [_colourless(look) for look in SEATS.values()]
    assert len(set(looks)) == len(SEATS)
    chips = [_colourless(look) for look in (LOOSE, PLAIN, f"cut corner {RESOURCE}")]
    assert len(set(chips)) == len(chips)
    assert set(SEATS) < set(KEY)


def test_each_online_cpu_has_one_seat() -> None:
    machine = snapshots.discovered("gen-epyc9965-768c-8n").machine
    assert machine is not None
    titles = [item.text or "" for item in ET.fromstring(draw(machine).svg).iter(f"{SVG}title")]
    seats = [title for title in titles if title.startswith("CPU ")]
    assert len(seats) == len(set(seats)) == machine.cpus.bit_count()


def test_offline_and_barred_cpus_are_named_in_the_key() -> None:
    root = picture("amd64-8n-cpuset-cpu4off")
    written = {box.text for box in texts(root)}
    assert {"CPU that is offline", "CPU this process may not use", "CPU"} <= written


def test_unequal_distances_between_neighbours_are_both_written() -> None:
    nodes = (NUMANode(0, 1, 1 << 30, {}, (10, 17)), NUMANode(1, 2, 1 << 30, {}, (28, 10)))
    machine = Machine("two", nodes, (Unit(0, 3),), (1, 2))
    written = [box.text for box in texts(ET.fromstring(draw(machine).svg))]
    assert written.count("17") == written.count("28") == 2  # in the gutter and in the table


def test_hostile_names_are_cut_and_escaped() -> None:
    device = Device("<&" + "x" * 300, (0,))
    machine = Machine(
        "<script>" * 60, (NUMANode(0, 1, 1),), (Unit(0, 1),), (1,), devices={"a.b/" + "c" * 300: (device,)}
    )
    root = ET.fromstring(draw(machine).svg)
    assert all(box.right <= 1200 for box in texts(root))


def _colourless(look: str) -> tuple[str, ...]:
    parts = [part for part in look.replace('" ', '"\n').split("\n") if not part.startswith(("stroke=", 'fill="#'))]
    return tuple(sorted(parts))
