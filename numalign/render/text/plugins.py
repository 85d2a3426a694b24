"""Device plugins that name NUMA nodes which a machine does not have: what it helps a refused pod to mend them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.model.words import few_of
from numalign.render.text.amounts import listed

if TYPE_CHECKING:
    from numalign.results.explain import ExplainedPod

MAX_PODS_NAMED = 4
"""How many pods are named that must not come first."""


def plugins_to_mend(told: ExplainedPod) -> Iterator[str]:
    """Say which plugins to mend, and what becomes of the pod then."""
    if told.repair is None:
        return
    names = [name for name, _ in told.repair.devices]
    ids = sorted({numa for _, wrong in told.repair.devices for numa in wrong})
    many, several = len(names) > 1, len(ids) > 1
    where = f"NUMA node{'s' * several} {listed(list(map(str, ids)))}, which this machine does not have"
    head = "Or mend" if told.repair.admits else "Besides, mend"
    first = ""
    if told.repair.kept_out:
        who = few_of(told.repair.kept_out, MAX_PODS_NAMED)
        first = f", unless {who}, refused so far, {'come' if len(told.repair.kept_out) > 1 else 'comes'} first"
    yield f"{head} the device plugin{'s' * many} of {listed(names)}: {'they name' if many else 'it names'} {where};"
    then = f"this pod would be admitted as it is{first} (tried)" if told.repair.admits else "these devices would count"
    yield f"if {'they' if many else 'it'} named no node at all, {then}"
