"""What kubelets and tools make of state files of which one value is otherwise (docs/rules/kubelet-files.md 24 to 29).

`damaged_files.jsonl.gz` has what was told of each: the kubelet's complaint, or the file as it is written again.
`NUMALIGN_UPDATE_GOLDEN=1` makes it anew; read what changed before you commit it.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.cpu import checkpoint as cpu
from numalign.kubelet.device import checkpoint as device
from numalign.kubelet.memory import checkpoint as memory
from tests.kubelet.test_checkpoint import (
    CPU_EXAMPLES,
    CPU_POD_EXAMPLES,
    DEVICE_EXAMPLES,
    MEMORY_EXAMPLES,
    MEMORY_POD_EXAMPLES,
)

FILE = Path(__file__).parent / "damaged_files.jsonl.gz"
VALUES = (None, True, 7, 1.5, 1 << 64, "x", "1-2", "C!A=", [], ["y"], {}, {"k": None})
ODD = '<&>\u2028\u2029é\U0001f600"'
"""What is escaped in a file, and what is not."""

Tell = Callable[[str], str]


def _cpu(release: tuple[int, int], *, gate: bool = False) -> Tell:
    return lambda text: cpu.write(cpu.sealed(cpu.read_cpu_checkpoint(text, release, pod_entries=gate)))


def _memory(release: tuple[int, int], *, gate: bool = False) -> Tell:
    return lambda text: memory.write(memory.sealed(memory.read_memory_checkpoint(text, release, pod_entries=gate)))


def _inspected(module: Any, release: tuple[int, int]) -> Tell:
    def tell(text: str) -> str:
        found, sums = module.inspect(text, release)
        return f"{found.form} {dict(sums)}: {module.write(found)}"

    return tell


READERS: Mapping[str, Mapping[str, Tell]] = {
    kind: {
        "1.35": read((1, 35)),
        "1.36": read((1, 36)),
        "1.36 with the gate": read((1, 36), gate=True),
        "1.37": read((1, 37)),
        "a tool": _inspected(module, (1, 37)),
        "a tool, for 1.36": _inspected(module, (1, 36)),
    }
    for kind, read, module in (("cpu", _cpu, cpu), ("memory", _memory, memory))
} | {"device": {"a tool": lambda text: device.write(device.sealed(device.inspect(text)))}}


def told(kind: str, text: str) -> dict[str, str]:
    """Say what each reader makes of a file."""
    return {who: _told(tell, text) for who, tell in READERS[kind].items()}


def _told(tell: Tell, text: str) -> str:
    try:
        return tell(text)
    except CheckpointError as error:
        return f"! {error}"


def samples() -> Iterator[tuple[str, str]]:
    """Whole files, and what 1.37 writes of them; with a sum, and with none."""
    with_pods = {**cpu.inspect(CPU_POD_EXAMPLES["a pod entry"])[0]._asdict(), "policy": ODD}
    twice = [
        cpu.write(cpu.sealed(cpu.CPUCheckpoint(**{**with_pods, "form": "with data"}))),
        memory.write(memory.sealed(memory.inspect(MEMORY_POD_EXAMPLES["a pod entry"])[0]._replace(form="with data"))),
    ]
    odd = {"policyName": ODD, "defaultCpuSet": "1", "entries": {ODD: {"b": "2", "a": "3"}}, "checksum": 0}
    for text in (*CPU_EXAMPLES.values(), *CPU_POD_EXAMPLES.values(), twice[0], json.dumps(odd)):
        yield "cpu", text
    for text in (*MEMORY_EXAMPLES.values(), MEMORY_POD_EXAMPLES["a pod entry"], twice[1]):
        yield "memory", text
    entry = {"PodUID": "u", "ContainerName": "c", "ResourceName": "r", "DeviceIDs": ["a", "b"], "AllocResp": ""}
    old = {"Data": {"PodDeviceEntries": [entry], "RegisteredDevices": {"r": ["a", "b"]}}, "Checksum": 1}
    for text in (*DEVICE_EXAMPLES.values(), json.dumps(old)):
        yield "device", text


def damaged(data: Any) -> Iterator[Any]:
    """Yield data with each of its values otherwise, and with each key gone."""
    yield data
    yield from (value for value in VALUES if value != data or type(value) is not type(data))
    if isinstance(data, dict):
        for key, inner in data.items():
            yield {other: one for other, one in data.items() if other != key}
            yield from ({**data, key: one} for one in damaged(inner) if one is not inner)
    elif isinstance(data, list) and data:
        yield from ([one, *data[1:]] for one in damaged(data[0]) if one is not data[0])


def made() -> Iterator[dict[str, Any]]:
    rows = {(kind, json.dumps(data)): None for kind, text in samples() for data in damaged(json.loads(text))}
    for kind, text in rows:
        yield {"kind": kind, "text": text, "told": told(kind, text)}


def test_a_damaged_file_is_told_of_as_before() -> None:
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        rows = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in made())
        FILE.write_bytes(gzip.compress(rows.encode(), mtime=0))
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    assert len(recorded) > 1000
    for row in recorded:
        assert told(row["kind"], row["text"]) == row["told"], row["text"]
