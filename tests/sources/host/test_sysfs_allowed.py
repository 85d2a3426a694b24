"""What a container's cgroups allow is read from wherever the kernel at hand tells it."""

from __future__ import annotations

import pytest

from numalign.sources.host.confinement import Allowed, is_cgroup_v1, read_allowed
from tests.sources.host.fake_tree import FakeTree, Files

ONLINE, NODES = 0xFF, 0b11

CASES: list[tuple[str, Files, Allowed | None]] = [
    ("nothing is told", {}, None),
    ("everything is allowed", {"proc/self/status": "Cpus_allowed_list:\t0-7\nMems_allowed_list:\t0-1\n"}, None),
    (
        "affinity",
        {"proc/self/status": "Cpus_allowed_list:\t2-3\nMems_allowed_list:\t1\n"},
        Allowed(cpus=0b1100, numa_nodes=0b10),
    ),
    (
        "cgroup v2 in a namespace of its own",
        {
            "proc/self/cgroup": "0::/\n",
            "proc/mounts": "cgroup /sys/fs/cgroup cgroup2 ro,nosuid 0 0\n",
            "sys/fs/cgroup/cpuset.cpus.effective": "4-7\n",
            "sys/fs/cgroup/cpuset.mems.effective": "0-1\n",
            "sys/fs/cgroup/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/memory.max": "1073741824\n",
        },
        Allowed(cpus=0xF0, cpu_quota=1.5, memory=1 << 30),
    ),
    (
        "cgroup v2 below a slice, without limits",
        {
            "proc/self/cgroup": "0::/kube.slice/pod\n",
            "sys/fs/cgroup/kube.slice/pod/cpu.max": "max 100000\n",
            "sys/fs/cgroup/kube.slice/pod/memory.max": "max\n",
            "sys/fs/cgroup/kube.slice/pod/cpuset.cpus.effective": "0-7\n",
        },
        None,
    ),
    (
        "cgroup v1",
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/box\n4:memory:/box\n3:cpuset:/box\n",
            "proc/mounts": "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
            "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
            "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n",
            "sys/fs/cgroup/cpuset/box/cpuset.cpus": "0-1\n",
            "sys/fs/cgroup/cpuset/box/cpuset.mems": "0\n",
            "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "4096\n",
        },
        Allowed(cpus=0b11, numa_nodes=0b1, cpu_quota=2.0, memory=4096),
    ),
    (
        "cgroup v1 without limits",
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/box\n4:memory:/box\n",
            "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "9223372036854771712\n",
        },
        None,
    ),
    (
        "the cpuset file system before cgroups",
        {
            "proc/self/cpuset": "/batch\n",
            "proc/mounts": "none /dev/cpuset cpuset rw 0 0\n",
            "dev/cpuset/batch/cpus": "6\n",
            "dev/cpuset/batch/mems": "0-1\n",
        },
        Allowed(cpus=0x40),
    ),
    (
        "lists that are no lists limit nothing",
        {"proc/self/status": "Cpus_allowed_list:\tall\n", "proc/self/cgroup": "garbage\n::\n"},
        None,
    ),
]


@pytest.mark.parametrize(("files", "allowed"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_may_be_used(files: Files, allowed: Allowed | None) -> None:
    assert read_allowed(FakeTree(files), ONLINE, NODES) == allowed


V1 = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
VERSIONS: list[tuple[str, Files, bool]] = [
    ("nobody knows", {}, False),
    ("no control groups are mounted", {"proc/mounts": "proc /proc proc rw 0 0\n"}, False),
    ("v2", {"proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"}, False),
    ("v1", {"proc/mounts": V1}, True),
    ("v1 with v2 beside it", {"proc/mounts": f"{V1}cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"}, True),
    ("v2 with a named group of v1 beside it", {"proc/mounts": f"cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n{V1}"}, False),
]


@pytest.mark.parametrize(("files", "v1"), [case[1:] for case in VERSIONS], ids=[case[0] for case in VERSIONS])
def test_which_control_groups_a_host_runs(files: Files, v1: bool) -> None:
    assert is_cgroup_v1(FakeTree(files)) is v1
