"""Which memory counts as a process's own, node by node (docs/rules/verify.md W-13, W-14)."""

from __future__ import annotations

import pytest

from numalign.analysis.verify.observed import hugetlb_stat, numa_stat, own_pages

LINES = [
    ("anonymous memory", "7f default anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4", {0: 8192, 1: 4096}),
    ("pages of a size that is not said", "7f default anon=1 N0=1", {0: 4096}),
    ("huge pages", "7f default huge anon=1 N1=1 kernelpagesize_kB=2048", {1: 2 << 20}),
    ("huge pages of a file", "7f default file=/huge/x huge N1=1 kernelpagesize_kB=2048", {1: 2 << 20}),
    ("program text", "7f default file=/bin/x mapped=4 N0=4 kernelpagesize_kB=4", {0: 0}),
    ("what was written of a file", "7f default file=/bin/x anon=2 N0=3 N1=1 kernelpagesize_kB=4", {0: 4096, 1: 0}),
    ("all of it", "7f default file=/bin/x anon=9 N0=3 N1=1 kernelpagesize_kB=4", {0: 12288, 1: 4096}),
    ("shared memory", "7f default file=/dev/shm/x mapped=1 N0=1 kernelpagesize_kB=4", {0: 4096}),
    ("memory that has a name", "7f default file=/memfd:x N1=2 kernelpagesize_kB=4", {1: 8192}),
    ("System V", "7f default file=/SYSV0000 N1=2 kernelpagesize_kB=4", {1: 8192}),
    ("no pages", "7f default file=/bin/x", {}),
    ("none of a file", "7f default file=/bin/x N0=0 kernelpagesize_kB=4", {}),
    ("nothing", "", {}),
]


@pytest.mark.parametrize(("line", "bytes_"), [row[1:] for row in LINES], ids=[row[0] for row in LINES])
def test_a_mapping_counts(line: str, bytes_: dict[int, int]) -> None:
    assert own_pages(line) == bytes_


def test_mappings_add_up() -> None:
    assert own_pages("\n".join(line for _, line, _ in LINES[:3])) == {0: 8192 + 4096, 1: 4096 + (2 << 20)}


def test_what_a_group_has() -> None:
    text = "anon N0=10 N1=20\nfile N0=1000\nshmem N1=5\nanon_thp N0=7\n"
    assert numa_stat(text) == {0: 10, 1: 25}
    assert hugetlb_stat("total=3 N0=1 N1=2\nhierarchical_total=9 N0=9\n") == {0: 1, 1: 2}
    assert numa_stat("") == hugetlb_stat("") == {}
