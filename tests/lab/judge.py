"""Judge what a guest wrote: each check counts what it compared, and says what differs."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numalign.exit_status import ExitStatus
from tests.cli.running import in_process
from tests.lab.shapes import LIMIT, QUOTA, Shape
from tests.lab.tools import READERS, Fields, of_allowed, of_discover, of_numactl_show


class Check(NamedTuple):
    """One comparison."""

    what: str
    fields: int
    differences: tuple[str, ...] = ()


DRIFTED = ("verify-by-hand.json", "verify-deep.json", "textfile.txt")
"""Answers of `verify` when something has drifted."""


def judge(shape: Shape, out: Path) -> Iterator[Check]:
    """Compare all that a guest wrote to a folder."""
    statuses = _json(out / "done")
    expected: Fields = {file: int(file in DRIFTED) for file in statuses}
    if (out / "offline").is_dir():  # with a CPU of its state file offline the kubelet would not come up again
        expected["status.json"] = ExitStatus.KUBELET_FAILS
    yield compare_fields("exit statuses", expected, statuses)
    for when in ("boot", "offline"):
        if (out / when).is_dir():
            yield from against_tools(out / when)
            archive = out / when / f"{shape.name}.tar.xz"
            yield compare(f"discover, {when}, read outside", _json(out / when / "discover.json"), discovered(archive))
    yield from confined(out)
    yield findings("verify, as planned", shape, _json(out / "verify-clean.json"), [])
    done = [deed for deed in shape.by_hand if deed.code]
    once = [(deed.victim or deed.pod, deed.code or "") for deed in done if not deed.deep]
    idle = sum(deed.what == "idle" for deed in shape.by_hand)
    live = _json(out / "verify-by-hand.json")
    yield findings("verify, by hand", shape, live, once, idle)
    yield metrics("verify --textfile", live, (out / "textfile.prom").read_text())
    if len(once) < len(done):
        wanted = [(deed.victim or deed.pod, deed.code or "") for deed in done]
        yield findings("verify --deep, by hand", shape, _json(out / "verify-deep.json"), wanted, idle)
    if shape.alone:
        alone = {name: _json(out / f"alone-{name}.json")["process"]["verdict"] for name in shape.alone}
        yield compare_fields("verify --pid", dict(shape.alone), alone)
    archive = out / f"{shape.name}.tar.xz"
    yield compare("verify of the snapshot", bound(live), bound(in_process(*_of("verify", archive)).json))
    yield compare("status of the snapshot", _json(out / "status.json"), in_process(*_of("status", archive)).json)


def against_tools(folder: Path) -> Iterator[Check]:
    """Compare what numalign discovered with what each tool says, as far as it says it."""
    ours = of_discover((folder / "discover.json").read_text())
    for file, (words, read) in READERS.items():
        theirs = read((folder / file).read_text())
        yield compare_fields(f"discover, {folder.name}, {words[0]}", theirs, ours)


def confined(out: Path) -> Iterator[Check]:
    """Compare what a process in a control group discovered: the same machine, and beside it what confines it."""
    machine, whole = _json(out / "confined.json"), _json(out / "boot" / "discover.json")
    allowed = of_allowed(machine["hardware"].pop("allowed", {}))
    yield compare("discover in a control group", whole, machine)
    said = of_numactl_show((out / "numactl-s.txt").read_text())
    yield compare_fields("its limits, numactl", {**said, "quota": QUOTA, "memory": LIMIT}, allowed)


def compare_fields(what: str, theirs: Fields, ours: Fields) -> Check:
    """Compare fields that a tool says with ours of the same names."""
    different = [
        f"{name}: {value!r}, numalign {ours.get(name, 'nothing')!r}"
        for name, value in theirs.items()
        if ours.get(name) != value
    ]
    return Check(what, len(theirs), tuple(different))


def compare(what: str, live: object, outside: object) -> Check:
    """Compare an answer in the guest with the same answer outside, leaf by leaf."""
    theirs, ours = dict(leaves(live)), dict(leaves(outside))
    different = [
        f"{name}: {theirs.get(name, 'nothing')!r} in the guest, {ours.get(name, 'nothing')!r} outside"
        for name in sorted({*theirs, *ours})
        if theirs.get(name, theirs) != ours.get(name, ours)
    ]
    return Check(what, len(theirs), tuple(different))


OWN = ("source", "warnings", "unknown")
"""Keys that say where an answer is from, and what its source lacks."""


def leaves(data: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every value of a document with its path."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if path or key not in OWN:
                yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from leaves(value, f"{path}[{place}]")
    else:
        yield path, data


def findings(what: str, shape: Shape, answer: Any, wanted: list[tuple[str, str]], idle: int = 0) -> Check:
    """Compare an answer of `verify` with what has to be in it.

    Args:
        what: what was asked.
        shape: the guest.
        answer: as JSON.
        wanted: (pod, code) of each finding; any other is one too many, and the verdicts follow from them.
        idle: processes of the host that may run on exclusive CPUs, beside the first process of the guest.
    """
    containers = answer["containers"]
    found = Counter((one["pod"].removeprefix("lab/"), each["code"]) for one in containers for each in one["findings"])
    different = [f"{pod}: {code} is not found" for pod, code in (Counter(wanted) - found).elements()]
    different += [f"{pod}: {code} is found" for pod, code in (found - Counter(wanted)).elements()]
    own = {f"lab/{pod.name}" for pod in shape.pods if pod.cpus}
    for one in containers:
        drifted = any(each["drift"] for each in one["findings"])
        verdict = "drifted" if drifted else "aligned" if one["pod"] in own else "none"
        if one["verdict"] != verdict:
            different.append(f"{one['pod']}: {one['verdict']}, expected {verdict}")
    if len(containers) != len(shape.pods):
        different.append(f"{len(containers)} containers, not {len(shape.pods)}")
    if answer["hostProcessesAllowed"] != idle + 1:
        different.append(f"{answer['hostProcessesAllowed']} processes of the host are allowed, not {idle + 1}")
    different += [f"left out: {text}" for text in answer["leftOut"]]
    return Check(what, len(wanted) + len(containers) + 3, tuple(different))


_METRIC = re.compile(r'(\w+)\{(?:.*?numa_node="(\d+)")?.*?namespace="(\w+)",pod="([\w-]+)",.*\} (\S+)')


def metrics(what: str, answer: Any, text: str) -> Check:
    """Compare metrics of containers with an answer of `verify`; those that hold nothing have few or none."""
    expected: Fields = {}
    for one in answer["containers"]:
        if one["verdict"] == "none":
            continue
        pod, codes = one["pod"], [each["code"] for each in one["findings"]]
        expected[f"numalign_container_drifted of {pod}"] = int(one["verdict"] == "drifted")
        if one["exclusive"]:
            expected[f"numalign_container_intruders of {pod}"] = codes.count("intruder")
            expected[f"numalign_container_remote_devices of {pod}"] = codes.count("device-moved")
        for node, size in one["memory"].items():
            expected[f"numalign_container_memory_bytes of {pod} on {node}"] = size
        if one["plannedNumaNodes"]:
            remote = [size for node, size in one["memory"].items() if int(node) not in one["plannedNumaNodes"]]
            expected[f"numalign_container_remote_memory_bytes of {pod}"] = sum(remote)
    written = {
        f"{match[1]} of {match[3]}/{match[4]}" + (f" on {match[2]}" if match[2] else ""): float(match[5])
        for match in map(_METRIC.fullmatch, text.splitlines())
        if match
    }
    different = [
        f"{name}: {value}, written {written.get(name, math.nan):g}"
        for name, value in expected.items()
        if written.get(name) != value
    ]
    return Check(what, len(expected), tuple(different))


def bound(answer: Any) -> Any:
    """Leave out what no snapshot tells: who ran where, names of programs, who was there when it was asked."""
    containers = []
    for one in answer["containers"]:
        kept = [each for each in one["findings"] if " ran on " not in each["message"]]
        unnamed = [{**each, "message": re.sub(r"(process \d+) \([^)]*\)", r"\1", each["message"])} for each in kept]
        containers.append({**one, "findings": unnamed})
    return {**answer, "containers": containers, "hostProcessesAllowed": None}


def discovered(archive: Path) -> Any:
    """Read a captured tree."""
    return in_process("discover", "--sysfs-root", archive, "-o", "json").json


def _of(command: str, archive: Path) -> tuple[str | Path, ...]:
    return command, "--node", archive, "-o", "json"


def _json(path: Path) -> Any:
    return json.loads(path.read_text())
