"""The recorded decisions of the kubelet as the judge.

One module a family in `families`, each with `decide(case) -> answer`, in the shape of the case's `expect` (or, where a
case records several results, of the family's `expect(case)`); this module knows how an answer is compared with what was
recorded (tests/vectors, flags included).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

FAMILIES = (
    "cpu",
    "cpuhints",
    "cpuset",
    "dra_alloc",
    "dra_cel",
    "e2e",
    "fit",
    "gates",
    "lifecycle",
    "memory",
    "merge",
    "podrequests",
    "qos",
    "quantity",
    "resize",
    "restart",
    "sched_cache",
    "sched_cycle",
    "sched_filter",
    "sched_kai",
    "sched_placement",
    "sched_preempt",
    "sched_score",
)

NOT_COVERED: dict[str, str] = {}
"""Case id -> why it is not covered yet. Empty: everything is."""

RESULTS: dict[str, tuple[int, int]] = {}
"""Family -> (matched, total), filled by the test and printed in pytest's summary."""

UNKNOWN: list[str] = []
"""Files of the vector folder that are no family of this test."""

Case = dict[str, Any]
Decide = Callable[[Case], Any]


def cases(path: Path, every: int = 1, first: int = 0) -> Iterator[Case]:
    """Yield the cases of a file of recorded decisions, plain or gzip; or every Nth of them, from the `first` on."""
    return map(json.loads, islice(_lines(path), first, None, every))


def find(name: str, *paths: Path) -> Case:
    """Find a case by its id in files of recorded decisions; the others are not parsed."""
    said = b'{"id":' + json.dumps(name).encode()
    return next(json.loads(lines[said]) for lines in map(_by_beginning, paths) if said in lines)


@lru_cache(maxsize=4)
def _by_beginning(path: Path) -> dict[bytes, bytes]:
    """Give each line of a file by what it begins with: its id."""
    return {line[: line.find(b",")]: line for line in _lines(path)}


def _lines(path: Path) -> Iterator[bytes]:
    return (line for line in _text(path).splitlines() if line.strip())


@lru_cache(maxsize=4)
def _text(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def family_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield (family, file) for the known files of a folder and of its `versions`; the others go to `UNKNOWN`.

    Cases of one kubelet version are a family of their own, `e2e-1.36`.
    """
    inner = folder / "versions"
    for path in sorted((*folder.iterdir(), *(inner.iterdir() if inner.is_dir() else ()))):
        family = path.name.removesuffix(".gz").removesuffix(".jsonl")
        if module_of(family) in FAMILIES and ".jsonl" in path.name:
            yield family, path
        elif ".jsonl" in path.name:
            UNKNOWN.append(path.name)


def module_of(family: str) -> str:
    """Name the module of a family: that of `e2e-1.36` is the one of `e2e`."""
    return family.partition("-")[0]


def expected(module: ModuleType, case: Case) -> Any:
    """Give what a case records: its `expect`, or what its family makes of several results."""
    return module.expect(case) if hasattr(module, "expect") else case["expect"]


def matches(expect: dict[str, Any], answer: Any) -> bool:
    """Tell whether an answer is (one of) the recorded one(s), as tests/vectors/README.md says how to compare."""
    if expect.get("nondeterministic"):
        without_ids = _without_ids(answer)
        return any(matches(one, without_ids) for one in expect["anyOf"])
    wanted = {key: value for key, value in expect.items() if key not in ("nondeterministic", "devicesNondeterministic")}
    if expect.get("devicesNondeterministic"):
        answer = _without_ids(answer)
    return bool(wanted == answer) or _normal(wanted) == _normal(answer)


def difference(expect: Any, answer: Any, path: str = "") -> str:
    """Name the first place where an answer differs from what was recorded: path, expected, got."""
    if isinstance(expect, dict) and isinstance(answer, dict):
        for key in sorted(expect.keys() | answer.keys()):
            if key in ("nondeterministic", "devicesNondeterministic"):
                continue
            if expect.get(key) != answer.get(key):
                return difference(expect.get(key), answer.get(key), f"{path}.{key}" if path else key)
    if isinstance(expect, list) and isinstance(answer, list):
        for index, (one, other) in enumerate(zip(expect, answer, strict=False)):
            if one != other:
                return difference(one, other, f"{path}[{index}]")
        if len(expect) != len(answer):
            return f"{path}: expected {len(expect)} entries, got {len(answer)}"
    return f"{path}: expected {json.dumps(expect)}, got {json.dumps(answer)}"


def _without_ids(value: Any) -> Any:
    """Leave out `ids` wherever `perNuma` stands beside them."""
    if isinstance(value, dict):
        return {key: _without_ids(inner) for key, inner in value.items() if not (key == "ids" and "perNuma" in value)}
    if isinstance(value, list):
        return [_without_ids(inner) for inner in value]
    return value


def _normal(value: Any) -> Any:
    """Free the text of a panic: only that there is one is compared."""
    if isinstance(value, dict):
        return {key: True if key == "panic" else _normal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_normal(inner) for inner in value]
    return value
