"""Writing the files of trees that stand for hosts: thousands of them, a few in each folder."""

from __future__ import annotations

import os


def write(path: str, content: bytes) -> None:
    """Write a file; the folders above it are mostly there."""
    above = os.path.dirname(path)
    if not os.path.isdir(above):
        os.makedirs(above)
    with open(path, "wb") as file:
        file.write(content)
