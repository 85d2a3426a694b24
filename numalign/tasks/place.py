"""Where pods come up: an empty machine, or a node in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.errors import Notice
from numalign.tasks.requests import KubeletRequest, NodeRequest, PodsRequest
from numalign.tasks.setup import LoadedSetup, load_setup
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.admission import Session
    from numalign.model.pod import Pod


class Place(NamedTuple):
    """Where pods come up: a kubelet, and the node as it is."""

    on: LoadedSetup
    there: Session | None = None
    """None: the node is empty."""

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods that are there."""
        return self.there.pods if self.there else ()


def find_place(
    node: str | None, machine: str | None, kubelet: KubeletRequest, pods: PodsRequest
) -> tuple[Place, PodsRequest]:
    """Find the place that is asked for: a node in use, or an empty machine.

    Returns:
        the place, and the pods that come up there: `--beside` tells the pods of a node, so it is not asked for again.

    Raises:
        InputError: something is wrong with it.
        HostError: it cannot be read.
        StartError: the kubelet would not start there.
    """
    if node is None:
        return Place(load_setup(machine, kubelet)), pods
    from numalign.tasks.node import load_node

    loaded = load_node(NodeRequest(node, pods.node_name, pods.beside), machine, kubelet)
    on = loaded.on
    if loaded.unknown:
        text = f"unknown of this node: {'; '.join(loaded.unknown)}"
        on = on._replace(notices=(*on.notices, Notice("node-not-known", text, on.origin)))
    return Place(on, loaded.there), pods._replace(beside=None, node_name=None)
