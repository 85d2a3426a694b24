"""Where many independent pieces of work run: the flags of every command that has such work."""

from __future__ import annotations

import click

from numalign.cli.flags import Given, flag, gathered
from numalign.cli.pod_options import MAX_JOBS
from numalign.tasks.parallel import Engine


@gathered(
    flag("--jobs", type=click.IntRange(1, MAX_JOBS), metavar="N", help="processes [default: all cores]"),
    flag(
        "--engine",
        "where",
        type=click.Choice(["processes", "dask"]),
        default="processes",
        show_default=True,
        help="where to run; dask requires numalign[dask]",
    ),
    flag("--address", metavar="ADDRESS", help="scheduler of Dask [default: start one here]"),
)
def engine_options(given: Given) -> None:
    """Add --jobs, --engine and --address; the function gets an `Engine` as `engine`."""
    given["engine"] = Engine(given.pop("jobs"), given.pop("where") == "dask", given.pop("address"))
