"""A JSON or YAML document also where there is no answer, so that a script never has to read standard error.

Whatever the exit status, `-o json` prints one document: of the command's kind, its lists empty, and `startError` (the
kubelet's own words) or `error` says why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

from numalign.cli.defaults_file import find_defaults
from numalign.cli.flags import PREFIX
from numalign.errors import NumalignError, StartError
from numalign.render.json import head
from numalign.values import NamedTuple


class Kind(NamedTuple):
    """What a command prints."""

    name: str
    lists: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "admit": Kind("AdmitResult", ("pods",)),
    "explain": Kind("ExplainResult", ("pods",)),
    "compare": Kind("CompareResult", ("variants",)),
    "lint": Kind("LintResult", ("pods",)),
    "config check": Kind("ConfigCheckResult", ("steps", "findings")),
    "config suggest": Kind("ConfigSuggestResult", ()),
    "discover": Kind("Hardware", ()),
    "machines": Kind("MachineList", ("items",)),
    "status": Kind("StatusResult", ("pods",)),
    "schedule": Kind("ScheduleResult", ("pods",)),
    "capacity": Kind("CapacityResult", ("shapes",)),
    "simulate": Kind("SimulateResult", ("runs",)),
    "nrt check": Kind("NRTCheckResult", ("objects",)),
    "nrt export": Kind("NRTExportResult", ("items",)),
    "dra check": Kind("DraCheckResult", ("checks",)),
    "dra slices": Kind("DraSlicesResult", ("items",)),
    "kwok export": Kind("KwokExportResult", ("items",)),
    "test": Kind("TestResult", ("tests",)),
    "verify": Kind("VerifyResult", ()),
    "version": Kind("Version", ()),
    "doctor": Kind("DoctorResult", ("checks",)),
}
"""Command -> its document. What is an object of Kubernetes where it succeeds has a kind of ours here, so that neither a
kubelet nor kubectl takes it for one."""
_NO = ("0", "false", "f", "no", "n", "off")
"""What click reads as false."""
_GROUPS = ("config", "nrt", "dra", "kwok")
"""Commands that have others below them."""


def print_failure(arguments: Sequence[str], error: Exception) -> None:
    """Print the document of a command that failed, if it was asked for one."""
    command, output = _command(arguments), _output(arguments)
    kind = KINDS.get(command)
    if kind is None or output is None:
        return
    from numalign.cli.view import print_data

    start = isinstance(error, StartError)
    print_data(
        output,
        {
            **head(kind.name),
            "startError": str(error) if start else None,
            "error": None if start else str(error),
            **{name: [] for name in kind.lists},
            "warnings": [],
        },
    )


def _command(arguments: Sequence[str]) -> str:
    words = [word for word in arguments if not word.startswith("-")]
    if words[:1] == ["why"]:  # of kubectl: it runs explain, whose flags and defaults are its own
        return "explain"
    return " ".join(words[: 2 if words and words[0] in _GROUPS else 1])


def _output(arguments: Sequence[str]) -> Literal["json", "yaml"] | None:
    """Find out whether JSON or YAML was asked for, also where the command line cannot be read as a whole."""
    command = _command(arguments)
    if any(word.startswith("-q") or word == "--quiet" for word in arguments) or _by_default(command, "quiet"):
        return None
    asked = _by_default(command, "output")
    for word, after in zip(arguments, (*arguments[1:], ""), strict=True):
        if word in ("-o", "--output"):
            asked = after
        elif word.startswith("--output="):
            asked = word.removeprefix("--output=")
        elif word.startswith("-o") and not word.startswith("--"):
            asked = word.removeprefix("-o").removeprefix("=")
    return "json" if asked == "json" else "yaml" if asked == "yaml" else None


def _by_default(command: str, flag: str) -> str | None:
    """Find out what the environment or the project's own file says of a flag; None: neither sets it."""
    variable = f"{PREFIX}_{command.upper().replace(' ', '_')}_{flag.upper()}"
    asked: object = os.environ.get(variable) or os.environ.get(f"{PREFIX}_{flag.upper()}")
    if not asked:
        with suppress(NumalignError):  # which may be what went wrong
            found = find_defaults()
            asked = _in_table(found.table, command.split(), flag) if found is not None else None
    return None if not asked or str(asked).lower() in _NO else str(asked)


def _in_table(table: Mapping[str, object], names: Sequence[str], flag: str) -> object:
    """Take a flag from the table of a command, else from one above it."""
    below = table.get(names[0]) if names else None
    found = _in_table(below, names[1:], flag) if isinstance(below, Mapping) else None
    return table.get(flag) if found is None else found
