"""What a command that goes on from a node says of the node's files: what is odd, and what to do where they stop it.

docs/rules/kubelet-files.md 30.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.analysis.node.files import MISMATCH, file_findings
from numalign.analysis.node.finding import drain_and_delete
from numalign.errors import Notice
from numalign.kubelet.admission import open_session
from numalign.kubelet.start.restore import refused

if TYPE_CHECKING:
    from numalign.analysis.node.finding import NodeFinding
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.start.restore import Resealed
    from numalign.sources.node.facts import NodeFacts


def odd_files(facts: NodeFacts, setup: Setup) -> Iterator[Notice]:
    """Warn of files that this kubelet takes and another would not, or whose records it would drop."""
    for one in _findings(facts, setup):
        if one.severity == "warning":
            yield Notice("node-file-odd", one.message, one.file)


def checksum_ignored(one: Resealed, root: str) -> Notice:
    """Say that a file was taken for what it says."""
    text = f"wrong checksum (stored {one.stored}, computed {one.right}): used, but the kubelet would not start"
    return Notice("checksum-ignored", text, f"{root}/{one.file}")


def what_to_do(facts: NodeFacts, setup: Setup, *, ignored: bool) -> Iterator[str]:
    """Say of a node whose kubelet would not start with its files what is wrong with them, and what to do in order.

    Args:
        facts: what was found of it.
        setup: its kubelet.
        ignored: checksums do not count already.
    """
    wrong = [one for one in _findings(facts, setup) if one.severity == "error"]
    yield from (f"{one.file}: {one.message}" for one in wrong)
    files = refused(open_session(setup).node, facts.files, facts.containers, facts.root)
    if files:
        yield f"fix: {drain_and_delete(*files)}"
    if not ignored and any(one.code == MISMATCH for one in wrong):
        yield "fix: or read the files anyway: --ignore-checksums"


def _findings(facts: NodeFacts, setup: Setup) -> Iterator[NodeFinding]:
    gate = setup.kubelet.gates_with(setup.config.feature_gates)
    return file_findings(facts.files, {}, setup.kubelet.version, facts.root, gate)
