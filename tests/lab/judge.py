"""Judge what a guest wrote: each check counts what it compared, and says what differs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.running import in_process
from tests.lab.shapes import Shape
from tests.lab.tools import READERS, Fields, of_discover


class Check(NamedTuple):
    """One comparison."""

    what: str
    fields: int
    differences: tuple[str, ...] = ()


def judge(shape: Shape, out: Path) -> Iterator[Check]:
    """Compare all that a guest wrote to a folder."""
    for when in ("boot", "offline"):
        if (out / when).is_dir():
            yield from against_tools(out / when)
            archive = out / when / f"{shape.name}.tar.xz"
            yield compare(f"discover, {when}, read outside", _json(out / when / "discover.json"), discovered(archive))
    yield findings("verify, as planned", shape, _json(out / "verify-clean.json"), [])
    wanted = [(deed.pod, deed.code, deed.deep) for deed in shape.by_hand if deed.code]
    live = _json(out / "verify-by-hand.json")
    yield findings("verify, by hand", shape, live, [(pod, code) for pod, code, deep in wanted if not deep])
    if any(deep for *_, deep in wanted):
        answer = _json(out / "verify-deep.json")
        yield findings("verify, by hand, --deep", shape, answer, [(pod, code) for pod, code, _ in wanted])
    archive = out / f"{shape.name}.tar.xz"
    yield compare("verify of the snapshot", bound(live), bound(in_process(*_of("verify", archive)).json))
    yield compare("status of the snapshot", _json(out / "status.json"), in_process(*_of("status", archive)).json)


def against_tools(folder: Path) -> Iterator[Check]:
    """Compare what numalign discovered with what each tool says, as far as it says it."""
    ours = of_discover((folder / "discover.json").read_text())
    for file, (words, read) in READERS.items():
        theirs = read((folder / file).read_text())
        yield compare_fields(f"discover, {folder.name}, {words[0]}", theirs, ours)


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


def findings(what: str, shape: Shape, answer: Any, wanted: list[tuple[str, str]]) -> Check:
    """Compare the findings of `verify` with those that have to be there, and the verdicts with what follows of them."""
    found = Counter(
        (one["pod"].removeprefix("lab/"), each["code"]) for one in answer["containers"] for each in one["findings"]
    )
    expected = Counter(wanted)
    different = [f"{pod}: {code} is not found" for pod, code in (expected - found).elements()]
    different += [f"{pod}: {code} is found" for pod, code in (found - expected).elements()]
    drifted = {one["pod"] for one in answer["containers"] for each in one["findings"] if each["drift"]}
    own = {f"lab/{pod.name}" for pod in shape.pods if pod.cpus}
    for one in answer["containers"]:
        verdict = "drifted" if one["pod"] in drifted else "aligned" if one["pod"] in own else "none"
        if one["verdict"] != verdict:
            different.append(f"{one['pod']}: {one['verdict']}, expected {verdict}")
    different += [f"left out: {text}" for text in answer["leftOut"]]
    return Check(what, len(wanted) + len(answer["containers"]), tuple(different))


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
