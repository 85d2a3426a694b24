"""One thing that is odd about a node: a stable code, the file it is in, and what to do about it."""

from __future__ import annotations

from typing import Literal

from numalign.values import NamedTuple

Severity = Literal["error", "warning", "info"]
"""`error`: the kubelet would not come up again. `warning`: somebody should look. `info`: worth knowing."""


class NodeFinding(NamedTuple):
    """One finding."""

    code: str
    severity: Severity
    file: str
    """Path on the node; empty: no single file."""
    message: str
    """What is seen, with the values."""
    remedy: str
    """What to do, in order."""


def drain_and_delete(*files: str) -> str:
    """Say how files that stop the kubelet are got rid of."""
    return f"drain the node, stop the kubelet, delete {' and '.join(files)}, start the kubelet"
