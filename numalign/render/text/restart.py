"""What a restart of the kubelet does to the pods that run, in words: whom it rejects, and what to do first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.model.words import few_of
from numalign.render.page.document import Block, Note, Paragraph

if TYPE_CHECKING:
    from numalign.analysis.node.restart import Rejection, Restart

MAX_PODS_NAMED = 12
"""How many pods a sentence names."""
MAX_REJECTED_SHOWN = 20
"""How many rejected pods are shown, each with the kubelet's message."""

_WHEN = {"": "", "order": ", if other pods come first", "plugins": ", if its device plugin registers later"}
_ORDER = {
    "random": "The kubelet admits static pods in random order.",
    "unknown": "Order unknown: add --beside FILE (kubectl get pods -o json).",
}


def restart_parts(restart: Restart, subject: str) -> Iterator[Block]:
    """Say whom a restart rejects; nothing where it rejects nobody.

    Args:
        restart: what comes of it.
        subject: what restarts the kubelet.
    """
    if restart.start_error:
        yield Note(f"{subject} fails while these pods run:", "bad")
        yield Note(f'"{restart.start_error}"', "bad", 2)
    rejected = restart.rejected
    if not rejected:
        return
    sure = sum(not one.when for one in rejected)
    doubtful = len(rejected) - sure
    head = f"rejects {sure} of {restart.pods} running pods" if sure else ""
    more = f"can reject {doubtful}{' more' if sure else f' of {restart.pods} running pods'}" if doubtful else ""
    yield Note(f"{subject} {' and '.join(filter(None, (head, more)))}:", "bad")
    yield from (Note(_row(one), "bad", 2) for one in rejected[:MAX_REJECTED_SHOWN])
    if len(rejected) > MAX_REJECTED_SHOWN:
        yield Paragraph(f"{len(rejected) - MAX_REJECTED_SHOWN} more: see -o json", 2)
    if restart.order in _ORDER:
        yield Note(_ORDER[restart.order], "dim", 2)
    yield Paragraph(f"fix: before the restart, move {few_of(restart.first, MAX_PODS_NAMED)} off the node", 2)


def _row(one: Rejection) -> str:
    said = f"{one.reason}: {one.message}" if one.message else one.reason
    return f'{one.name}{_WHEN[one.when]}: "{said}"'


RESTARTS = "A kubelet restart would succeed"
"""The kubelet starts with its files and settings."""


def node_parts(restart: Restart, *, starts: bool = False, wide: bool = False) -> Iterator[Block]:
    """Say what a restart and a reboot of a node do to its pods.

    Args:
        restart: what a restart does.
        starts: also say that the kubelet starts with its files and settings.
        wide: name the pods that need their devices anew.
    """
    survives = starts and not restart.start_error
    yield from restart_parts(restart, f"{RESTARTS}, but" if survives else "A restart")
    if restart.pods and not restart.rejected:
        yield Note(
            f"{RESTARTS} and rejects no running pod." if survives else "A restart rejects no running pod.", "good"
        )
    if restart.memory_may_move:
        yield Note(
            f"Before a reboot, drain the node and delete {MEMORY_FILE}. "
            "The kubelet does not start with this file if a NUMA memory total changes.",
            "dim",
        )
    if wide and restart.devices:
        named = few_of(restart.devices, MAX_PODS_NAMED)
        yield Note(f"After a reboot the kubelet rejects these pods until their device plugins register: {named}", "dim")
