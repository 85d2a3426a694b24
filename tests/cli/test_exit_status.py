"""Every exit status means one thing, and every error is one line on standard error that says what to do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from numalign.kubelet import admission as session
from tests import copies
from tests.cli.running import PODS, ROOT, command, in_process, numalign, one_line

POD = PODS / "announcement.yaml"
FIGURE_1 = ("-m", "figure-1", "--policy", "single-numa-node")


def test_everything_admitted_is_0() -> None:
    done = numalign("admit", PODS / "burstable.yaml", *FIGURE_1)
    assert (done.status, done.err) == (0, "")


def test_a_refused_pod_is_1() -> None:
    done = numalign("admit", POD, *FIGURE_1)
    assert (done.status, done.err) == (1, "")


def test_wrong_input_beats_a_refused_pod() -> None:
    """Among several inputs those that can be read are judged, and the one that cannot is named."""
    done = numalign("admit", POD, "nowhere.yaml", *FIGURE_1)
    assert (done.status, done.out) == (2, numalign("admit", POD, *FIGURE_1).out)
    assert one_line(done.err) == "nowhere.yaml: cannot be read: No such file or directory; fix: correct the path"

    alone = numalign("admit", "nowhere.yaml", *FIGURE_1)
    assert (alone.status, alone.out, alone.err) == (2, "", done.err)


WRONG_FLAGS = {
    (
        "--policy",
        "bogus",
    ): '--topology-manager-policy: expected one of none, best-effort, restricted, single-numa-node, got "bogus"',
    ("--scope", "node"): '--topology-manager-scope: expected one of container, pod, got "node"',
    (
        "--cpu-manager-policy",
        "Static",
    ): '--cpu-manager-policy: unknown value "Static"; hint: similar: static',
    ("--kube-reserved", "cpu=abc"): '--kube-reserved: cpu: expected a quantity like "500m" or "2Gi", got "abc"',
    (
        "--replicas",
        "0",
    ): "--replicas: expected N or ROLE=N, numbers from 1 to 100000, got '0'",
    ("--only", "cpu"): "Invalid value for '--only': 'cpu' is not 'managers'; fix: see numalign admit --help",
}


@pytest.mark.parametrize(("flag", "text"), WRONG_FLAGS, ids=lambda word: word.removeprefix("--"))
def test_a_bad_value_in_a_flag_is_2(flag: str, text: str) -> None:
    done = in_process("admit", POD, "-m", "figure-1", flag, text)
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err) == WRONG_FLAGS[flag, text]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["admit", "-o", "xml"], "Invalid value for '-o' / '--output': 'xml' is not one of 'table', 'wide', 'json', "),
        (["admit"], "no POD given; fix: name a file, a folder, or - for standard input"),
        (["admit", "--polcy", "x"], "unknown option --polcy; hint: similar: "),
        (["advise"], "unknown command 'advise'; fix: see numalign --help"),
        (["replay"], "Missing argument 'FILE'; fix: see numalign replay --help"),
    ],
    ids=["an unknown format", "no pod named", "an unknown flag", "an unknown command", "no file named"],
)
def test_a_wrong_command_line_is_2(arguments: list[str], says: str) -> None:
    done = in_process(*arguments)
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err).startswith(says)


def test_a_host_that_cannot_be_read_is_3(monkeypatch: pytest.MonkeyPatch) -> None:
    from numalign.errors import HostError
    from numalign.sources.host import discovery as sysfs

    def unreadable() -> Any:
        raise HostError("cannot be read: Permission denied", "/sys/devices/system/node")

    monkeypatch.setattr(sysfs, "live_machine", unreadable)
    done = in_process("admit", POD)
    assert (done.status, done.out) == (3, "")
    assert one_line(done.err) == "/sys/devices/system/node: cannot be read: Permission denied"


def test_a_file_without_permission_is_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a person names is input, whatever the reason that it cannot be read."""
    locked = tmp_path / "locked.yaml"
    locked.write_bytes(POD.read_bytes())
    real = os.open

    def guarded(file: Any, *more: Any, **named: Any) -> Any:
        if str(file) == str(locked):
            raise PermissionError(13, "Permission denied", str(file))
        return real(file, *more, **named)

    monkeypatch.setattr("os.open", guarded)
    done = in_process("admit", locked, *FIGURE_1)
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err) == f"{locked}: cannot be read: Permission denied"


NODE_COMMANDS = (
    "status --node",
    "admit pods/announcement.yaml --node",
    "discover --sysfs-root",
    "snapshot --host-root",
)


@pytest.mark.parametrize("arguments", NODE_COMMANDS)
@pytest.mark.parametrize("call", ["stat", "listdir", "open"])
def test_a_node_without_permission_is_3(
    call: str, arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder above it, the folder itself, an archive of it: each may be locked."""
    locked = str(tmp_path / "locked")
    Path(locked).touch() if call == "open" else os.mkdir(locked)
    real = getattr(os, call)

    def guarded(path: Any, *more: Any, **named: Any) -> Any:
        if str(path).rstrip("/") == locked:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, call, guarded)
        done = in_process(*arguments.split(), locked)
    assert (done.status, done.out) == (3, "")
    assert one_line(done.err) == f"{locked}: cannot be read: Permission denied"


def test_a_folder_of_machines_without_permission_is_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str) -> Any:
        raise PermissionError(13, "Permission denied", path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "listdir", refused)
        done = in_process("compare", POD, "-m", tmp_path, "--kubelet-version", "1.35,1.36")
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err) == f"{tmp_path}: cannot be read: Permission denied"


def test_a_folder_of_one_file_that_tells_nothing_is_2(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    done = in_process("status", "--node", tmp_path)
    assert (done.status, done.out) == (2, "")
    assert one_line(done.err).startswith(f"{tmp_path}: not a node; allowed: snapshot, /var/lib/kubelet, must-gather")


def test_a_kubelet_that_does_not_start_is_4() -> None:
    done = numalign("admit", POD, "-m", "gb200", "--policy", "restricted")
    assert (done.status, done.out) == (4, "")
    assert done.err.splitlines() == [
        "error: the kubelet would not start: unsupported on machines with more than 8 NUMA Nodes",
        "fix: add --topology-manager-policy-options max-allowable-numa-nodes=34, as the machine file suggests",
    ]


def test_a_bug_is_70_and_says_where_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("two\nlines \x1b[31m")

    monkeypatch.setattr(session.twin, "admit", broken)
    done = in_process("admit", POD, *FIGURE_1)
    assert (done.status, done.out) == (70, "")
    said = one_line(done.err)
    assert said.startswith("bug: KeyError: 'two\\nlines \\x1b[31m'; fix: report the bug in the project's issue tracker")


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_debug_shows_the_traceback_of_a_bug(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("odd")

    monkeypatch.setattr(session.twin, "admit", broken)
    if how == "variable":
        monkeypatch.setenv("NUMALIGN_DEBUG", "1")
    done = in_process(*(["--debug"] if how == "flag" else []), "admit", POD, *FIGURE_1)
    assert done.status == 70
    assert done.err.startswith("Traceback (most recent call last):")
    assert "\nerror: bug: KeyError" in done.err


SCENARIO = {"id": "a", "machine": {"numaNodes": [{"id": 0, "cpus": "0-3", "memory": 2**30}]}, "steps": []}
LINE = json.dumps(SCENARIO).encode() + b"\n"


def replay_from_a_pipe() -> subprocess.Popen[bytes]:
    """Start a replay that has answered one line and waits for the next."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command("replay", "-"), cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin
    assert process.stdout
    process.stdin.write(LINE)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == "a"
    return process


def test_an_interrupt_is_130_and_quiet() -> None:
    with replay_from_a_pipe() as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr
        assert process.stderr.read().strip() == b""


INTERRUPTING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == WHERE:
            os.kill(os.getpid(), signal.SIGINT)
WHERE = sys.argv.pop(1)
from numalign.__main__ import script
sys.meta_path.insert(0, Interrupting())
script()
"""


@pytest.mark.parametrize(
    "module",
    ["numalign.cli", "click", "click.core", "numalign.cli.commands.admit", "yaml.events", "numalign.tasks.admit"],
)
def test_an_interrupt_during_an_import_is_130_and_quiet(module: str) -> None:
    arguments = [sys.executable, "-c", INTERRUPTING, module, "admit", str(PODS / "burstable.yaml"), "-m", "figure-1"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, timeout=30)
    assert (done.returncode, done.stderr.strip()) == (130, b"")


STATUSES = [
    (0, ("admit", PODS / "burstable.yaml", "-m", "figure-1")),
    (1, ("lint", PODS / "burstable.yaml")),
    (1, ("admit", PODS / "announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node")),
    (2, ("admit", "/no/such/file", "-m", "figure-1")),
    (2, ("--no-such-flag",)),
    (0, ()),
    (2, ("config",)),
    (4, ("admit", PODS / "burstable.yaml", "-m", "figure-1", "--memory-manager-policy", "Static")),
]


@pytest.mark.parametrize(
    ("status", "arguments"), STATUSES, ids=[" ".join(map(str, case[1]))[-40:] for case in STATUSES]
)
@pytest.mark.parametrize("how", [("/dev/full", os.O_WRONLY), None, ("/dev/null", os.O_RDONLY)], ids=str)
@copies.TOGETHER
def test_a_standard_error_that_cannot_be_written_changes_no_status(
    status: int, arguments: tuple[str | Path, ...], how: tuple[str, int] | None
) -> None:
    with ExitStack() as files:
        nothing = files.enter_context(open(os.devnull, "r+")).fileno()
        error = None if how is None else os.open(*how)
        process = copies.command(arguments, (nothing, nothing, error))
        if error is not None:
            os.close(error)
    process.join(copies.SECONDS)
    assert process.exitcode == status


@pytest.mark.parametrize("how", ["2>/dev/full", "2>&-", "2</dev/null"])
def test_nor_does_one_that_python_finds_so_at_its_start_and_at_its_end(how: str) -> None:
    words = ["sh", "-c", f'exec "$@" {how}', "sh", *command("admit", "/no/such/file", "-m", "figure-1")]
    assert subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, timeout=60).returncode == 2


READING_INPUT = [
    ("admit", "-", "-m", "figure-1"),
    ("lint", "-"),
    ("admit", PODS / "burstable.yaml", "-m", "-"),
    ("admit", PODS / "burstable.yaml", "-m", "figure-1", "--kubelet-config", "-"),
    ("replay", "-"),
]


@pytest.mark.parametrize("arguments", READING_INPUT, ids=[" ".join(map(str, case))[-30:] for case in READING_INPUT])
def test_a_standard_input_that_cannot_be_read_is_status_2(arguments: tuple[str | Path, ...]) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 0>/dev/null', "sh", *command(*arguments)], cwd=ROOT, capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert b"Bad file descriptor" in done.stderr + done.stdout
    assert done.stderr.count(b"error: ") == 1


@pytest.mark.parametrize("variable", ["COLUMNS", "LINES"])
@pytest.mark.parametrize("value", ["9" * 12, "9" * 5000, "²", "-5", "0", "", "wide"], ids=lambda value: value[:14])
@pytest.mark.parametrize("output", ["table", "wide"])
def test_any_size_of_a_terminal_gives_an_answer(variable: str, value: str, output: str) -> None:
    arguments = ("admit", PODS / "announcement.yaml", "-m", "figure-1", "-o", output)
    done = in_process(*arguments, env={"FORCE_COLOR": "1", variable: value})
    assert done.status == 1
    assert max(map(len, done.out.splitlines())) < 2000


def test_a_reader_that_goes_away_is_141_and_quiet() -> None:
    with replay_from_a_pipe() as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(LINE)
        process.stdin.close()
        assert process.wait(timeout=30) == 141
        assert process.stderr.read() == b""


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_stops_in_the_middle_of_one_answer_is_141(unbuffered: str) -> None:
    """With PYTHONUNBUFFERED Python itself would drop the rest without a word."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    arguments = command("admit", PODS / "burstable.yaml", *FIGURE_1, "--replicas", "300", "-o", "json")
    with subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait(timeout=30) == 141
        assert process.stderr.read() == b""


def in_shell(redirection: str) -> subprocess.CompletedProcess[str]:
    words = " ".join(f"'{word}'" for word in command("admit", POD, *FIGURE_1))
    return subprocess.run(["sh", "-c", f"{words} {redirection}"], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("redirection", ["2>&-", "<&-", "-q >&-", "-q >&- 2>&-"])
def test_closed_streams_that_nobody_needs_change_nothing(redirection: str) -> None:
    done = in_shell(redirection)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize("more", ["", "-o json", "-o name", "--help", "-o json --no-such-flag"])
def test_a_closed_standard_output_is_2_and_told(more: str) -> None:
    done = in_shell(f"{more} >&-")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: the output cannot be written: standard output is closed"
    assert in_shell(f"{more} >&- 2>&-").returncode == 2


def test_a_full_disk_is_2() -> None:
    done = in_shell("> /dev/full")
    assert done.returncode == 2
    assert one_line(done.stderr) == "the output cannot be written: No space left on device"


def test_closed_standard_input_is_empty_input() -> None:
    words = " ".join(f"'{word}'" for word in command("admit", "-", *FIGURE_1))
    done = subprocess.run(["sh", "-c", f"{words} <&-"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert one_line(done.stderr).startswith("standard input: no pod found")


def test_a_terminal_without_the_signs_gets_others() -> None:
    done = numalign("admit", POD, *FIGURE_1, env={"PYTHONIOENCODING": "ascii"})
    assert (done.status, done.err) == (1, "")
    assert "0 of 1" in done.out
    assert "0 of 1 x" in done.out


@pytest.mark.parametrize("command", ["admit", "explain"])
@pytest.mark.parametrize(
    ("machine", "asked", "status", "told"),
    [
        ("dgx-h100", "nvidia.com/gpu: 2, mellanox.com/ib: 2", 0, ""),
        ("dgx-h100", "nvidia.com/gpu: 2, mellanox.com/ib: 1", 1, "shares no PCI switch with a NIC of the container"),
        ("dgx-h100", "nvidia.com/gpu: 2", 0, ""),
        ("dgx-h100", "mellanox.com/ib: 2", 0, ""),
        ("p5.48xlarge", "nvidia.com/gpu: 2, vpc.amazonaws.com/efa: 8", 0, ""),
        ("p5.48xlarge", "nvidia.com/gpu: 2, vpc.amazonaws.com/efa: 2", 1, "shares no PCI switch"),
        ("hgx-h100", "nvidia.com/gpu: 1, mellanox.com/ib: 1", 1, "the PCI switch of one is unknown"),
        ("hgx-h100", "nvidia.com/gpu: 9", 1, ""),
    ],
)
def test_fail_on_rail(command: str, machine: str, asked: str, status: int, told: str, tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    spec = f"containers: [{{name: app, image: i, resources: {{limits: {{cpu: '4', memory: 1Gi, {asked}}}}}}}]"
    file.write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: rank}}\nspec: {{{spec}}}\n", encoding="utf-8")
    done = numalign(command, file, "-m", machine, "--policy", "best-effort", "--fail-on", "rail")
    assert done.status == status
    assert ("warning: rank: container app holds a GPU" in done.err) == bool(told)
    assert told in done.err


RAILS = """
apiVersion: numalign/v1
kind: Machine
name: node-a
regular: {sockets: 1, coresPerNumaNode: 4, threadsPerCore: 1, memoryPerNumaNode: 8Gi}
devices:
  nvidia.com/gpu: [{id: gpu0, numaNode: 0}]
  mellanox.com/ib: [{id: mlx5_0, numaNode: 0}, {id: mlx5_1, numaNode: 0}]
hardware:
  pci:
  - {address: gpu0, class: "0302", numaNode: 0, root: "pci0000:10", switch: "0000:11:00.0"}
  - {address: mlx5_1, class: "0207", numaNode: 0, root: "pci0000:10", switch: "0000:11:00.0"}
  - {address: mlx5_0, class: "0207", numaNode: 0, root: "pci0000:20", switch: "0000:21:00.0"}
"""
"""The first NIC is below another switch than the GPU."""
CLAIMS = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu-nic}
spec:
  spec:
    devices:
      requests:
      - {name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}
      - {name: nic, exactly: {deviceClassName: dra.net}}
      constraints: %s
---
apiVersion: v1
kind: Pod
metadata: {name: rank}
spec:
  resourceClaims: [{name: both, resourceClaimTemplateName: gpu-nic}]
  containers:
  - {name: app, image: i, resources: {limits: {cpu: "1", memory: 1Mi}, claims: [{name: both}]}}
"""


@pytest.mark.parametrize("command", ["admit", "explain"])
@pytest.mark.parametrize(
    ("constraints", "status", "said"),
    [
        ("[]", 1, "on the same NUMA node"),
        ("[{matchAttribute: resource.kubernetes.io/pcieRoot}]", 0, "below the same PCIe switch"),
    ],
)
def test_fail_on_rail_sees_devices_of_claims(
    command: str, constraints: str, status: int, said: str, tmp_path: Path
) -> None:
    machine, pod, slices = (tmp_path / name for name in ("machine.yaml", "pod.yaml", "slices.yaml"))
    machine.write_text(RAILS, encoding="utf-8")
    pod.write_text(CLAIMS % constraints, encoding="utf-8")
    slices.write_text(numalign("dra", "slices", "--machine", machine).out, encoding="utf-8")
    on = ("-m", machine, "--slices", slices, "--policy", "best-effort")

    done = numalign(command, pod, *on, "--fail-on", "rail")
    assert done.status == status
    assert f"gpu.nvidia.com and dra.net/nic: {said}" in done.out
    assert ("shares no PCI switch with a NIC of the container" in done.err) == bool(status)
    assert numalign(command, pod, *on, "--fail-on", "unaligned").status == 0


@pytest.mark.parametrize("command", ["admit", "explain"])
def test_fail_on_rail_is_no_where_nobody_knows_the_switches(command: str) -> None:
    pod = ("docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "best-effort")
    assert numalign(command, *pod, "--fail-on", "unaligned").status == 0
    done = numalign(command, *pod, "--fail-on", "rail")
    assert done.status == 1
    assert "warning: rank: container train holds a GPU and a NIC, and the PCI switch of one is unknown\n" in done.err
