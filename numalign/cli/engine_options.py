"""Where many independent pieces of work run: the flags of every command that has such work."""

from __future__ import annotations

import click

from numalign.cli.options import MAX_JOBS, Command, Given, flag, with_options
from numalign.tasks.parallel import Engine

_OPTIONS = (
    flag("--jobs", type=click.IntRange(1, MAX_JOBS), help="Processes.  [default: the cores]"),
    flag(
        "--engine",
        "where",
        type=click.Choice(["processes", "dask"]),
        default="processes",
        show_default=True,
        help="Where the work runs; dask needs numalign[dask].",
    ),
    flag("--address", metavar="ADDRESS", help="Of a Dask scheduler; without it one is started here."),
)


def engine_options(function: Command) -> Command:
    """Add --jobs, --engine and --address; the function gets an `Engine` as `engine`."""

    def gather(given: Given) -> None:
        given["engine"] = Engine(given.pop("jobs"), given.pop("where") == "dask", given.pop("address"))

    return with_options(function, _OPTIONS, gather)
