"""How a place inside a document is written: `spec.containers[0].resources.limits["nvidia.com/gpu"]`."""

from __future__ import annotations


def child(path: str, key: str | int) -> str:
    """Extend a path by a list index or by a key; a key that does not read as a name stands quoted in brackets."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not key.replace("-", "_").isidentifier():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
