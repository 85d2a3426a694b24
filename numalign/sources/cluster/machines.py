"""Machine files as a cluster: each is a node, called as the machine is."""

from __future__ import annotations

import os
from collections.abc import Iterable

from numalign.errors import InputError, Notice
from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.sources.cluster.fleet import Built
from numalign.sources.cluster.kubelets import Identity, Kubelets, Requests, allocatable_of, always, unjudged_of
from numalign.sources.kubelet import configuration
from numalign.sources.machine.file import load_machine


def read(files: Iterable[str]) -> Built:
    """Read machine files, each a node of its own; its nodes are empty.

    Raises:
        InputError: one is wrong, or two machines have one name.
        StartError: the kubelet of a node would not start.
    """
    kubelets, requests = Kubelets(), Requests()
    nodes: dict[str, ClusterNode] = {}
    notices: list[Notice] = []
    for file in files:
        loaded = load_machine(os.path.join(".", file) if os.path.basename(file) == file else file)
        setup = Setup(loaded.machine, IDEAL, "ideal")
        if loaded.machine.kubelet is not None:
            found = configuration.from_data(loaded.machine.kubelet, f"{file}: kubelet")
            setup = Setup(loaded.machine, found.config, "kubelet")
            notices += found.warnings
        name = loaded.machine.node.name or loaded.machine.name
        if name in nodes:
            raise InputError(f'two machines are called "{name}"', file)
        session = kubelets.open(file, always(setup), Identity(name, loaded.machine.node.labels or {}))
        nodes[name] = ClusterNode(
            name=name,
            totals=requests.totals(allocatable_of(session.view), (), unjudged_of(session)),
            session=session,
            known="exact",
            labels=loaded.machine.node.labels or {},
            taints=loaded.machine.node.taints,
        )
        notices += loaded.warnings
    return Built(Fleet(tuple(nodes.values())), tuple(notices))
