"""The `numalign` command, and `python -m numalign`: what runs before everything else is imported, and after it.

Nothing heavy is imported here: from the first line on an interrupt ends the process quietly.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130
BUG = 70


def script() -> NoReturn:
    """Run as the process's only job: like `cli.main`, but without taking the interpreter apart.

    Everything is written and flushed when `main` ends; freeing each object would cost a sixth of a short command.
    """
    signal.signal(signal.SIGINT, _end)
    sys.unraisablehook = _unraisable
    status: object = BUG
    # Imports make many objects that live to the end; looking through them for garbage costs a tenth of the start.
    gc.set_threshold(100_000, 10, 10)
    try:
        from numalign.cli import main

        signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except SystemExit as end:
        status = end.code
    signal.signal(signal.SIGINT, _end)
    try:  # noqa: SIM105 (contextlib would be one more import before the first line)
        sys.stderr.flush()
    except OSError:
        pass
    code = status if isinstance(status, int) else BUG
    if "multiprocessing.synchronize" in sys.modules and code != INTERRUPTED:
        sys.exit(code)  # what other processes shared is given back at a proper end only
    os._exit(code)


def _end(*_: object) -> NoReturn:
    """Take an interrupt where there is nothing to tidy up."""
    os._exit(INTERRUPTED)


def _unraisable(told: sys.UnraisableHookArgs) -> None:
    """Take an interrupt that Python would print and forget, since it came where nobody can catch it."""
    if issubclass(told.exc_type, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(told)


if __name__ == "__main__":
    script()
