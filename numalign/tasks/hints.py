"""Questions of the Topology Manager's history that need no pod: policies over hints, and the sets a plugin prefers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.compare.hint_policies import Compared, compare, every_combination
from numalign.analysis.compare.preferred_sets import PreferredSets, preferred_sets
from numalign.errors import InputError
from numalign.kubelet.proposals.preferred_sets import PREFERRED_SETS
from numalign.tasks.history import check_size
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.releases.release import Kubelet
    from numalign.model.machine import Machine

EVERY = "every"
"""Stands for every pair of hints on two NUMA nodes."""

MAX_DEVICES = 1024
"""Devices of which preferred sets are made."""


class ComparedHints(NamedTuple):
    """What policies make of hints, combination by combination."""

    combinations: tuple[Compared, ...]
    nodes: int
    """How many NUMA nodes the hints are about."""


def compare_hints(given: str, kubelet: Kubelet) -> ComparedHints:
    """Merge hints under the policies of the feedback document and under a kubelet's own.

    Args:
        given: hints as text, a file of them, or `EVERY`.
        kubelet: whose policies stand beside those of the document.

    Raises:
        InputError: the hints cannot be read.
    """
    if given == EVERY:
        return ComparedHints(tuple(compare(providers, 2, kubelet) for providers in every_combination(2)), 2)
    from numalign.sources.recorded.hint_lists import read

    providers, nodes = read(given)
    return ComparedHints((compare(providers, nodes, kubelet),), nodes)


def compare_sets(asked: str, machine: Machine) -> PreferredSets:
    """List the sets of devices that a plugin prefers, and the hints with and without them.

    Args:
        asked: `RESOURCE=N`.
        machine: whose devices and links.

    Raises:
        InputError: no such resource, or too large a machine.
    """
    resource, _, number = asked.rpartition("=")
    if not (number.isascii() and number.isdigit()) or not 1 <= int(number) <= MAX_DEVICES:
        raise InputError(f"expected RESOURCE=N like nvidia.com/gpu=2, got {asked!r}", "--preferred-sets")
    check_size([PREFERRED_SETS], machine)
    return preferred_sets(machine, resource, int(number))
