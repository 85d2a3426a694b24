"""`nrt export --watch` as a process that goes on: commands that fail, nodes that cannot be read, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from numalign.cli import exporter
from numalign.cli.exporter import Seen
from numalign.errors import InputError, Notice
from numalign.scheduler.nrt.value import NodeResourceTopology
from tests.cli.running import ENVIRONMENT, ROOT, command, in_process

FORWARDER = "docs/examples/cluster/forwarder.yaml"
CLUSTER = ("--cluster", "docs/examples/cluster/cluster.yaml")


@contextmanager
def watching(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    whole = command("nrt", "export", "--watch", "--interval", "0.1", *arguments)
    process = subprocess.Popen(
        whole, cwd=ROOT, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def script(tmp_path: Path, text: str) -> str:
    file = tmp_path / "command.py"
    file.write_text(text)
    return f"{sys.executable} {file}"


def ended(process: subprocess.Popen[str], by: signal.Signals) -> tuple[int, str]:
    process.send_signal(by)
    _, err = process.communicate(timeout=30)
    return process.returncode, err


def waited(file: Path, lines: int) -> list[str]:
    for _ in range(3000):
        found = file.read_text().splitlines() if file.exists() else []
        if len(found) >= lines:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{file} has fewer than {lines} lines")


def test_what_a_command_refuses_it_gets_again(tmp_path: Path) -> None:
    """It refuses twice, then takes the object; nothing changes afterwards, so it is not asked a fourth time."""
    asked = tmp_path / "asked"
    counts = f"""
import sys
sys.stdin.read()
open({str(asked)!r}, "a").write("x\\n")
sys.exit(3 if len(open({str(asked)!r}).readlines()) < 3 else 0)
"""
    with watching("--machine", "figure-1", "--exec", script(tmp_path, counts)) as process:
        waited(asked, 3)
        time.sleep(0.3)
        status, err = ended(process, signal.SIGTERM)
    assert (status, len(waited(asked, 3))) == (0, 3)
    lines = [line for line in err.splitlines() if "ended with status 3; the next look passes the same objects" in line]
    assert len(lines) == 2


@pytest.mark.parametrize(("by", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_quietly(by: signal.Signals, status: int) -> None:
    with watching("--machine", "figure-1", "--policy", "restricted") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "---\n"
        code, err = ended(process, by)
    assert (code, err.strip()) == (status, "")


ENDED_WHERE_NOBODY_CATCHES_IT = """
import os, signal
from numalign.cli.exporter import Seen, watch


class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)


def take(_):
    Freed()
    raise AssertionError("it went on")


watch(lambda: Seen((object_of("a"),), ()), take, 0)
"""


def test_a_signal_ends_it_where_python_would_forget_it() -> None:
    program = "from tests.cli.test_exporter import object_of" + ENDED_WHERE_NOBODY_CATCHES_IT
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_signal_ends_it_while_its_command_runs(tmp_path: Path) -> None:
    """The command is ended too: nobody would wait for it any more."""
    started = tmp_path / "pid"
    hangs = f"import os, time; open({str(started)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(600)"
    with watching("--machine", "figure-1", "--exec", script(tmp_path, hangs)) as process:
        pid = int(waited(started, 1)[0])
        assert ended(process, signal.SIGTERM)[0] == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_new_objects_on_standard_output_are_documents_of_one_stream(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    assert in_process("schedule", FORWARDER, *CLUSTER, "--state", str(state)).status == 0
    with (tmp_path / "stream").open("w+") as stream:
        whole = command("nrt", "export", "--watch", "--interval", "0.1", "--state", state)
        process = subprocess.Popen(whole, cwd=ROOT, env=ENVIRONMENT, stdout=stream)
        try:
            waited(tmp_path / "stream", 1)
            more = ("docs/examples/cluster/fractional.yaml", "--scheduler", "unaware")
            in_process("schedule", *more, "--state", str(state))
            for _ in range(3000):
                documents = list(yaml.safe_load_all((tmp_path / "stream").read_text()))
                if len(documents) > 1 and documents[1] and "metadata" in documents[1]:  # not its beginning only
                    break
                time.sleep(0.01)
        finally:
            process.kill()
            process.wait()
    assert [one["kind"] for one in documents] == ["List", "NodeResourceTopology"]
    assert documents[1]["metadata"]["name"] == "narrow-0"


class EnoughError(Exception):
    """Ends a loop that has no end."""


def object_of(name: str, policy: str = "none") -> NodeResourceTopology:
    return NodeResourceTopology(name, (), (("topologyManagerPolicy", policy),))


def run(looks: Sequence[Seen | InputError], monkeypatch: pytest.MonkeyPatch, *refuse: int) -> list[list[str]]:
    """Watch through these looks; gives what was handed over. `refuse` are the numbers of refused calls."""
    left, taken = list(looks), []

    def look() -> Seen:
        if not left:
            raise EnoughError
        found = left.pop(0)
        if isinstance(found, InputError):
            raise found
        return found

    def take(objects: Sequence[NodeResourceTopology]) -> bool:
        taken.append([one.name for one in objects])
        return len(taken) - 1 not in refuse

    monkeypatch.setattr(exporter.signal, "signal", lambda *_: None)
    with pytest.raises(EnoughError):
        exporter.watch(look, take, 0)
    return taken


def test_a_look_that_fails_is_told_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = object_of("a"), object_of("b")
    fault = InputError("changes while it is read", "cpu_manager_state")
    looks = [Seen((a, b), ()), fault, fault, Seen((a, object_of("b", "restricted")), ()), fault]
    assert run(looks, monkeypatch) == [["a", "b"], ["b"]]
    said = "warning: cpu_manager_state: changes while it is read; the last output stays valid"
    assert capsys.readouterr().err.splitlines() == [said, said]


def test_notices_are_told_when_they_are_new(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = Notice("x", "one thing", "n"), Notice("y", "another", "n")
    run([Seen((), (first,)), Seen((), (first, second)), Seen((), (first, second))], monkeypatch)
    assert [line.rpartition(": ")[2] for line in capsys.readouterr().err.splitlines()] == ["one thing", "another"]


def test_objects_that_did_not_arrive_come_again_beside_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = object_of("a"), object_of("b")
    looks = [Seen((a,), ()), Seen((a, b), ()), Seen((a, b), ())]
    assert run(looks, monkeypatch, 0) == [["a"], ["a", "b"]]


def test_the_first_look_must_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter.signal, "signal", lambda *_: None)

    def look() -> Seen:
        raise InputError("is not there", "x")

    with pytest.raises(InputError):
        exporter.watch(look, lambda _: True, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no-such-command-anywhere", "--exec no-such-command-anywhere: cannot be run: No such file or directory"),
        ("''", "--exec : cannot be run"),
        (" ", "--exec: expected a command"),
        ("a 'b", "is not a valid command line: "),
    ],
)
def test_a_command_that_cannot_be_run_is_wrong_input(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        exporter.command(text)([object_of("a")])
    assert said in str(refused.value)


def test_a_command_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(exporter, "MAX_COMMAND_S", 0.2)
    assert not exporter.command(script(tmp_path, "import time; time.sleep(60)"))([object_of("a")])
    assert "was ended after 0.2 s; the next look passes the same objects" in capsys.readouterr().err


def test_a_command_that_does_not_read_is_no_fault() -> None:
    many = [object_of(f"node-{number}", "x" * 200) for number in range(2000)]
    assert exporter.command("true")(many)


def test_a_command_that_dies_is_told_with_its_signal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dies = script(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert not exporter.command(dies)([object_of("a")])
    assert "ended by signal 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--machine", "figure-1", "--node-name", "Worker_1"), '"Worker_1": not a node name'),
        (("--machine", "figure-1", "--node-name", "w" * 254), "not a node name"),
    ],
    ids=["capitals and underscores", "too long"],
)
def test_a_name_that_an_api_server_refuses_is_refused_here(arguments: tuple[str, ...], said: str) -> None:
    done = in_process("nrt", "export", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_machine_with_capitals_is_called_as_its_kubelet_would(tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text((ROOT / "machines/figure-1.yaml").read_text().replace("name: figure-1", "name: Host-A"))
    done = in_process("nrt", "export", "--machine", str(file), "-o", "json")
    assert json.loads(done.out)["metadata"]["name"] == "host-a"
