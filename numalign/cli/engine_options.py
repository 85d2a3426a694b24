"""Where many independent pieces of work run: the flags of every command that has such work."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from numalign.cli.options import flag
from numalign.tasks.parallel import Engine

_OPTIONS = (
    flag("--jobs", type=click.IntRange(min=1), help="Processes.  [default: the cores]"),
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


def engine_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --jobs, --engine and --address; the function gets an `Engine` as `engine`."""

    @wraps(function)
    def wrapped(**given: Any) -> object:
        given["engine"] = Engine(given.pop("jobs"), given.pop("where") == "dask", given.pop("address"))
        return function(**given)

    decorated: Callable[..., Any] = wrapped
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
