"""Expectations of `numalign test`: pods on machines under settings, and what is to come of them, in one YAML file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from numalign.errors import InputError
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path
from numalign.sources.text.yaml import Document, load_file
from numalign.values import NamedTuple

KIND: Final = "AlignmentTest"
VERDICTS: Final = ("aligned", "spread", "floating", "incomplete", "unknown", "none")
SHORT: Final = {"policy": "topology-manager-policy", "scope": "topology-manager-scope"}
_TOP: Final = ("apiVersion", "kind", "machine", "machines", "kubelet", "kubelets", "tests")
_TEST: Final = ("name", "pods", "replicas", "beside", "machine", "machines", "kubelet", "kubelets", "expect")
_EXPECT: Final = ("admitted", "reason", "message", "verdict", "cpus", "startError")
MAX_REPLICAS: Final = 10_000


class Settings(NamedTuple):
    """A kubelet's settings."""

    flags: Mapping[str, str]
    """Flag of the kubelet, without dashes -> text."""
    config: str | None = None
    version: str | None = None

    @property
    def text(self) -> str:
        """Name them in short."""
        given = {**self.flags, **({"config": os.path.basename(self.config)} if self.config else {})}
        if self.version:
            given["version"] = self.version
        short = {long: name for name, long in SHORT.items()}
        return ", ".join(f"{short.get(name, name)} {value}" for name, value in given.items()) or "defaults"


class Expectation(NamedTuple):
    """What is to come of it; None: not looked at."""

    admitted: int | None = None
    """How many pods; -1: all."""
    reason: str | None = None
    """Of the first pod that is refused."""
    message: str | None = None
    """A part of its message."""
    verdicts: tuple[str, ...] = ()
    """One of these for every admitted pod."""
    cpus: Mapping[str, str] = {}
    """Container of the first pod -> its CPUs as a Linux list."""
    start_error: str | None = None
    """A part of the words with which the kubelet refuses to start."""


class Case(NamedTuple):
    """One test: its pods on each machine under each of its settings."""

    name: str
    pods: tuple[str, ...]
    replicas: int | None
    beside: str | None
    machines: tuple[str, ...]
    kubelets: tuple[Settings, ...]
    expect: Expectation
    line: int


def read(path: str) -> tuple[Case, ...]:
    """Read a file of tests; paths in it start at its folder.

    Raises:
        InputError: a key is unknown, a value wrong, or something is missing; with the line.
    """
    documents = load_file(path)
    cases = []
    for document in documents:
        try:
            cases += _cases(document, os.path.dirname(path))
        except FieldError as error:
            raise InputError(error.message, document.where(error.path)) from None
    return tuple(cases)


def _cases(document: Document, folder: str) -> list[Case]:
    data = fields.mapping(document.data, (), "tests: a mapping")
    fields.only(data, _TOP, ())
    if data.get("kind", KIND) != KIND:
        raise FieldError(("kind",), f"expected {KIND}, got {fields.shown(data['kind'])}")
    cases = []
    for place, one in enumerate(fields.sequence(data.get("tests"), ("tests",), "a list of tests")):
        path = ("tests", place)
        test = fields.mapping(one, path)
        fields.only(test, _TEST, path)
        cases.append(_case(document, {**_shared(data), **test}, path, folder))
    if not cases:
        raise FieldError(("tests",), "expected at least one test")
    return cases


def _shared(data: Mapping[str, object]) -> dict[str, object]:
    return {name: data[name] for name in ("machine", "machines", "kubelet", "kubelets") if name in data}


def _case(document: Document, test: Mapping[str, object], path: Path, folder: str) -> Case:
    machines = test.get("machines", [test["machine"]] if "machine" in test else None)
    if machines is None:
        raise FieldError(path, "names no machine; write machine: NAME, here or at the top")
    kubelets = test.get("kubelets", [test.get("kubelet") or {}])
    listed = fields.sequence(test.get("pods"), (*path, "pods"), "a list of files")
    beside = test.get("beside")
    return Case(
        name=fields.text(test.get("name"), (*path, "name"), "what the test says, in a sentence"),
        pods=tuple([_file(one, (*path, "pods", at), folder) for at, one in enumerate(listed)]),
        replicas=None
        if test.get("replicas") is None
        else fields.integer(test["replicas"], (*path, "replicas"), 1, MAX_REPLICAS),
        beside=None if beside is None else _file(beside, (*path, "beside"), folder),
        machines=tuple(
            [
                _machine(one, (*path, "machines", at), folder)
                for at, one in enumerate(fields.sequence(machines, (*path, "machines")))
            ]
        ),
        kubelets=tuple(
            [
                _settings(one, (*path, "kubelets", at), folder)
                for at, one in enumerate(fields.sequence(kubelets, (*path, "kubelets")))
            ]
        ),
        expect=_expectation(test.get("expect"), (*path, "expect")),
        line=document.line(fields.dotted(path)),
    )


def _file(value: object, path: Path, folder: str) -> str:
    return os.path.join(folder, fields.text(value, path, "the path of a file"))


def _machine(value: object, path: Path, folder: str) -> str:
    """Take a file beside the tests, a bundled machine, or a short form."""
    name = fields.text(value, path, "a machine")
    beside = os.path.join(folder, name)
    return beside if os.path.isfile(beside) else name


def _settings(value: object, path: Path, folder: str) -> Settings:
    data = fields.mapping(value, path, "the kubelet's flags")
    flags = {
        SHORT.get(name, name): fields.text(text, (*path, name))
        for name, text in data.items()
        if name not in ("config", "version")
    }
    config, version = data.get("config"), data.get("version")
    return Settings(
        flags,
        None if config is None else _file(config, (*path, "config"), folder),
        None if version is None else fields.text(version, (*path, "version"), 'a version as text, "1.36"'),
    )


def _expectation(value: object, path: Path) -> Expectation:
    data = fields.mapping(value, path, "what is to come of it")
    fields.only(data, _EXPECT, path)
    if not data:
        raise FieldError(path, f"expects nothing; write one of {', '.join(_EXPECT)}")
    verdicts = data.get("verdict", [])
    several: Sequence[object] = verdicts if isinstance(verdicts, list) else [verdicts]
    for one in several:
        if one not in VERDICTS:
            raise FieldError((*path, "verdict"), f"expected {', '.join(VERDICTS)}, got {fields.shown(one)}")
    cpus = fields.mapping(data.get("cpus") or {}, (*path, "cpus"), "container: CPUs")
    return Expectation(
        admitted=_admitted(data.get("admitted"), (*path, "admitted")),
        reason=_text(data, "reason", path),
        message=_text(data, "message", path),
        verdicts=tuple(map(str, several)),
        cpus={name: fields.text(text, (*path, "cpus", name)) for name, text in cpus.items()},
        start_error=_text(data, "startError", path),
    )


def _admitted(value: object, path: Path) -> int | None:
    if value is None or isinstance(value, bool):
        return None if value is None else -1 if value else 0
    return fields.integer(value, path, 0, MAX_REPLICAS, "true, false or a number of pods")


def _text(data: Mapping[str, object], name: str, path: Path) -> str | None:
    return None if data.get(name) is None else fields.text(data[name], (*path, name))
