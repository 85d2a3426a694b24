"""`numalign replay`: scenarios in, the kubelet's decisions out, one JSON object a line."""

from __future__ import annotations

import json
from typing import BinaryIO

import click

from numalign.cli.options import kubelet_version_option, quiet_option
from numalign.cli.stderr import counted, say
from numalign.errors import InputError
from numalign.exit_status import ExitStatus
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import NEWEST, kubelet, parse_version
from numalign.kubelet.setup import Setup
from numalign.render.escape import in_json
from numalign.render.json.data import Data
from numalign.render.json.replay import replay_json
from numalign.sources.recorded import scenario
from numalign.tasks.replay import replay


@click.command("replay")
@click.argument("file", type=click.File("rb"))
@kubelet_version_option
@quiet_option
def command(file: BinaryIO, kubelet_version: str | None, quiet: bool) -> ExitStatus:
    """Replay the scenarios in FILE (`-`: standard input), plain or gzip, one JSON object a line.

    Each result is one line, in order, as soon as it is there: the scenario's id and what the kubelet decided, step by
    step. A refused pod or a kubelet that does not start is an answer. A line that is no scenario gives an object with
    `line` and `error`; the rest goes on, and the exit status is 2. A scenario's own `kubeletVersion` comes before the
    flag.

    \b
    Example:
      numalign replay scenarios.jsonl.gz > decisions.jsonl
    """
    asked = NEWEST if kubelet_version is None else parse_version(kubelet_version)
    good = broken = 0
    bug: Exception | None = None
    for number, line in counted(scenario.lines(file), "scenarios"):
        try:
            answer = _answer(line, asked)
            good += 1
        except InputError as error:
            answer = {"line": number, "error": str(error)}
            broken += 1
        except Exception as error:
            # Even a bug of numalign costs its own line only; it is reported in the end.
            answer = {"line": number, "error": f"bug: {type(error).__name__}: {error}"}
            bug = bug or error
        if not quiet:
            click.echo(in_json(json.dumps(answer, separators=(",", ":"))))
    if bug is not None:
        raise bug
    if not broken:
        return ExitStatus.DONE
    say(f'{broken} of {broken + good} lines {"is" if broken == 1 else "are"} no scenario; see "error" in the result')
    return ExitStatus.WRONG_INPUT


def _answer(line: bytes | InputError, asked: Version) -> Data:
    if isinstance(line, InputError):
        raise line
    one = scenario.read(line)
    if one.start_error:
        return {"id": one.id, "startError": one.start_error}
    setup = Setup(one.machine, one.config, "kubelet", kubelet(one.version or asked))
    return {"id": one.id, **replay_json(replay(setup, one.steps))}
