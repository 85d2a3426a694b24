"""What people hand to the library: machines, configurations and pods, from files, by name, or as values."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.tasks import setup as setup_task
from numalign.tasks.loaded_pods import load_pods as load_pods_of
from numalign.tasks.requests import KubeletRequest, PodsRequest


def load_machine(name: str) -> Machine:
    """Read a machine: the name of a bundled one, a machine file, or a short form (`sockets=2,coresPerNumaNode=8`).

    Raises:
        InputError: there is no such machine, or its file is wrong.
    """
    return setup_task.load_machine(name).machine


def this_host() -> Machine:
    """Read the live host as its kubelet sees it.

    Raises:
        HostError: the host cannot be read.
    """
    return setup_task.load_machine(None).machine


def load_config(path: str) -> KubeletConfig:
    """Read a KubeletConfiguration file, or the JSON of a node's /configz.

    Raises:
        InputError: the file is wrong.
        StartError: the kubelet would not accept it.
    """
    from numalign.sources.kubelet import configuration

    return configuration.load(path)[0]


def load_pods(*names: str, replicas: int | None = None) -> tuple[Pod, ...]:
    """Read the pods of files and folders: Pods, Lists, and whatever carries a pod template.

    Args:
        names: files and folders.
        replicas: how many pods of each template; None: one.

    Raises:
        InputError: an input cannot be read or has no pod, or a pod is one the API server would refuse.
    """
    loaded = load_pods_of(PodsRequest(names, replicas=replicas))
    if loaded.broken:
        raise loaded.broken[0]
    return loaded.tried


def load_running(path: str) -> tuple[Pod, ...]:
    """Read pods that are on the node already (`kubectl get pods -o json`), oldest first, without finished ones.

    Raises:
        InputError: the file cannot be read, or there is neither pod nor list in it.
    """
    from numalign.sources.pods.beside import read_beside

    return read_beside(path).pods


def setup_of(
    machine: Machine | str,
    config: KubeletConfig | None = None,
    settings: Mapping[str, str] | None = None,
    kubelet: str | None = None,
) -> Setup:
    """Put machine and settings together as the command line does."""
    found = load_machine(machine) if isinstance(machine, str) else machine
    request = KubeletRequest(settings=settings or {}, version=kubelet)
    return setup_task.setup_on(found, found.name, request, config).setup
