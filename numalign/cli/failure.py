"""A JSON or YAML document also where there is no answer, so that a script never has to read standard error.

Whatever the exit status, `-o json` prints one document: of the command's kind, its lists empty, and `startError` (the
kubelet's own words) or `error` says why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from numalign.errors import StartError
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
    "discover": Kind("Hardware", ()),
    "machines": Kind("MachineList", ("items",)),
    "status": Kind("StatusResult", ("pods",)),
    "schedule": Kind("ScheduleResult", ("pods",)),
    "capacity": Kind("CapacityResult", ("shapes",)),
    "simulate": Kind("SimulateResult", ("runs",)),
    "nrt check": Kind("NRTCheckResult", ("objects",)),
    "verify": Kind("VerifyResult", ()),
}
"""Command -> its document. Other commands print none where they fail."""


def print_failure(arguments: Sequence[str], error: Exception) -> None:
    """Print the document of a command that failed, if it was asked for one."""
    command, output = _command(arguments), _output(arguments)
    kind = KINDS.get(command)
    if kind is None or output is None:
        return
    from numalign.cli.printing import print_data

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
    return " ".join(words[:2]) if words[:1] in (["config"], ["nrt"]) else "".join(words[:1])


def _output(arguments: Sequence[str]) -> Literal["json", "yaml"] | None:
    """Find out whether JSON or YAML was asked for, also where the command line cannot be read as a whole."""
    if any(word in ("-q", "-qq", "--quiet") for word in arguments):
        return None
    asked = os.environ.get(f"NUMALIGN_{_command(arguments).upper().replace(' ', '_')}_OUTPUT")
    for word, after in zip(arguments, (*arguments[1:], ""), strict=True):
        if word in ("-o", "--output"):
            asked = after
        elif word.startswith("--output="):
            asked = word.removeprefix("--output=")
        elif word.startswith("-o") and not word.startswith("--"):
            asked = word.removeprefix("-o").removeprefix("=")
    return "json" if asked == "json" else "yaml" if asked == "yaml" else None
