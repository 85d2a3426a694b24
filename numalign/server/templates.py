"""Nodes that nobody knows, judged by the Node objects of a call: an autoscaler asks about nodes that are not there yet.

Such a node is empty. Nodes alike but for their names share one value, so that answers are shared, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from numalign.errors import NumalignError
from numalign.model.path import FieldError
from numalign.scheduler.node import ClusterNode
from numalign.sources.cluster.dump import Dump
from numalign.sources.cluster.fleet import Building
from numalign.sources.cluster.objects import NodeRead, read_node
from numalign.sources.text import inside, mapping
from numalign.tasks.pools import INSTANCE_TYPE, Pools

MAX_KINDS: Final = 2000
"""Kinds of nodes that are remembered; then they are forgotten."""

Say = Callable[[dict[str, object]], None]


class Templates:
    """Makes nodes of Node objects."""

    def __init__(self, pools: Pools, say: Say) -> None:
        """Know the pools; `say` takes a line of the log for each label whose nodes cannot be judged."""
        self._pools = pools
        self._say = say
        self._told: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        self._reads: dict[str, NodeRead] = {}
        self._building = Building(Dump(self._reads), self._pools.setup)
        self._known: dict[str, ClusterNode | None] = {}

    def node(self, thing: Mapping[str, object]) -> ClusterNode | None:
        """Make the empty node of a Node object, the same value for nodes alike; None: it cannot be judged."""
        labels = [inside(thing, "metadata", "labels", name) for name in self._pools.labels]
        amounts = [mapping(thing, "status", key) for key in ("allocatable", "capacity")]
        kind = repr([labels, *amounts, inside(thing, "status", "nodeInfo", "kubeletVersion")])
        if kind not in self._known:
            if len(self._known) >= MAX_KINDS:
                self._forget()
            self._known[kind] = self._made(thing)
        return self._known[kind]

    def _made(self, thing: Mapping[str, object]) -> ClusterNode | None:
        label, why = INSTANCE_TYPE, "its machine is unknown; fix: add --machine-of LABEL=VALUE:MACHINE"
        try:
            read = read_node(thing)
            label = f"{INSTANCE_TYPE}={read.labels.get(INSTANCE_TYPE, '')}"
            self._reads[read.name] = read
            node = self._building.node(read.name)
            if node.session is not None:
                return node
        except (FieldError, NumalignError) as error:
            why = str(error)
        finally:
            self._reads.clear()
        if label not in self._told and len(self._told) < MAX_KINDS:
            self._told.add(label)
            self._say({"level": "warning", "event": "nodes pass unjudged", "label": label, "reason": why})
        return None
