"""Expectations of `numalign test`: pods on machines under settings, and what is to come of them, in one YAML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from numalign.model.document import Data, Form, anything, as_dict, choice, field, fixed, maybe, read, record
from numalign.model.document.values import boolean, integer, list_of, map_of, text, turned
from numalign.model.path import FieldError, blaming, dotted
from numalign.sources.text.yaml import Document, load_file
from numalign.values import NamedTuple

KIND: Final = "AlignmentTest"
VERDICTS: Final = ("aligned", "spread", "floating", "incomplete", "unknown", "none")
SHORT: Final = {"policy": "topology-manager-policy", "scope": "topology-manager-scope"}
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
    """Of the first pod that is rejected."""
    message: str | None = None
    """A part of its message."""
    verdicts: tuple[str, ...] = ()
    """One of these for every admitted pod."""
    cpus: Mapping[str, str] = {}
    """Container of the first pod -> its CPUs as a Linux list."""
    start_error: str | None = None
    """A part of the message with which the kubelet does not start."""


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


def read_suite(path: str) -> tuple[Case, ...]:
    """Read a file of tests; paths in it start at its folder.

    Raises:
        InputError: a key is unknown, a value wrong, or something is missing; with the line.
    """
    documents = load_file(path)
    cases = []
    for document in documents:
        with blaming(document.where):
            cases += _cases(document, os.path.dirname(path))
    return tuple(cases)


def _cases(document: Document, folder: str) -> list[Case]:
    data = SUITE.read(document.data)
    if not data["tests"]:
        raise FieldError(("tests",), "expected at least one test")
    shared = {key: one for key, one in data.items() if key != "tests" and one is not None}
    cases = []
    for place, given in enumerate(data["tests"]):
        test = {**shared, **{key: one for key, one in given.items() if one is not None}}
        path = ("tests", place)
        if "machine" not in test and "machines" not in test:
            raise FieldError(path, "no machine; fix: add machine: NAME, here or at the top")
        cases.append(_case(test, folder, document.line(dotted(path))))
    return cases


def _case(test: Data, folder: str, line: int) -> Case:
    def placed(settings: Settings) -> Settings:
        return settings._replace(config=settings.config and os.path.join(folder, settings.config))

    return Case(
        name=test["name"],
        pods=tuple([os.path.join(folder, name) for name in test["pods"]]),
        replicas=test.get("replicas"),
        beside=os.path.join(folder, test["beside"]) if "beside" in test else None,
        machines=tuple([_machine(name, folder) for name in test.get("machines", [test.get("machine")])]),
        kubelets=tuple(map(placed, test.get("kubelets", [test.get("kubelet", Settings({}))]))),
        expect=test["expect"],
        line=line,
    )


def _machine(name: str, folder: str) -> str:
    """Take a file beside the tests, a bundled machine, or a short form."""
    beside = os.path.join(folder, name)
    return beside if os.path.isfile(beside) else name


def _settings(value: object) -> Settings:
    data = _FLAGS.read(value)
    own = _OWN.read({name: one for name, one in data.items() if name in ("config", "version")})
    flags = {SHORT.get(name, name): read(_TEXT, one, (name,)) for name, one in data.items() if name not in own}
    return Settings(flags, **own)


def _admitted(value: object) -> int:
    return _NUMBER.read(value) if not isinstance(value, bool) else -1 if value else 0


def _verdicts(value: object) -> tuple[str, ...]:
    return tuple([_VERDICT.read(one) for one in (value if isinstance(value, list) else [value])])


def _something(expected: Expectation) -> Expectation:
    if expected == Expectation():
        raise FieldError((), f"no expectation; allowed: {', '.join(_EXPECTATION.schema['properties'])}")
    return expected


_TEXT: Final = text()
_FILE: Final = text("the path of a file")
_FLAGS: Final = map_of(anything, "the kubelet's flags")
_OWN: Final = record(as_dict, maybe("config", _FILE), maybe("version", text('a version as text, "1.36"')))
_SETTINGS: Final = Form(
    _settings,
    Settings._asdict,
    {**_OWN.schema, "additionalProperties": _TEXT.schema},
)
_NUMBER: Final = integer(0, MAX_REPLICAS, "true, false or a number of pods")
_VERDICT: Final = choice(*VERDICTS)
_EXPECTATION: Final = record(
    Expectation,
    maybe(
        "admitted", Form(_admitted, int, {"anyOf": [boolean.schema, _NUMBER.schema]}), says="How many pods; true: all."
    ),
    maybe("reason", _TEXT, says="Of the first pod that is rejected."),
    maybe("message", _TEXT, says="A part of its message."),
    field(
        "verdict",
        Form(_verdicts, list, {"anyOf": [_VERDICT.schema, {"type": "array", "items": _VERDICT.schema}]}),
        to="verdicts",
        says="One of these for every admitted pod.",
    ),
    maybe("cpus", map_of(_TEXT, "container: CPUs"), says="Container of the first pod to its CPUs as a Linux list."),
    maybe("startError", _TEXT, says="A part of the message with which the kubelet does not start."),
    wanted="what is to come of it",
    also={"minProperties": 1},
)
_MACHINE: Final = text("a machine")
_SHARED: Final = (
    field("machine", _MACHINE, None, says="A file beside the tests, a bundled machine, or a short form."),
    field("machines", list_of(_MACHINE), None),
    maybe("kubelet", _SETTINGS, says="The kubelet's flags without dashes, a configuration file, a version."),
    field("kubelets", list_of(_SETTINGS), None),
)
_TEST: Final = record(
    as_dict,
    field("name", text("what the test says, in a sentence")),
    field("pods", list_of(_FILE, "a list of files")),
    maybe("replicas", integer(1, MAX_REPLICAS)),
    maybe("beside", _FILE),
    *_SHARED,
    field("expect", turned(_EXPECTATION, _something, _something)),
)
SUITE: Final = record(
    as_dict,
    fixed("apiVersion"),
    fixed("kind", KIND),
    *_SHARED,
    field("tests", list_of(_TEST, "a list of tests", {"minItems": 1})),
    wanted="tests: a mapping",
)
"""A file of tests."""
