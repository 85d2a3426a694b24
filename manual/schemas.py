"""`python -m manual.schemas`: write the JSON Schemas of what people write, made of the descriptions that read it.

They lie in `numalign/schemas/` beside those of results; a test holds them to what would be written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from numalign.cli import kubectl
from numalign.cli.defaults import ALLOWED, flags_of, setting
from numalign.cli.root import COMMANDS, import_command
from numalign.model.document import AnyForm, Schema, anything, as_dict, field, record
from numalign.model.document.schema import schema
from numalign.sources.cluster.file import CLUSTER
from numalign.sources.cluster.trace import ARRIVALS, WORKLOAD
from numalign.sources.host.device_rules import RULES
from numalign.sources.machine.file import MACHINE
from numalign.sources.recorded.baseline import BASELINE
from numalign.sources.recorded.suite import SUITE

FOLDER: Final = Path(__file__).parent.parent / "numalign" / "schemas"
WIDTH: Final = 120
"""What fits into so many columns stays on one line."""


def _settings(commands: Mapping[str, click.Command]) -> AnyForm:
    """Describe a table of settings: a table a command, and flags for all commands below that have them."""
    known: dict[str, list[Schema]] = {}
    for name, command in commands.items():
        own = _settings(command.commands) if isinstance(command, click.Group) else _flags(command)
        for flag in own.schema["properties"].keys() & ALLOWED:
            known.setdefault(flag, []).append(own.schema["properties"][flag])
        known.setdefault(name, []).append(own.schema)
    return record(as_dict, *[field(key, _one_of(listed), None) for key, listed in sorted(known.items())])


def _flags(command: click.Command) -> AnyForm:
    return record(as_dict, *[field(key, setting(one), None) for key, one in flags_of(command) if key in ALLOWED])


def _one_of(schemas: Sequence[Schema]) -> AnyForm:
    different = [one for place, one in enumerate(schemas) if one not in schemas[:place]]
    return anything._replace(schema=different[0] if len(different) == 1 else {"anyOf": different})


DOCUMENTS: Final[Mapping[str, tuple[AnyForm, str, str]]] = {
    "machine": (
        MACHINE,
        "Machine",
        "A machine as a kubelet sees it: NUMA nodes, sockets, cores, uncore caches and devices.",
    ),
    "cluster": (
        CLUSTER,
        "Cluster",
        "A cluster file: groups of nodes that are alike, the scheduler, how long things take.",
    ),
    "test": (
        SUITE,
        "AlignmentTest",
        "Tests of `numalign test`: pods on machines under settings, and the expected results.",
    ),
    "trace": (WORKLOAD, "Workload", "A line of a trace of `simulate`: a workload that arrives."),
    "arrivals": (
        ARRIVALS,
        "Arrivals",
        "What a synthetic trace of `simulate` is made of, in place of one line a workload.",
    ),
    "rules": (RULES, "DeviceRules", "Which PCI device is published as which resource."),
    "baseline": (BASELINE, "LintBaseline", "Findings that `numalign lint --baseline` skips."),
    "settings": (
        _settings({**{name: import_command(name) for name in COMMANDS}, **kubectl.COMMANDS}),
        "Settings",
        "A project's settings: `.numalign.toml`, or `[tool.numalign]` in `pyproject.toml`.",
    ),
}
"""Name -> description, title, what it is."""


def made(name: str) -> str:
    """Write a schema as it lies in its file."""
    return "".join(_lines(schema(DOCUMENTS[name][0], name, *DOCUMENTS[name][1:]), 0, "", "\n"))


def _lines(value: object, indent: int, start: str, end: str) -> Iterator[str]:
    flat = json.dumps(value, ensure_ascii=False)
    if (indent and len(flat) + len(start) + indent < WIDTH) or not isinstance(value, dict | list) or not value:
        yield f"{' ' * indent}{start}{flat}{end}"
        return
    brackets = "{}" if isinstance(value, dict) else "[]"
    items = [(f"{json.dumps(key)}: ", one) for key, one in value.items()] if isinstance(value, dict) else None
    rows = items or [("", one) for one in value]
    yield f"{' ' * indent}{start}{brackets[0]}\n"
    for place, (key, one) in enumerate(rows, 1):
        yield from _lines(one, indent + 2, key, "\n" if place == len(rows) else ",\n")
    yield f"{' ' * indent}{brackets[1]}{end}"


if __name__ == "__main__":
    for label in DOCUMENTS:
        (FOLDER / f"{label}.schema.json").write_text(made(label), encoding="utf-8")
