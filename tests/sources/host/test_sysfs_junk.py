"""Whatever stands in the files of a host, discovery answers; the small text forms are read strictly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import NumalignError
from numalign.model.cpuset import format_set
from numalign.render.picture.machine import draw
from numalign.sources.host.discovery import discover
from numalign.sources.host.text import cpu_list, cpu_map, page_name, size_bytes
from numalign.sources.machine.dump import to_json
from tests.dice import draws
from tests.sources.host.fake_tree import CPU, NODE, FakeTree, Files, two_cpus

JUNK = st.sampled_from(
    ["", "\n", "-1", "0", "0-1", "1-0", "9" * 30, "9" * 5000, "0-99999999", "x", "\0", "²", "٣", "0,,1", "ffffffff,0",
     "10 10", "-5 -5", "MemTotal: " + "9" * 5000 + " kB", "é" * 100, "\x1b[31m"]
)  # fmt: skip
PATHS = [
    *sorted(two_cpus()),
    f"{CPU}/present",
    f"{CPU}/cpu99999999999999/topology/core_id",
    f"{CPU}/cpu0/topology/cluster_id",
    f"{CPU}/cpu0/topology/cluster_cpus",
    f"{CPU}/cpu0/cache/index3/level",
    f"{CPU}/cpu0/cache/index3/id",
    f"{CPU}/cpu0/cache/index3/shared_cpu_map",
    f"{CPU}/cpu0/cpu_capacity",
    f"{NODE}/node1/cpu1/x",
    f"{NODE}/node99999999999999/cpulist",
    f"{NODE}/node1048577/cpulist",
    f"{NODE}/online",
    "sys/bus/pci/devices/0000:00:00.0/class",
    "sys/bus/pci/devices/0000:00:00.0/numa_node",
    "proc/self/status",
    "proc/self/cgroup",
    "proc/mounts",
    "proc/cpuinfo",
]


@given(st.dictionaries(st.sampled_from(PATHS), JUNK, max_size=6))
@draws(160)
def test_junk_is_answered_with_a_machine_or_a_sentence(changes: dict[str, str]) -> None:
    files: Files = {**two_cpus(), **changes}
    try:
        found = discover(FakeTree(files))
    except NumalignError:
        return
    if found.machine is None:
        assert found.kubelet_error
    else:
        to_json(found.machine)
        draw(found.machine)


@given(st.sets(st.integers(0, 5000)))
def test_a_list_is_read_back(members: set[int]) -> None:
    cpus = sum(1 << member for member in members)
    assert cpu_list(format_set(cpus) + "\n") == cpus


@given(st.integers(0, (1 << 2048) - 1))
def test_a_map_is_read_back(cpus: int) -> None:
    words = [f"{cpus >> shift & 0xFFFFFFFF:08x}" for shift in range(2016, -1, -32)]
    assert cpu_map(",".join(words) + "\n") == cpus
    assert cpu_map(",".join(word.lstrip("0") or "0" for word in words)) == cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("", 0), ("\n", 0), ("0-30:2", 0x55555555), ("0-3,8,10-11\n", 0xD0F), ("5\n\0", 0x20)],
    ids=["empty", "a line", "strides", "ranges", "an old capture's NUL"],
)
def test_forms_of_a_list(text: str, cpus: int) -> None:
    assert cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["x", "3-1", "0-", "0,,1", "0-9999999999", "1;2", "-1"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(ValueError, match="expected a list"):
        cpu_list(text)


@pytest.mark.parametrize("text", ["x", "", "123456789", "0," * 40000 + "0"])
def test_what_is_no_map(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (int's own message is as good)
        cpu_map(text)


def test_sizes() -> None:
    assert [size_bytes(text) for text in ("32K\n", "16M", "", "big", "12 parsecs")] == [
        32768,
        1 << 24,
        None,
        None,
        None,
    ]
    assert [page_name(size) for size in (64, 2048, 524288, 1048576, 16777216)] == [
        "64Ki",
        "2Mi",
        "512Mi",
        "1Gi",
        "16Gi",
    ]
