"""`numalign replay`: scenarios in, the kubelet's decisions out, one JSON object a line."""

from __future__ import annotations

import json
from typing import BinaryIO

import click

from numalign.cli.options import quiet_option
from numalign.cli.stderr import counted, say
from numalign.errors import InputError
from numalign.render.json.replay import replay
from numalign.sources.recorded import scenario


@click.command("replay")
@click.argument("file", type=click.File("rb"))
@quiet_option
def command(file: BinaryIO, quiet: bool) -> int:
    """Replay the scenarios in FILE (`-`: standard input), plain or gzip, one JSON object a line.

    Each result is one line, in order, as soon as it is there: the scenario's id and what the kubelet decided, step by
    step. A refused pod or a kubelet that does not start is an answer. A line that is no scenario gives an object with
    `line` and `error`; the rest goes on, and the exit status is 2.

    \b
    Example:
      numalign replay scenarios.jsonl.gz > decisions.jsonl
    """
    done = broken = 0
    for number, line in counted(scenario.lines(file), "scenarios"):
        try:
            if isinstance(line, InputError):
                raise line
            one = scenario.read(line)
            decided = {"startError": one.start_error} if one.start_error else replay(one.config, one.machine, one.steps)
            answer = {"id": one.id, **decided}
            done += 1
        except InputError as error:
            answer = {"line": number, "error": str(error)}
            broken += 1
        if not quiet:
            click.echo(json.dumps(answer, separators=(",", ":")))
    if not broken:
        return 0
    say(f'{broken} of {broken + done} lines {"is" if broken == 1 else "are"} no scenario; see "error" in the result')
    return 2
