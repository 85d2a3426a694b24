"""How a place inside a manifest is written: `spec.containers[0].resources.limits[nvidia.com/gpu]`."""

from __future__ import annotations


def child(path: str, key: str | int) -> str:
    """Extend a path by a list index or by a key; keys that would not read as a name stand in brackets."""
    if isinstance(key, int) or not key.replace("-", "").replace("_", "").isalnum():
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key
