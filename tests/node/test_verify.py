"""`verify` on built trees: every layout of control groups, every finding; and on real processes of the test itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.verify.observed import hugetlb_stat, numa_stat, own_pages
from numalign.model.cpuset import format_set, from_ids
from numalign.sources.node import observe
from numalign.sources.node.facts import NodeFacts
from numalign.sources.tree.folder import FolderTree
from tests.cli.running import ENVIRONMENT, ROOT, Done, command, in_process
from tests.kubelet.state_nodes import STATE
from tests.node.fake_root import DRIVERS, RUNTIMES, FakeContainer, FakeRoot, Layout
from tests.schemas import strictly

NODE = STATE / "two-socket-restricted"
NODES = {0: "0-7,16-23", 1: "8-15,24-31"}
UIDS = {name: f"6f9c2d4e-0000-4000-8000-00000000000{n}" for n, name in enumerate(("db", "dpdk", "train", "web"), 1)}
POOL = "0,5-7,13-16,21-23,29-31"
GI = 1 << 30
AS_PLANNED = (
    FakeContainer(UIDS["db"], "server", "1-2,17-18", "0", memory={0: GI}),
    FakeContainer(UIDS["db"], "exporter", POOL, "0"),
    FakeContainer(UIDS["dpdk"], "fwd", "3,19", "0", threads=("3", "19", "3,19")),
    FakeContainer(UIDS["train"], "proxy", "4,20", "0"),
    FakeContainer(UIDS["train"], "main", "8-11,24-27", "1", memory={1: 20 * GI}),
    FakeContainer(UIDS["web"], "nginx", POOL, "0-1", "burstable"),
)


USUAL = Layout()


def planned(root: Path, layout: Layout = USUAL) -> FakeRoot:
    """A node that is as its kubelet planned it."""
    built = FakeRoot(root, NODES, layout)
    built.kubelet(NODE / "kubelet")
    for name, uid in UIDS.items():
        built.pod(uid, {"dpdk": "net", "train": "ml"}.get(name, "default"), name)
        built.sandbox(uid, "burstable" if name == "web" else "")
    return built


def running(root: Path, *changed: FakeContainer, layout: Layout = USUAL) -> FakeRoot:
    """The node with some containers other than planned."""
    built = planned(root, layout)
    other = {(one.uid, one.name): one for one in changed}
    for one in AS_PLANNED:
        built.run(other.get((one.uid, one.name), one))
    return built


def verify(root: Path, *arguments: str) -> Done:
    done = in_process("verify", "--node", root, *arguments, "-o", "json")
    strictly("verify-result").validate(done.json)
    return done


def verdicts(done: Done) -> dict[str, str]:
    return {f"{one['pod']}/{one['container']}": one["verdict"] for one in done.json["containers"]}


def found(done: Done, name: str) -> list[str]:
    return [
        finding["code"]
        for one in done.json["containers"]
        if f"{one['pod']}/{one['container']}" == name
        for finding in one["findings"]
    ]


LAYOUTS = [
    Layout(driver, runtime, version, kind)
    for driver in DRIVERS
    for runtime in RUNTIMES
    for version in (1, 2)
    for kind in (False, True)
]


def name_of(layout: Layout) -> str:
    return f"{layout.driver}, {layout.runtime}, v{layout.version}{', kind' if layout.kind else ''}"


@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
def test_a_node_that_is_as_planned_is_so_in_every_layout(layout: Layout, tmp_path: Path) -> None:
    running(tmp_path, layout=layout)

    done = verify(tmp_path)

    assert done.status == 0, done.out
    assert verdicts(done) == {
        "default/db/exporter": "none",
        "default/db/server": "aligned",
        "default/web/nginx": "none",
        "ml/train/main": "unknown",  # nobody knows where its licence is
        "ml/train/proxy": "aligned",
        "net/dpdk/fwd": "aligned",
    }


def test_init_containers_that_have_ended_are_counted_and_not_judged(tmp_path: Path) -> None:
    running(tmp_path)
    there = verify(tmp_path).json
    for place in (tmp_path / "sys/fs/cgroup/kubepods.slice").glob(f"*{UIDS['train'].replace('-', '_')}.slice/*"):
        shutil.rmtree(place)
    gone = verify(tmp_path)

    assert there["endedInitContainers"] == 1
    assert gone.json["endedInitContainers"] == 0  # nothing of the pod was found, so nobody knows
    assert verdicts(gone)["ml/train/fetch"] == "unknown"


@pytest.mark.parametrize("layout", LAYOUTS, ids=name_of)
def test_another_cpuset_is_found_in_every_layout(layout: Layout, tmp_path: Path) -> None:
    running(tmp_path, FakeContainer(UIDS["dpdk"], "fwd", "3", "0"), layout=layout)

    done = verify(tmp_path)

    assert done.status == 1
    assert verdicts(done)["net/dpdk/fwd"] == "drifted"
    assert found(done, "net/dpdk/fwd") == ["cpuset-differs"]


def test_containers_are_told_by_their_cpus_where_no_runtime_names_them(tmp_path: Path) -> None:
    running(tmp_path, layout=Layout(bundles=False))

    done = verify(tmp_path)

    assert verdicts(done)["net/dpdk/fwd"] == "aligned"
    assert verdicts(done)["ml/train/main"] == "unknown"
    assert "drifted" not in verdicts(done).values()


CHANGES = {
    "an exclusive set that is wider": (
        FakeContainer(UIDS["dpdk"], "fwd", "3-4,19-20", "0", threads=("3",)),
        "net/dpdk/fwd",
        "drifted",
        ["cpuset-differs"],
    ),
    "a shared container on exclusive CPUs": (
        FakeContainer(UIDS["db"], "exporter", "0-31", "0", threads=("0",)),
        "default/db/exporter",
        "drifted",
        ["cpuset-differs"],
    ),
    "a thread that may run elsewhere": (
        FakeContainer(UIDS["dpdk"], "fwd", "3,19", "0", threads=("3", "5")),
        "net/dpdk/fwd",
        "drifted",
        ["thread-outside"],
    ),
    "a thread that narrowed itself": (
        FakeContainer(UIDS["dpdk"], "fwd", "3,19", "0", threads=("19",)),
        "net/dpdk/fwd",
        "aligned",
        [],
    ),
    "an inherited set": (
        FakeContainer(UIDS["dpdk"], "fwd", "", "0", threads=("3",)),
        "net/dpdk/fwd",
        "drifted",
        ["cpuset-differs"],
    ),
    "other memory nodes": (
        FakeContainer(UIDS["train"], "main", "8-11,24-27", "0-1"),
        "ml/train/main",
        "drifted",
        ["mems-differ"],
    ),
    "memory elsewhere": (
        FakeContainer(UIDS["train"], "main", "8-11,24-27", "1", memory={0: 2 * GI, 1: 8 * GI}),
        "ml/train/main",
        "drifted",
        ["memory-remote"],
    ),
    "a little memory elsewhere": (
        FakeContainer(UIDS["train"], "main", "8-11,24-27", "1", memory={0: 60 << 20, 1: 100 << 20}),
        "ml/train/main",
        "unknown",
        [],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_is_not_as_planned_is_found(case: str, tmp_path: Path) -> None:
    changed, name, verdict, codes = CHANGES[case]
    running(tmp_path, changed)

    done = verify(tmp_path)

    assert verdicts(done)[name] == verdict
    assert found(done, name) == codes
    assert done.status == int(verdict == "drifted")


def test_of_one_reading_who_is_bound_to_somebody_elses_cpus_is_an_intruder(tmp_path: Path) -> None:
    root = running(tmp_path)
    root.process(("9",), "9", name="stress")
    root.process(("0-31",), "0-31", last_cpu=9, ticks=1000)

    done = verify(tmp_path)

    [one] = [one for each in done.json["containers"] for one in each["findings"]]
    assert found(done, "ml/train/main") == ["intruder"]
    assert "(stress) of the host is bound to CPU 9, exclusive to this container" in one["message"]
    assert done.json["hostProcessesAllowed"] == 1
    assert verdicts(done)["ml/train/main"] == "unknown"


def test_of_two_readings_who_ran_there_is_an_intruder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = running(tmp_path)
    busy = root.process(("0-31",), "0-31", last_cpu=9, name="agent", ticks=7)
    root.process(("0-31",), "0-31", last_cpu=9, name="asleep", ticks=7)
    root._next_pid = os.getpid()
    root.process(("0-31",), "0-31", last_cpu=9, name="numalign", ticks=7)
    waited = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        for pid in (busy, os.getpid()):
            stat = tmp_path / f"proc/{pid}/task/{pid}/stat"
            stat.write_text(stat.read_text().replace(" 7 ", " 8 "))

    monkeypatch.setattr(observe.time, "sleep", sleep)
    monkeypatch.setattr(FolderTree, "live", True)
    facts = NodeFacts("here")
    seen = observe.observe(FolderTree(str(tmp_path)), facts, (), interval=2.5)

    assert waited == [2.5]
    assert [one.name for one in seen.others if any(thread.ran for thread in one.threads)] == ["agent"]
    assert os.getpid() not in [one.pid for one in seen.others]  # who measures is not measured


RECORDED = {
    "clean": [("default/hog-node", "intruder")],
    "drifted": [
        ("default/dev-node", "mems-differ"),
        ("default/hog-node", "cpuset-differs"),
        ("default/hog-node", "intruder"),
    ],
}
"""What was done by hand on a real node of 16 CPUs, a process of the host bound to CPU 2 among it."""


@pytest.mark.parametrize("state", RECORDED)
def test_of_a_real_node_is_told_what_was_done_to_it_and_nothing_else(state: str) -> None:
    done = verify(ROOT / f"tests/live/vm-2n-drift/{state}.snapshot.tar.xz")

    assert [(one["pod"], two["code"]) for one in done.json["containers"] for two in one["findings"]] == RECORDED[state]
    assert done.json["hostProcessesAllowed"] == 19


def test_containers_of_one_pod_share_cpus_and_are_no_intruders(tmp_path: Path) -> None:
    root = running(tmp_path)
    root.run(FakeContainer(UIDS["train"], "fetch", "4,20", "0"))

    done = verify(tmp_path)

    assert found(done, "ml/train/proxy") == []
    assert verdicts(done)["ml/train/fetch"] == "aligned"


def test_host_processes_that_are_merely_allowed_are_one_line(tmp_path: Path) -> None:
    root = running(tmp_path)
    for _ in range(5):
        root.process(("0-31",), "0-31", last_cpu=0)
    root.process(("3",), "3", last_cpu=3, flags=0x00200000)  # bound by the kernel: nobody's fault

    done = verify(tmp_path)

    assert done.json["hostProcessesAllowed"] == 5
    assert not any(one["findings"] for one in done.json["containers"])


def test_a_cpu_of_the_plan_that_is_gone_is_found(tmp_path: Path) -> None:
    root = running(tmp_path)
    for path in ("sys/devices/system/cpu/online", "sys/devices/system/node/node0/cpulist"):
        text = (tmp_path / path).read_text()
        (tmp_path / path).write_text(text.replace("0-31", "0-18,20-31").replace("16-23", "16-18,20-23"))
    root.write("sys/devices/system/cpu/offline", "19\n")

    done = verify(tmp_path)

    assert "missing-cpu" in found(done, "net/dpdk/fwd")


def test_pages_of_processes_are_counted_with_deep(tmp_path: Path) -> None:
    maps = (
        "7f00 default file=/usr/lib/libc.so mapped=100000 N0=100000 kernelpagesize_kB=4\n"
        "7f01 default anon=200000 dirty=200000 N0=100000 N1=100000 kernelpagesize_kB=4\n"
    )
    running(tmp_path, FakeContainer(UIDS["train"], "main", "8-11,24-27", "1", numa_maps=maps))

    done = verify(tmp_path, "--deep")

    assert found(done, "ml/train/main") == ["memory-remote"]
    (main,) = [one for one in done.json["containers"] if one["container"] == "main"]
    assert main["memory"] == {"0": 409600000, "1": 409600000}


def figures(text: str) -> dict[str, str]:
    """Take the samples of a text for Prometheus; each has a name of its own."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    assert len({name for name, _ in lines}) == len(lines)
    return dict(lines)


def test_metrics_are_written_for_prometheus(tmp_path: Path) -> None:
    running(tmp_path, FakeContainer(UIDS["dpdk"], "fwd", "5", "0", memory={0: GI, 1: 2 * GI}))
    told = figures(in_process("verify", "--node", tmp_path, "-o", "prometheus").out)
    labels = 'namespace="net",pod="dpdk",container="fwd"'

    assert told[f'numalign_container_aligned{{boundary="numa_node",{labels}}}'] == "0"
    assert told[f"numalign_container_drifted{{{labels}}}"] == "1"
    assert told[f"numalign_container_remote_memory_bytes{{{labels}}}"] == str(2 * GI)
    assert told[f'numalign_container_memory_bytes{{numa_node="0",{labels}}}'] == str(GI)
    assert told['numalign_containers{verdict="drifted"}'] == "1"
    assert told["numalign_verify_success"] == "1"
    assert not [name for name in told if "nginx" in name]  # nothing to align: it is only counted


@pytest.mark.parametrize(
    ("state", "drifted", "remote"), [("clean", [], 0), ("drifted", ["dev-node", "hog-node"], 49152)]
)
def test_metrics_of_a_real_node_say_what_was_done_to_it(state: str, drifted: list[str], remote: int) -> None:
    done = in_process("verify", "--node", ROOT / f"tests/live/vm-2n-drift/{state}.snapshot.tar.xz", "-o", "prometheus")
    told = figures(done.out)
    pods = {name: f'{{namespace="default",pod="{name}",container="a"}}' for name in ("dev-node", "hog-node")}

    assert [name for name in pods if told[f"numalign_container_drifted{pods[name]}"] == "1"] == drifted
    assert int(told[f"numalign_container_remote_memory_bytes{pods['dev-node']}"]) == remote
    assert told[f"numalign_container_intruders{pods['hog-node']}"] == "1"
    assert told[f"numalign_container_cpus_floating{pods['dev-node']}"] == "0"
    assert [told[f'numalign_stranded_cpus{{numa_node="{numa}"}}'] for numa in (0, 1)] == ["0", "2"]
    stranded = [told[f'numalign_stranded_devices{{numa_node="{numa}",resource="gpu.test/gpu"}}'] for numa in (0, 1)]
    assert stranded == ["1", "0"]  # no CPU is free on NUMA 0
    assert (told["numalign_kubelet_would_restart"], told["numalign_restart_rejected_pods"]) == ("1", "0")


def test_a_text_file_is_replaced_through_a_link_and_nothing_is_printed(tmp_path: Path) -> None:
    root, file, link = tmp_path / "root", tmp_path / "numalign.prom", tmp_path / "link.prom"
    running(root, FakeContainer(UIDS["dpdk"], "fwd", "5", "0"))
    file.write_text("old\n")
    link.symlink_to(file)

    done = in_process("verify", "--node", root, "--textfile", link)

    assert (done.status, done.out) == (1, "")
    assert link.is_symlink()
    assert figures(file.read_text())["numalign_verify_success"] == "1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.prom", "numalign.prom", "root"]


def test_a_node_that_cannot_be_read_leaves_the_text_file(tmp_path: Path) -> None:
    file = tmp_path / "numalign.prom"
    file.write_text("old\n")

    for more in ((), ("--every", "1")):
        done = in_process("verify", "--host-root", tmp_path, "--textfile", file, *more)

        assert done.status == 3
        assert "no kubelet on this host" in done.err
    assert file.read_text() == "old\n"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--every", "5"), "--every requires --textfile"),
        (("--textfile", "x", "--self"), "--pid and --self cannot be used with"),
        (("--textfile", "x", "--every", "0"), "x>=1"),
        (("--textfile", "/"), "is a folder"),
    ],
)
def test_what_does_not_go_together_is_said(flags: tuple[str, ...], words: str) -> None:
    done = in_process("verify", "--node", ROOT / "tests/live/vm-2n-drift/clean.snapshot.tar.xz", *flags)

    assert (done.status, done.out) == (2, "")
    assert words in done.err


def test_a_text_file_is_written_again_and_again_until_the_process_is_told_to_end(tmp_path: Path) -> None:
    root, file, away = tmp_path / "root", tmp_path / "numalign.prom", tmp_path / "away"
    running(root)
    words = command("verify", "--node", root, "--textfile", file, "--every", "1")
    with subprocess.Popen(words, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: "numalign_verify_success 1" in text_of(file))
            root.rename(away)
            until(lambda: "numalign_verify_success 0" in text_of(file))
            assert "numalign_container" not in text_of(file)
            away.rename(root)
            until(lambda: "numalign_verify_success 1" in text_of(file))
            process.terminate()
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()

    assert process.returncode == 0
    assert len([line for line in err.splitlines() if f"{root}: cannot be read" in line]) == 1
    assert int(figures(file.read_text())["numalign_verify_errors_total"]) >= 1


def text_of(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def until(true: Callable[[], bool]) -> None:
    for _ in range(6000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_the_bar_can_be_moved(tmp_path: Path) -> None:
    running(tmp_path, FakeContainer(UIDS["dpdk"], "fwd", "5", "0"))

    assert in_process("verify", "--node", tmp_path, "--fail-on", "unaligned").status == 1
    assert in_process("verify", "--node", tmp_path, "--fail-on", "nothing").status == 0


def test_people_read_what_is_planned_beside_what_is(tmp_path: Path) -> None:
    running(tmp_path, FakeContainer(UIDS["dpdk"], "fwd", "5", "0"))

    done = in_process("verify", "--node", tmp_path)

    assert "net/dpdk fwd: cpuset-differs: CPUs 5 allowed, 3,19 planned" in done.out
    assert "6 containers: 1 drifted, 1 unknown" in done.out
    assert "1 init container has ended; its pod keeps the CPUs." in done.out


def test_a_plan_without_processes_says_what_is_missing() -> None:
    done = in_process("verify", "--node", NODE / "kubelet", "--machine", "figure-1")

    assert done.status in (2, 4)
    assert "error: " in done.err


PAGES = {
    "memory of its own": ("7f 0 default anon=3 N0=1 N1=2 kernelpagesize_kB=4", {0: 4096, 1: 8192}),
    "a library": ("7f default file=/lib/x mapped=9 N0=9 kernelpagesize_kB=4", {0: 0}),
    "a library that was written to": (
        "7f default file=/lib/x anon=2 N0=2 N1=2 kernelpagesize_kB=4",
        {0: 4096, 1: 4096},
    ),
    "huge pages": ("7f default file=/anon_hugepage\\040(deleted) huge N1=2 kernelpagesize_kB=2048", {1: 4 << 20}),
    "shared memory": ("7f default file=/dev/shm/x N1=2 kernelpagesize_kB=4", {1: 8192}),
    "memory that forked processes share": (
        "7f default file=/dev/zero\\040(deleted) mapped=2 N0=2 kernelpagesize_kB=4",
        {0: 8192},
    ),
    "nothing mapped": ("7f default", {}),
}


@pytest.mark.parametrize("case", PAGES)
def test_pages_that_are_a_processs_own_count(case: str) -> None:
    text, expected = PAGES[case]

    assert own_pages(text) == expected


def test_anonymous_and_shared_memory_count_and_files_do_not() -> None:
    assert numa_stat("anon N0=10 N1=20\nfile N0=99 N1=99\nshmem N0=1 N1=0\nanon_thp N0=5 N1=5\n") == {0: 11, 1: 20}
    assert hugetlb_stat("total=4 N0=0 N1=4\nhierarchical_total=4 N0=0 N1=4\n") == {0: 0, 1: 4}


@pytest.fixture
def child() -> Iterator[Callable[..., int]]:
    """Start real processes that sleep, pinned to CPUs."""
    started: list[subprocess.Popen[bytes]] = []

    def start(cpus: set[int]) -> int:
        one = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
        assert one.stdout is not None
        one.stdout.readline()
        os.sched_setaffinity(one.pid, cpus)
        started.append(one)
        return one.pid

    yield start
    for one in started:
        one.communicate(b"\n")


def real_root(root: Path, pid: int, cpus: str) -> None:
    """A tree in which a real process runs in a container: its /proc is the real one's."""
    built = planned(root)
    for one in AS_PLANNED:
        if one.name != "fwd":
            built.run(one)
    path = built.run(FakeContainer(UIDS["dpdk"], "fwd", cpus, "0"))
    for old in (root / path / "cgroup.procs").read_text().split():
        (root / f"proc/{old}").rename(root / f"gone-{old}")
    for name in ("status", "stat"):
        for tid in os.listdir(f"/proc/{pid}/task"):
            built.write(f"proc/{pid}/task/{tid}/{name}", Path(f"/proc/{pid}/task/{tid}/{name}").read_text())
    built.write(f"{path}/cgroup.procs", f"{pid}\n")


def test_a_real_process_outside_its_plan_has_drifted(child: Callable[..., int], tmp_path: Path) -> None:
    """The plan is CPUs 3 and 19; the process runs where this machine lets it."""
    cpu = min(os.sched_getaffinity(0))
    pid = child({cpu})
    real_root(tmp_path, pid, "3,19")

    done = verify(tmp_path)

    codes = found(done, "net/dpdk/fwd")
    assert codes == ([] if cpu in (3, 19) else ["thread-outside"])


def test_a_real_process_is_judged_by_itself(child: Callable[..., int]) -> None:
    cpu = min(os.sched_getaffinity(0))

    done = in_process("verify", "--pid", str(child({cpu})), "-o", "json")

    strictly("verify-result").validate(done.json)
    process = done.json["process"]
    assert process["cpus"] == format_set(from_ids([cpu]))
    assert len(process["numaNodes"]) == 1
    assert process["verdict"] in ("aligned", "spread")
    assert done.status == 0


def test_a_process_judges_itself() -> None:
    done = in_process("verify", "--self")

    assert done.status == 0
    assert f"process {os.getpid()} on " in done.out


def test_a_process_that_is_not_there_is_told() -> None:
    done = in_process("verify", "--pid", "999999999")

    assert done.status == 3
    assert "fix: name a process that runs" in done.err


def test_the_schema_is_json(tmp_path: Path) -> None:
    running(tmp_path)
    found_json: Any = json.loads(verify(tmp_path).out)

    assert found_json["kind"] == "VerifyResult"
