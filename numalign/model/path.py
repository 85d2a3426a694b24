"""How a place inside a document is written: `spec.containers[0].resources.limits["nvidia.com/gpu"]`."""

from __future__ import annotations

from typing import Final

MAX_KEY: Final = 200
"""Most characters of a key in a path: paths are made for each field, so a longer one would cost its square."""


def child(path: str, key: str | int) -> str:
    """Extend a path by a list index or by a key; a key that does not read as a name stands quoted in brackets."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if len(key) > MAX_KEY:
        key = f"{key[:MAX_KEY]}…"
    if not key.replace("-", "_").isidentifier():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
