"""A disagreement of a scheduler and the kubelet, and what both would say of it if something were otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from numalign.errors import StartError
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.node import start
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.request import PodRequest
from numalign.values import NamedTuple

Distrust = Literal["", "reserved", "foreign"]


class Case(NamedTuple):
    """One disagreement."""

    node: ClusterNode
    session: Session
    """The twin of its kubelet."""
    pod: Pod
    request: PodRequest
    nrt: NodeResourceTopology | None
    """What the scheduler read."""
    kai: KaiTopology | None
    passes: bool
    """What the scheduler says."""
    admits: bool
    """What the kubelet says."""
    distrust: Distrust = ""
    """Why the plugin's cache does not trust what it has (T-3): a pod on its way there, or a pod of somebody else."""


TakenBack: TypeAlias = Callable[[Case], bool]
"""Tells whether both agree once a cause is taken back."""


class KnownCause(NamedTuple):
    """Why a scheduler and a kubelet may disagree."""

    code: str
    """`X-1` … `X-9`, `XK-1` … `XK-8`, `T-14`, `KEP` (today's plugin knows better), `blind`, …"""
    text: str
    """One clause."""
    taken_back: TakenBack


def published_now(case: Case) -> NodeResourceTopology:
    """Write the object that the node would publish now."""
    return export(case.session, case.node.name, ExportOptions())


def admits_with(case: Case, **settings: object) -> bool:
    """Tell whether the kubelet would admit the pod with other settings; as it did, where it would not start so."""
    session = case.session
    config: KubeletConfig = session.node.config._replace(**settings)  # type: ignore[arg-type]  # fields of its own
    if config == session.node.config:
        return case.admits
    try:
        node, empty = start(Setup(session.node.machine, config, "ideal", session.node.kubelet))
    except StartError:
        return case.admits
    state = session.state
    if config.memory_manager_policy == "None":
        state = state._replace(states=(state.device, state.cpu, empty.memory))
    return admission.admits(Session(node, state, session.view, session.pods), case.pod)
