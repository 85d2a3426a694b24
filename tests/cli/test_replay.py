"""`numalign replay`: results in order, one a line, whatever stands between the good lines."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from numalign.cli.commands import replay as replay_command
from numalign.sources.recorded import scenario as scenario_source
from tests.cli.running import ROOT, Done, command, in_process, numalign, one_line

VECTORS = ROOT / "tests" / "vectors"


def scenario(name: str, cpu: int = 1, **more: Any) -> dict[str, Any]:
    resources = {"limits": {"cpu": str(cpu), "memory": "1Gi"}}
    pod = {"metadata": {"name": "p", "uid": "p"}, "spec": {"containers": [{"name": "c", "resources": resources}]}}
    return {
        "id": name,
        "family": "e2e",
        "kubelet": {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0", "topologyManagerPolicy": "restricted"},
        "machine": {"numaNodes": [{"id": 0, "cpus": "0-3", "memory": 8 << 30}]},
        "steps": [{"op": "admit", "pod": pod}, {"op": "remove", "pod": "p"}],
        **more,
    }


def lines(*scenarios: Any) -> bytes:
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in scenarios)


def replay(text: bytes) -> tuple[Done, list[Any]]:
    done = in_process("replay", "-", stdin=text)
    return done, [json.loads(line) for line in done.out.splitlines()]


def kept(result: Any) -> str:
    """Name a good result, or where a bad line stands."""
    return str(result["line"]) if "error" in result else str(result["id"])


class TestResults:
    def test_come_in_order_in_the_shape_of_the_recorded_decisions(self) -> None:
        done, (first, second) = replay(lines(scenario("a"), scenario("b", cpu=9)))
        assert (done.status, done.err) == (0, "")
        hint = {"numaNodes": [0], "preferred": True}
        held = {"hint": hint, "cpus": "1", "memory": None, "devices": {}}
        assert first == {
            "id": "a",
            "reservedCPUs": "0",
            "steps": [
                {"admit": True, "qos": "Guaranteed", "containers": {"c": held}, "sharedPool": "0,2-3"},
                {"sharedPool": "0-3"},
            ],
            "finalState": {"memory": {}, "pods": {}, "sharedPool": "0-3"},
        }
        assert second["steps"][0]["reason"] == "TopologyAffinityError"

    def test_a_kubelet_that_does_not_start_is_an_answer(self) -> None:
        done, (first, second) = replay(lines(scenario("a", kubelet={"cpuManagerPolicy": "static"}), scenario("b")))
        assert done.status == 0
        assert set(first) == {"id", "startError"}
        assert second["id"] == "b"

    def test_a_value_of_the_wrong_type_keeps_the_kubelet_from_starting(self) -> None:
        done, (first,) = replay(lines(scenario("a", kubelet={"cpuManagerPolicy": [], "maxPods": "many"})))
        assert done.status == 0
        assert first["startError"].startswith("json: cannot unmarshal array into Go struct field")

    def test_a_crash_is_an_answer_and_the_last_step(self) -> None:
        """A distance table read by node id runs out of its row where the ids have gaps."""
        nodes = [
            {"id": numa, "cpus": f"{4 * place}-{4 * place + 3}", "memory": 8 << 30, "distances": [10, 20, 20]}
            for place, numa in enumerate((0, 8, 9))
        ]
        kubelet = {
            **scenario("a")["kubelet"],
            "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
        }
        done, (result,) = replay(lines(scenario("a", cpu=5, machine={"numaNodes": nodes}, kubelet=kubelet)))
        assert done.status == 0
        assert list(result["steps"][-1]) == ["panic"]
        assert "finalState" not in result
        assert len(result["steps"]) == 1

    @pytest.mark.parametrize("family", ["e2e", "lifecycle"])
    def test_a_missing_family_and_these_two_are_the_same(self, family: str) -> None:
        plain = scenario("a")
        del plain["family"]
        assert replay(lines(scenario("a", family=family)))[0] == replay(lines(plain))[0]

    def test_quiet_prints_errors_only(self) -> None:
        done = in_process("replay", "-", "-q", stdin=lines(scenario("a"), b"x"))
        assert (done.status, done.out) == (2, "")
        assert one_line(done.err).startswith("1 of 2 lines ")


class TestOnSeveralProcesses:
    """A long file is shared out; nobody can tell from the output."""

    MIXED = lines(*(one for name in "abcdef" for one in (scenario(name), b"oops", scenario(name, cpu=9))))

    @pytest.mark.parametrize("jobs", [2, 3])
    def test_the_output_is_that_of_one(self, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(replay_command, "PIECE_BYTES", 1000)
        file = tmp_path / "scenarios"
        file.write_bytes(self.MIXED)
        alone = in_process("replay", file, "--jobs", "1")
        assert (alone.status, one_line(alone.err)[:15]) == (2, "6 of 18 lines a")
        assert in_process("replay", file, "--jobs", jobs) == alone

    def test_a_bug_costs_its_own_line_only(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The other processes do not know of this one's broken part: it is as if they had met it and said nothing."""
        monkeypatch.setattr(replay_command, "_shared", _none_of_them)
        monkeypatch.setattr(replay_command, "replay_json", _broken)
        file = tmp_path / "scenarios"
        file.write_bytes(lines(scenario("a"), {}))
        done = in_process("replay", file, "--jobs", "2")
        assert done.status == 70
        assert [json.loads(line) for line in done.out.splitlines()] == [
            {"line": 1, "error": "bug: ZeroDivisionError: broken"},
            {"line": 2, "error": "machine.numaNodes: expected the list of NUMA nodes, got nothing"},
        ]

    def test_a_pipe_is_answered_line_by_line(self) -> None:
        """Whoever writes one line and waits for its answer gets it, however many processes are asked for."""
        with subprocess.Popen(
            command("replay", "-", "--jobs", "2"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for name in "ab":
                process.stdin.write(lines(scenario(name)))
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["id"] == name
            process.stdin.close()


def _none_of_them(work: tuple[object, list[object]]) -> list[None]:
    return [None for _ in work[1]]


def _broken(_: object) -> dict[str, object]:
    raise ZeroDivisionError("broken")


@pytest.mark.parametrize(
    "packed",
    [
        lambda text: text,
        gzip.compress,
        lambda text: gzip.compress(text[:300]) + gzip.compress(text[300:]),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.rstrip(b"\n"),
        lambda text: b"\n\n" + text + b"  \n",
        lambda text: b"\xef\xbb\xbf" + text,
    ],
    ids=[
        "plain",
        "gzip",
        "two gzip files one after the other",
        "CRLF",
        "no last line end",
        "blank lines",
        "with a BOM",
    ],
)
@pytest.mark.parametrize("from_file", [True, False], ids=["a file", "standard input"])
def test_every_dress_of_a_file_gives_the_same(
    packed: Callable[[bytes], bytes], from_file: bool, tmp_path: Path
) -> None:
    text = lines(scenario("a"), scenario("b", cpu=2))
    file = tmp_path / "scenarios"
    file.write_bytes(packed(text))
    done = in_process("replay", file) if from_file else in_process("replay", "-", stdin=packed(text))
    assert (done.status, done.err) == (0, "")
    assert done.out == replay(text)[0].out


BROKEN: dict[str, tuple[Any, str]] = {
    "no JSON": (b"oops", "not JSON: Expecting value at column 1"),
    "half a line": (json.dumps(scenario("x")).encode()[:60], "not JSON: "),
    "a list": ([], "expected a JSON object with machine, kubelet and steps"),
    "nothing in it": ({}, "machine.numaNodes: expected the list of NUMA nodes, got nothing"),
    "bytes": (b"\x80\xff\x00", "not UTF-8 text (byte 0x80 at offset 0)"),
    "100,000 levels": (b"[" * 100_000, "not a scenario: nested too deeply"),
    "100,000 levels in a field": (b'{"steps": ' + b"[" * 100_000, "not a scenario: nested too deeply"),
    "a number of 5,000 digits": (b'{"id": ' + b"9" * 5000 + b"}", "not a scenario: a number with too many digits"),
    "another family": (
        scenario("x", family="merge"),
        'family: expected one of e2e, lifecycle, restart, restart-plrm, resize, got "merge"',
    ),
    "no steps": (scenario("x", steps=None), "steps: expected a list"),
    "a restart of no list": (
        scenario("x", steps=[{"op": "restart", "readmit": "p"}]),
        "steps[0]: expected readmit and registered as lists of names",
    ),
    "an unknown step": (
        scenario("x", steps=[{"op": "reboot", "pod": "p"}]),
        'steps[0].op: expected admit, start, remove, resize or restart, got "reboot"',
    ),
    "a step without a pod": (scenario("x", steps=[{"op": "admit"}]), "steps[0].pod: expected a pod manifest"),
    "a machine that is a text": (scenario("x", machine="figure-1"), "machine: expected an object"),
    "a CPU of two nodes": (
        scenario(
            "x", machine={"numaNodes": [{"id": 0, "cpus": "0", "memory": 1}, {"id": 1, "cpus": "0", "memory": 1}]}
        ),
        "machine.numaNodes[1].cpus: ",
    ),
    "NaN for memory": (b'{"machine": {"numaNodes": [{"id": 0, "cpus": "0", "memory": NaN}]}, "steps": []}', "machine."),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_line_is_told_with_its_number_and_the_rest_goes_on(case: str) -> None:
    line, says = BROKEN[case]
    done, results = replay(lines(scenario("a"), line, scenario("b")))
    assert done.status == 2
    assert [kept(result) for result in results] == ["a", "2", "b"]
    assert set(results[1]) == {"line", "error"}
    assert results[1]["error"].startswith(says)
    assert len(results[1]["error"]) < 300
    assert one_line(done.err) == '1 of 3 lines is not a scenario; hint: see "error" in the result'


def test_a_line_over_the_bound_is_told_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numalign.sources.recorded.scenario.MAX_LINE_BYTES", 4096)
    done, results = replay(lines(scenario("a"), b"x" * 4096, b"x" * 4097, b" " * 50_000, scenario("b")))
    assert done.status == 2
    assert [kept(result) for result in results] == ["a", "2", "3", "4", "b"]
    assert results[2]["error"] == "a line may have at most 4096 bytes"


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-20], lambda data: data[:-8] + b"\0" * 8, lambda data: data + b"more"]
)
def test_damaged_gzip_gives_what_was_whole_and_one_error(damage: Callable[[bytes], bytes]) -> None:
    done, results = replay(damage(gzip.compress(lines(*(scenario(str(number)) for number in range(5))))))
    assert done.status == 2
    assert results[-1]["error"].startswith("the gzip data is damaged: ")
    assert [kept(result) for result in results[:-1]] == [str(number) for number in range(len(results) - 1)]


@pytest.mark.parametrize("text", [b"", b"\n\n", gzip.compress(b"")], ids=["empty", "blank lines", "empty gzip"])
def test_nothing_in_gives_nothing_out(text: bytes) -> None:
    assert in_process("replay", "-", stdin=text) == (0, "", "")


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_a_file_that_cannot_be_read_is_2(name: str) -> None:
    done = in_process("replay", name)
    assert (done.status, done.out) == (2, "")
    assert name in one_line(done.err)


def test_each_result_is_written_when_it_is_there() -> None:
    """A program may feed scenarios one by one and wait for each answer."""
    with subprocess.Popen(command("replay", "-"), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for number in range(3):
            process.stdin.write(lines(scenario(str(number))))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == str(number)
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def peak(scenarios: Iterator[bytes]) -> int:
    """Replay a stream and return the most memory that it took, in KiB."""
    process = subprocess.Popen(command("replay", "-q", "-"), cwd=ROOT, stdin=subprocess.PIPE)
    assert process.stdin
    for text in scenarios:
        process.stdin.write(text)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def test_memory_does_not_grow_with_the_stream() -> None:
    machine = {
        "numaNodes": [{"id": node, "cpus": f"{64 * node}-{64 * node + 63}", "memory": 1 << 40} for node in (0, 1)]
    }
    text = lines({**scenario("a", machine=machine), "note": "x" * 10_000})
    short, long = (peak(text for _ in range(count)) for count in (100, 1000))
    assert long < short + 4096


@pytest.mark.parametrize("family", ["e2e", "lifecycle"])
def test_recorded_decisions_are_given_by_the_command_too(family: str) -> None:
    """The conformance test asks the functions; this asks the process, for the first lines of each file."""
    with gzip.open(VECTORS / f"{family}.jsonl.gz") as file:
        vectors = [json.loads(file.readline()) for _ in range(40)]
    done = numalign("replay", "-", "--kubelet-version", "1.32", stdin=lines(*vectors))
    assert (done.status, done.err) == (0, "")
    for vector, line in zip(vectors, done.out.splitlines(), strict=True):
        result = json.loads(line)
        assert result.pop("id") == vector["id"]
        if "anyOf" not in vector["expect"] and "devicesNondeterministic" not in vector["expect"]:
            expected = {key: value for key, value in vector["expect"].items() if key != "nondeterministic"}
            assert result == expected, vector["id"]


def test_device_ids_of_thousands_of_digits_are_ids_like_others() -> None:
    """They are put in natural order, in which numbers may have any length."""
    ids = ["gpu-" + "9" * 5000, "gpu-10", "gpu-" + "0" * 5000 + "9"]
    devices = {"example.com/gpu": [{"id": name, "numaNodes": [0]} for name in ids]}
    resources = {"limits": {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"}}
    pods = [
        {"metadata": {"name": name, "uid": name}, "spec": {"containers": [{"name": "c", "resources": resources}]}}
        for name in "abc"
    ]
    steps = [{"op": "admit", "pod": pod} for pod in pods]
    done, (before, found, after) = replay(
        lines(scenario("before"), scenario("a", devices=devices, steps=steps), scenario("after"))
    )
    assert done.status == 0
    assert (before["id"], after["id"]) == ("before", "after")
    taken = [step["containers"]["c"]["devices"]["example.com/gpu"]["ids"] for step in found["steps"]]
    assert taken == [[ids[2]], [ids[1]], [ids[0]]]


def test_a_bug_costs_its_own_line_only(monkeypatch: pytest.MonkeyPatch) -> None:
    really = scenario_source.read_scenario

    def broken(line: bytes) -> Any:
        if b'"bad"' in line:
            raise ZeroDivisionError("oops")
        return really(line)

    monkeypatch.setattr(scenario_source, "read_scenario", broken)
    done, found = replay(lines(scenario("a"), scenario("bad"), scenario("b")))
    assert [one.get("id", one.get("error")) for one in found] == ["a", "bug: ZeroDivisionError: oops", "b"]
    assert done.status == 70
    assert "bug: ZeroDivisionError: oops" in one_line(done.err)
