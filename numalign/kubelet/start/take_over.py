"""A kubelet that starts where pods run already: what they hold stays theirs where its settings and machine allow it."""

from __future__ import annotations

from numalign.errors import StartError
from numalign.kubelet import cpu
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Session, admit, open_session
from numalign.kubelet.device.state import DeviceManager
from numalign.kubelet.node import Node
from numalign.kubelet.setup import Setup


def take_over(setup: Setup, there: Session, *, fit_check: bool = True) -> Session:
    """Start a kubelet on a node in use.

    With other settings or another machine its state files could stop it (docs/rules/kubelet-files.md 56); then the
    node has to be drained and its pods come again, in the order in which they are known.

    Args:
        setup: the machine, the settings, the kubelet.
        there: the node as it is.
        fit_check: judge the node as a whole after the managers.

    Raises:
        StartError: the kubelet would refuse to start, also without any state.
    """
    session = open_session(setup, fit_check=fit_check)
    new, old = session.node, there.node
    # The kubelet that runs there does not start again, so nothing can stop it.
    if (new.machine, new.config, new.kubelet) == (old.machine, old.config, old.kubelet) or _keeps(new, there):
        return session._replace(state=there.state, pods=there.pods)
    for pod in there.pods:
        session = admit(session, pod).then
        session = session._replace(state=twin.start_containers(session.node, session.state, pod.uid).state)
    return session


def _keeps(node: Node, there: Session) -> bool:
    """Tell whether what pods hold is possible on a node, for every manager."""
    old = there.node
    if old.cpu.policy != node.cpu.policy:
        return False
    try:
        cpu.validate(node.cpu, there.state.cpu)
    except StartError:
        return False
    return node.memory == old.memory and _same_devices(node.device, old.device)


def _same_devices(one: DeviceManager, other: DeviceManager) -> bool:
    """Sets of devices count places, so the devices must be the very same."""
    return one.nodes == other.nodes and {name: held.devices for name, held in one.resources.items()} == {
        name: held.devices for name, held in other.resources.items()
    }
