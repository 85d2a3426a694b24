"""Scenarios of `replay`: one JSON object a line, a node's settings, its machine and what happens on it."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Literal, cast

from numalign.errors import InputError, StartError
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import parse_version
from numalign.model.apiserver import Known
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine.file import machine_from_scenario
from numalign.values import NamedTuple

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A line may have this many bytes."""

FAMILIES = ("e2e", "lifecycle", "restart", "restart-plrm", "resize")


class Restart(NamedTuple):
    """How a kubelet comes up again; None: as it was before."""

    readmit: tuple[str, ...]
    """Names of the pods that come again, in order."""
    registered: tuple[str, ...]
    """Resources whose plugins are back before the first pod comes."""
    config: KubeletConfig | None = None
    """Other settings from then on."""
    config_error: str = ""
    """The kubelet's text where it cannot even decode these."""
    devices: Mapping[str, tuple[Device, ...]] | None = None
    """What the plugins report from then on."""
    reboot: bool = False
    """The machine started anew, too: no container runs."""


class Step(NamedTuple):
    """One event: a pod comes up for admission, its containers start, it is resized or ends; the kubelet restarts."""

    op: Literal["admit", "start", "remove", "resize", "restart"]
    name: str
    """The pod's name; empty for `restart`."""
    pod: Pod | None = None
    """Only with `admit` and `resize`."""
    restart: Restart | None = None
    """Only with `restart`."""


class Scenario(NamedTuple):
    """A node from its start, and the steps on it."""

    id: str
    config: KubeletConfig
    machine: Machine
    steps: tuple[Step, ...]
    version: Version | None
    """The kubelet that answers; None: the scenario does not say."""
    start_error: str
    """The kubelet's text where it could not even decode the settings; the scenario ends there."""


def lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | InputError]]:
    """Yield (number, line) of a plain or gzip stream, blank lines left out; one line is in memory at a time.

    In place of a line over `MAX_LINE_BYTES` comes an error, and then the next line; damaged gzip data, or what cannot
    be read, ends with one.
    """
    number = 0
    try:
        for line in _decompressed(stream):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                yield number, InputError(f"a line may have at most {MAX_LINE_BYTES} bytes")
            elif not line.isspace():
                yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        yield number + 1, InputError(f"the gzip data is damaged: {error}")
    except OSError as error:
        yield number + 1, InputError(f"cannot be read: {error.strerror or error}")


def _decompressed(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines; of one that is too long only so much that this can be seen."""
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))
    packed = buffered.peek(2)[:2] == b"\x1f\x8b"
    source = cast(BinaryIO, gzip.GzipFile(fileobj=buffered) if packed else buffered)
    while line := source.readline(MAX_LINE_BYTES + 1):
        yield line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = source.readline(MAX_LINE_BYTES + 1)


def read_scenario(line: bytes) -> Scenario:
    """Read one line.

    Raises:
        InputError: not a scenario; the message names the field.
    """
    try:
        data = json.loads(line)
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte 0x{line[error.start]:02x} at offset {error.start})") from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"
        raise InputError(f"not a scenario: {reason}") from None
    if not isinstance(data, dict):
        raise InputError("expected a JSON object with machine, kubelet and steps")
    return from_data(data)


def from_data(data: Mapping[str, object]) -> Scenario:
    """Read what a line holds.

    Raises:
        InputError: not a scenario; the message names the field.
    """
    family = data.get("family", "e2e")
    if family not in FAMILIES:
        raise InputError(f"family: expected one of {', '.join(FAMILIES)}, got {json.dumps(family)}")
    start_error, config = "", KubeletConfig()
    try:
        config = read_fields(_mapping(data, "kubelet"), "kubelet").config
    except StartError as error:
        start_error = error.message
    machine = machine_from_scenario(
        _mapping(data, "machine"), _mapping(data, "devices"), _mapping(data, "preferredAllocation")
    )
    version = data.get("kubeletVersion")
    steps = data.get("steps")
    if not isinstance(steps, list):
        raise InputError("steps: expected a list")
    known = Known()
    return Scenario(
        id=str(data.get("id", "")),
        config=config,
        machine=machine,
        steps=tuple([_step(step, index, known, data) for index, step in enumerate(steps)]),
        version=None if version is None else parse_version(str(version), "kubeletVersion"),
        start_error=start_error,
    )


def _mapping(data: Mapping[str, object], key: str) -> dict[str, object]:
    value = data.get(key) or {}
    if not isinstance(value, dict):
        raise InputError(f"{key}: expected an object")
    return value


def _restart(step: Mapping[str, object], index: int, data: Mapping[str, object]) -> Restart:
    config, error, devices = None, "", None
    if "kubelet" in step:
        try:
            config = read_fields(_mapping(step, "kubelet"), "kubelet").config
        except StartError as wrong:
            error = wrong.message
    if "devices" in step:
        preferred = _mapping(data, "preferredAllocation")
        devices = machine_from_scenario(_mapping(data, "machine"), _mapping(step, "devices"), preferred).devices
    names = [step.get(key, []) for key in ("readmit", "registered")]
    if not all(isinstance(one, list) and all(isinstance(name, str) for name in one) for one in names):
        raise InputError(f"steps[{index}]: expected readmit and registered as lists of names")
    readmit, registered = (tuple(cast(list[str], one)) for one in names)
    return Restart(
        readmit=readmit,
        registered=registered,
        config=config,
        config_error=error,
        devices=devices,
        reboot=step.get("reboot") is True,
    )


def _step(step: object, index: int, known: Known, data: Mapping[str, object]) -> Step:
    if not isinstance(step, dict):
        raise InputError(f"steps[{index}]: expected an object")
    op, pod = step.get("op"), step.get("pod")
    if op == "restart":
        return Step("restart", "", restart=_restart(step, index, data))
    if op in ("admit", "resize"):
        if not isinstance(pod, dict):
            raise InputError(f"steps[{index}].pod: expected a pod manifest")
        read_one = read_pod(pod, known)
        return Step(op, read_one.name, read_one)
    if op not in ("start", "remove"):
        raise InputError(f"steps[{index}].op: expected admit, start, remove, resize or restart, got {json.dumps(op)}")
    if not isinstance(pod, str):
        raise InputError(f"steps[{index}].pod: expected a pod's name")
    return Step(op, pod)
