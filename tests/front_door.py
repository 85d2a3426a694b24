"""Recorded scenarios said with the commands a person has: admit, release and --state, one command line for each step.

`python -m tests.front_door` says every scenario of `e2e` and `lifecycle` of all releases and prints the counts;
`tests/test_front_door.py` a fixed share of them. The answers of the commands, put together in the shape of the
recording, are compared with the recording itself.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import click

from numalign.model.apiserver.validation import validate
from tests.cli.running import ROOT, Done, in_process
from tests.conformance import Case, cases, difference, matches

VECTORS = ROOT / "tests/vectors"
FAMILIES = ("e2e", "lifecycle")
KUBELET_FAILS = 4
RECORDED = "1.32"
"""The kubelet of every case that names none."""
SAID = "said"
NO_POD = "a pod that no API server takes"
TOO_LONG = "the recording waited a minute and gave up"
DIFFERS = "another answer"

Answer = dict[str, Any]


def files() -> list[Path]:
    """List the recordings that have steps."""
    return [path for family in FAMILIES for path in sorted(VECTORS.rglob(f"{family}*.jsonl.gz"))]


def judge(case: Case) -> tuple[str, str]:
    """Say one scenario; returns what came of it, and the first difference."""
    expect = case["expect"]
    if any(list(validate(step["pod"])) for step in case["steps"] if step["op"] == "admit"):
        return NO_POD, ""
    if expect.get("hang"):
        return TOO_LONG, ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            answer = _Node(case, Path(folder)).answer()
        except (AssertionError, KeyError, ValueError) as error:  # one scenario must not hide the others
            return DIFFERS, f"{case['id']}: {type(error).__name__}: {error}"
    return (SAID, "") if matches(expect, answer) else (DIFFERS, f"{case['id']}: {difference(expect, answer)}")


class _Node:
    """A node in a file, and what was recorded of it."""

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._folder = folder
        self._state = folder / "node.json"
        machine = {**case["machine"], "devices": case.get("devices", {})}
        machine["preferredAllocation"] = case.get("preferredAllocation", {})
        config = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **case["kubelet"]}
        self._place = (
            *("--machine", self._written("machine", machine)),
            *("--kubelet-config", self._written("kubelet", config)),
            *("--kubelet-version", case.get("kubeletVersion", RECORDED)),
        )
        self._there: dict[str, dict[str, Any]] = {}

    def _written(self, name: str, document: object) -> Path:
        path = self._folder / f"{name}.json"
        path.write_text(json.dumps(document))
        return path

    def answer(self) -> Answer:
        """Say all steps; returns the answers in the shape of the recording."""
        steps = []
        for step in self._case["steps"]:
            done = self._say(step)
            error = done.json.get("startError") if done.status == KUBELET_FAILS else None
            if error is not None:
                return {"panic" if "failed to merge global" in error else "startError": error}
            steps.append(self._answered(step, done))
            if "panic" in steps[-1]:
                return {**self._reserved(), "steps": steps}
        return {**self._reserved(), "steps": steps, "finalState": self._final()}

    def _say(self, step: dict[str, Any]) -> Done:
        """Say one step with one command line; what is asked of a pod that is not there changes nothing."""
        if step["op"] == "admit":
            pod = self._written("pod", {"apiVersion": "v1", "kind": "Pod", **step["pod"]})
            where = (*self._place, "--state", self._state, "--only", "managers")
            done = in_process("admit", pod, *where, "-o", "json")
            assert done.out, done.err
            return done
        if step["op"] == "start":
            done = in_process("admit", "--started-pods", step["pod"], "--state", self._state, "-o", "json")
        else:
            done = in_process("release", step["pod"], "--state", self._state)
        assert done.status == (0 if step["pod"] in self._there else 2), done.err
        if step["op"] == "remove":
            self._there.pop(step["pod"], None)
        return done

    def _answered(self, step: dict[str, Any], done: Done) -> Answer:
        if step["op"] != "admit":
            errors = _start_errors(done) if step["op"] == "start" and done.status == 0 else {}
            return {**({"startErrors": errors} if errors else {}), "sharedPool": self._pool()}
        (pod,) = done.json["pods"]
        if pod["stage"] == "panic":
            return {"panic": pod["message"]}
        pool = {"sharedPool": pod["sharedPool"]}
        if not pod["admit"]:
            return {"admit": False, "qos": pod["qos"], "reason": pod["reason"], "message": pod["message"], **pool}
        uid = step["pod"]["metadata"]["uid"]
        names = [one["name"] for one in pod["containers"]]
        self._there[pod["name"]] = {"uid": uid, "containers": names}
        containers = {one["name"]: _holding(one) | {"hint": one["hint"]} for one in pod["containers"]}
        whole = self._whole(uid)
        level = {"podLevel": whole} if whole else {}
        return {"admit": True, "qos": pod["qos"], "containers": containers, **level, **pool}

    def _document(self) -> Any:
        return json.loads(self._state.read_text())

    def _pool(self) -> str | None:
        document = self._document()
        return document["cpu"]["default"] if document["kubelet"].get("cpuManagerPolicy") == "static" else None

    def _whole(self, uid: str) -> Answer:
        """Say what a pod holds as a whole."""
        document = self._document()
        found = {"cpus": document["cpu"]["pods"].get(uid), "memory": document["memory"]["pods"].get(uid)}
        return {key: value for key, value in found.items() if value is not None}

    def _reserved(self) -> Answer:
        """Ask for the CPUs that are never given out."""
        reserved = in_process("config", "check", *self._place, "-o", "json").json["reservedCPUs"]
        return {} if reserved is None else {"reservedCPUs": reserved}

    def _final(self) -> Answer:
        """Ask for the node as it is in the end."""
        found = in_process("status", "--state", self._state, "-o", "json").json
        held = {pod["name"]: {one["name"]: _holding(one) for one in pod["containers"]} for pod in found["pods"]}
        nothing = {"cpus": None, "memory": None, "devices": {}}
        levels = {name: whole for name, pod in self._there.items() if (whole := self._whole(pod["uid"]))}
        return {
            **({"podLevel": levels} if levels else {}),
            "memory": self._document()["memory"]["nodes"],
            "pods": {
                name: {one: held.get(name, {}).get(one, nothing) for one in pod["containers"]}
                for name, pod in self._there.items()
            },
            "sharedPool": found["sharedPool"],
        }


def _holding(container: dict[str, Any]) -> Answer:
    return {key: container[key] for key in ("cpus", "memory", "devices")}


def _start_errors(done: Done) -> dict[str, str]:
    """Read which containers did not start, and why."""
    texts = [one["message"] for one in done.json["warnings"] if one["code"] == "start-failed"]
    parts = [text.removeprefix("container ").partition(" does not start: ") for text in texts]
    return {name: why for name, _, why in parts}


def scenarios(every: int = 1) -> Iterator[Case]:
    """Yield every Nth scenario of each recording."""
    for path in files():
        yield from cases(path, every)


def main() -> int:
    """Say scenarios and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="say every Nth scenario of each file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(given.jobs) as pool:
        for outcome, problem in pool.map(judge, scenarios(given.every), chunksize=20):
            counts[outcome] += 1
            if problem:
                click.echo(problem)
    for outcome, number in counts.most_common():
        click.echo(f"{number:6} {outcome}")
    click.echo(f"{counts.total():6} in all")
    return int(counts[DIFFERS] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
