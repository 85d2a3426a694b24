"""Machines from ResourceSlices: a dump of a cluster, or what `numalign dra slices` printed."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.dra.machine import machine_of, nodes_of
from numalign.errors import InputError, Notice
from numalign.model import machine_checks
from numalign.model.machine import Machine
from numalign.model.words import few_of
from numalign.sources.cluster.claims import objects_of
from numalign.sources.text.yaml import Document


def machine_from_slices(documents: Sequence[Document], node: str | None, name: str) -> tuple[Machine, list[Notice]]:
    """Read the machine of one node, and say what its slices do not tell.

    Args:
        documents: what the file holds.
        node: the node; None: the only one there is.
        name: the file, for errors.

    Raises:
        InputError: a slice is wrong, they do not say enough, or it is not clear which node is meant.
    """
    slices = objects_of(documents).slices
    known = nodes_of(slices)
    if node is None and len(known) != 1:
        listed = few_of(known, 5)
        raise InputError(f"slices of several nodes; fix: name one, as {name}@NODE; allowed: {listed or 'none'}", name)
    if node is not None and node not in known:
        raise InputError(f"no slice of node {node}; allowed: {', '.join(known[:5]) or 'none'}", name)
    try:
        read = machine_of(slices, node or known[0])
    except InputError as error:
        raise InputError(error.message, name) from None
    for finding in machine_checks.errors(read.machine):
        raise InputError(f"the slices are inconsistent: {finding.message}", name)
    return read.machine, [Notice("slices-left-out", text, read.machine.name) for text in read.left_out]
