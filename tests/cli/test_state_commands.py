"""`admit --state` and `release`: a node that lives in a file, said step by step and by many at once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from numalign.model.cpuset import parse
from tests import copies
from tests.cli.admitting import admit_one_by_one
from tests.cli.running import ENVIRONMENT, PODS, ROOT, command, in_process, numalign, one_line

pytestmark = copies.TOGETHER


def pod_file(folder: Path, name: str, cpus: int = 1) -> Path:
    path = folder / f"{name}.json"
    limits = {"cpu": str(cpus), "memory": "64Mi"}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": limits}}]}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}))
    return path


def state_of(path: Path) -> Any:
    return json.loads(path.read_text())


def check_whole(state: Any) -> None:
    """Nothing is given twice, CPU by CPU, and nothing is lost."""
    taken = parse(state["cpu"]["default"])
    for containers in state["cpu"]["assignments"].values():
        for cpus in map(parse, containers.values()):
            assert not taken & cpus
            taken |= cpus
    every = 0
    for node in state["machine"]["numaNodes"]:
        every |= parse(node["cpus"])
    assert taken == every
    assert set(state["cpu"]["assignments"]) == {pod["metadata"]["uid"] for pod in state["pods"]}


def test_pods_are_admitted_one_by_one_as_all_at_once(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    pods = str(PODS / "announcement.yaml")
    flags = ("--machine", "figure-1", "--policy", "single-numa-node")
    at_once = in_process("admit", pods, *flags, "-o", "json").json["pods"]

    text = Path(pods).read_text()
    one_by_one = []
    for number, document in enumerate(text.split("\n---\n")):
        one = tmp_path / f"{number}.yaml"
        one.write_text(document)
        one_by_one += in_process("admit", one, *flags, "--state", state, "-o", "json").json["pods"]

    assert one_by_one == at_once


def test_a_released_pod_gives_its_place_to_the_next(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    flags = ("--machine", "sockets=1,coresPerNumaNode=4,memoryPerNumaNode=8Gi", "--state", state)
    first, second = pod_file(tmp_path, "first", 4), pod_file(tmp_path, "second", 4)
    assert in_process("admit", first, *flags).status == 0
    assert in_process("admit", second, *flags).status == 1

    done = in_process("release", "default/first", "--state", state)

    assert done == (0, "default/first released\n", "")
    assert in_process("admit", second, "--state", state).status == 0


def test_a_pod_that_is_there_is_not_admitted_again(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    pod = pod_file(tmp_path, "web")
    in_process("admit", pod, "--machine", "figure-1", "--state", state)
    before = state.read_text()

    done = in_process("admit", pod, "--state", state)

    assert done.status == 2
    assert "a pod on the node" in one_line(done.err)
    assert state.read_text() == before
    assert in_process("admit", pod, "--state", state, "--without", "web").status == 0


WRONG = {
    "another machine": (("--machine", "hgx-h100"), "belongs to machine figure-1; fix: remove --machine"),
    "other settings": (("--policy", "restricted"), "holds a node with other settings"),
    "other settings on the same machine": (
        ("--machine", "figure-1", "--policy", "restricted"),
        "holds a node with other settings (topologyManagerPolicy)",
    ),
    "another release": (("--kubelet-version", "1.20"), "holds a node with other settings"),
    "no such pod": (("--without", "wbe"), "no pod has the name wbe; hint: similar: web"),
    "no such started pod": (("--started-pods", "x,y"), "no pod has the name x"),
}


@pytest.mark.parametrize("case", WRONG)
def test_flags_that_ask_for_another_node_are_refused(case: str, tmp_path: Path) -> None:
    flags, message = WRONG[case]
    state = tmp_path / "node.json"
    in_process("admit", pod_file(tmp_path, "web"), "--machine", "figure-1", "--state", state)
    before = state.read_text()

    done = in_process("admit", pod_file(tmp_path, "next"), "--state", state, *flags)

    assert done.status == 2
    assert message in one_line(done.err)
    assert state.read_text() == before


def test_release_without_such_a_pod_changes_nothing(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    in_process("admit", pod_file(tmp_path, "web"), "--machine", "figure-1", "--state", state)
    before = state.read_text()

    done = in_process("release", "web", "other", "--state", state)

    assert done.status == 2
    assert "no pod has the name other" in one_line(done.err)
    assert state.read_text() == before


def test_release_of_a_node_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = in_process("release", "web", "--state", tmp_path / "node.json")

    assert done.status == 2
    assert "holds no node" in one_line(done.err)


def test_a_foreign_file_stays_as_it_is(tmp_path: Path) -> None:
    state = tmp_path / "machine.yaml"
    state.write_text("name: m\n")

    done = in_process("admit", pod_file(tmp_path, "web"), "--machine", "figure-1", "--state", state)

    assert done.status == 2
    assert "is not a state file: " in one_line(done.err)
    assert state.read_text() == "name: m\n"


@pytest.mark.parametrize("command", ["admit", "release", "status", "schedule"])
def test_a_state_that_contradicts_itself_is_refused_and_stays(tmp_path: Path, command: str) -> None:
    state, pod = tmp_path / "node.json", pod_file(tmp_path, "web")
    if command == "schedule":
        cluster = ROOT / "docs" / "examples" / "cluster" / "cluster.yaml"
        two = pod_file(tmp_path, "dpdk", 2)
        assert in_process("schedule", two, "--cluster", cluster, "--state", state).status == 0
        data = state_of(state)
        held = next(node["held"] for node in data["nodes"] if node["held"])
        held["default/other"] = {"c": next(iter(held.values()))["c"]}
        place = 'nodes[2].held["default/other"]'
    else:
        in_process("admit", pod, "-m", "figure-1", "--state", state)
        data = state_of(state)
        data["cpu"]["default"] = "0-3,999"
        place = "cpu.default: CPUs 999"
    state.write_text(json.dumps(data))
    (tmp_path / ".node.json.lock").unlink()
    before, names = state.read_bytes(), sorted(tmp_path.iterdir())
    words = {"release": ["web", "--state", state], "status": ["--node", state]}.get(command, [pod, "--state", state])

    done = in_process(command, *words)

    assert (done.status, done.out) == (2, "")
    assert one_line(done.err).startswith(f"{state}: {place}")
    assert "restore the file, or start with a new one" in done.err
    assert state.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == names


def test_a_pod_that_comes_again_takes_over_nothing(tmp_path: Path) -> None:
    """Without a UID a pod is known by its name: what its init container left the first time is not its own."""
    state = tmp_path / "node.json"
    settings = ("--memory-manager-policy", "Static", "--reserved-memory", "0:memory=1Gi", "--kube-reserved")
    flags = ("--machine", "sockets=1,coresPerNumaNode=4,memoryPerNumaNode=8Gi", *settings, "memory=1Gi")
    pod = json.loads(pod_file(tmp_path, "web").read_text())
    first = {"name": "first", "image": "i", "resources": {"limits": {"cpu": "2", "memory": "4Gi"}}}
    pod["spec"]["initContainers"] = [first]
    path = tmp_path / "web.json"
    path.write_text(json.dumps(pod))

    for _ in range(2):
        assert in_process("admit", path, *flags, "--state", state).status == 0
        assert state_of(state)["memory"]["nodes"]["0"]["memory"]["memory"]["reserved"] == 4 << 30
        assert in_process("release", "web", "--state", state).status == 0
        assert state_of(state)["memory"]["reuse"] == {"pod": "", "blocks": []}


def test_a_start_can_be_said_by_itself(tmp_path: Path) -> None:
    """Memory of an init container that has ended is free for the next pod."""
    state = tmp_path / "node.json"
    settings = (
        "--memory-manager-policy",
        "Static",
        "--reserved-memory",
        "0:memory=1Gi",
        "--kube-reserved",
        "memory=1Gi",
    )
    flags = ("--machine", "sockets=1,coresPerNumaNode=4,memoryPerNumaNode=8Gi", *settings)
    pod = json.loads(pod_file(tmp_path, "web").read_text())
    first = {"name": "first", "image": "i", "resources": {"limits": {"cpu": "1", "memory": "4Gi"}}}
    pod["spec"]["initContainers"] = [first]
    path = tmp_path / "web.json"
    path.write_text(json.dumps(pod))
    assert in_process("admit", path, *flags, "--state", state).status == 0
    assert state_of(state)["memory"]["nodes"]["0"]["memory"]["memory"]["reserved"] == 4 << 30

    done = in_process("admit", "--started-pods", "web", "--state", state)

    assert done == (0, "web started\n", "")
    assert state_of(state)["memory"]["nodes"]["0"]["memory"]["memory"]["reserved"] == 64 << 20


WITHOUT_POD = {
    "nothing at all": ((), "no POD given"),
    "a start that nothing keeps": (("--started-pods", "web", "--machine", "figure-1"), "--state FILE"),
}


@pytest.mark.parametrize("case", WITHOUT_POD)
def test_admit_without_a_pod_has_to_say_something(case: str) -> None:
    flags, message = WITHOUT_POD[case]

    done = in_process("admit", *flags)

    assert done.status == 2
    assert message in one_line(done.err)


def worker(state: Path, folder: Path, name: str, count: int, cores: int) -> tuple[ForkServerProcess, Connection]:
    """Start a process that works; gives what it says, too."""
    heard, said = copies.context().Pipe(duplex=False)
    process = copies.start(admit_one_by_one, state, folder, name, count, cores, said)
    said.close()  # so that what is heard ends with the process
    return process, heard


def heard_of(process: Connection) -> Iterator[int]:
    """Give all that a process says until it ends."""
    with suppress(EOFError):
        while True:
            yield process.recv()


@pytest.mark.parametrize(
    ("processes", "pods", "cores"),
    [(5, 6, 64), pytest.param(50, 40, 1024, marks=pytest.mark.soak)],
    ids=["a few", "50 of 40 pods each"],
)
def test_many_at_once_lose_nothing_and_give_nothing_twice(
    tmp_path: Path, processes: int, pods: int, cores: int
) -> None:
    state = tmp_path / "node.json"
    for name in range(processes):
        for number in range(pods):
            pod_file(tmp_path, f"{name}-{number}")

    workers = [worker(state, tmp_path, str(name), pods, cores) for name in range(processes)]
    assert [list(heard_of(heard)) for _, heard in workers] == [[*range(pods)]] * processes
    for one, _ in workers:
        one.join()

    assert [one.exitcode for one, _ in workers] == [0] * processes
    document = state_of(state)
    check_whole(document)
    assert {pod["metadata"]["name"] for pod in document["pods"]} == {
        f"{name}-{number}" for name in range(processes) for number in range(pods) if not number % 2
    }


@pytest.mark.parametrize("kills", [6, pytest.param(500, marks=pytest.mark.soak)])
def test_a_kill_at_any_moment_leaves_the_file_whole(tmp_path: Path, kills: int) -> None:
    """After a few pods, and some moment of the next."""
    state = tmp_path / "node.json"
    chance = random.Random(kills)
    for number in range(100):
        pod_file(tmp_path, f"w-{number}")
    for _ in range(kills):
        state.unlink(missing_ok=True)
        one, heard = worker(state, tmp_path, "w", 100, 1024)
        done = list(islice(heard_of(heard), chance.randrange(8)))
        time.sleep(chance.random() * 0.03)
        one.kill()
        done += heard_of(heard)
        one.join()
        if not state.exists():
            assert not done
            continue
        document = state_of(state)
        check_whole(document)
        kept = {pod["metadata"]["name"] for pod in document["pods"]}
        sure = {f"w-{number}" for number in done if not number % 2}
        following = (done[-1] if done else -1) + 1
        assert sure <= kept
        assert kept <= {*sure, f"w-{following}", f"w-{following + 1}"}


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    """The file may grow to so many bytes only, as on a disk that is full."""
    state = tmp_path / "node.json"
    assert numalign("admit", pod_file(tmp_path, "web"), "--machine", "figure-1", "--state", state).status == 0
    before = state.read_text()
    arguments = command("admit", pod_file(tmp_path, "next"), "--state", state)
    limited = (
        "import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); os.execv(sys.argv[1], sys.argv[1:])"
    )

    # Python itself would leave half-written bytecode behind.
    environment = {**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", limited, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )

    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert state.read_text() == before
