"""Writing a file whole or not at all: nobody ever finds half of it, and nothing is lost when the writing fails."""

from __future__ import annotations

import os
from collections.abc import Callable

from numalign.errors import InputError


def write_whole(path: str, write: Callable[[str], None]) -> None:
    """Have `write` fill a temporary file beside `path`, then put it in the place of `path` in one step.

    Raises:
        InputError: the file cannot be written.
    """
    temporary = f"{path}.{os.getpid()}.part"
    try:
        try:
            write(temporary)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
