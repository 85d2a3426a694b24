"""A must-gather of OpenShift: cluster objects as files, and a folder a node with what its collector took there.

Layout as the public collectors write it: `nodes/NODE/` has `podresources.json` and `sysinfo.tgz` (a tree with `sys` and
`proc`), `namespaces/NS/core/pods.yaml` the pods, `cluster-scoped-resources/core/nodes/NODE.yaml` the Node and
`…/machineconfiguration.openshift.io/kubeletconfigs/` the KubeletConfigs. All of it may stand in a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.errors import HostError, InputError, Notice
from numalign.sources.host.text import names_or_none
from numalign.sources.node import kubelet_folder, podresources
from numalign.sources.node.containers import of_statuses
from numalign.sources.node.facts import KubeletSettings, NodeFacts, PodName
from numalign.sources.text import mapping
from numalign.sources.tree.opening import top_of

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.sources.pods.pod_objects import Carrier
    from numalign.sources.text.yaml import Document
    from numalign.sources.tree.folder import Tree

OBJECTS = "cluster-scoped-resources"
_CONFIGS = f"{OBJECTS}/machineconfiguration.openshift.io/kubeletconfigs"


def load(tree: Tree, source: str, node: str) -> NodeFacts | None:
    """Read one node of a must-gather; None: the tree is none.

    Args:
        tree: the must-gather's own folder.
        source: how people call it.
        node: the node's name; empty: the only one there is.

    Raises:
        InputError: there are several nodes and none is named, or no such one.
    """
    if not {OBJECTS, "namespaces", "nodes"} & set(top_of(tree)):
        return None
    from numalign.sources.pods.template_pods import pods_of

    name = _node(tree, source, node)
    manifest = _object(tree, f"{OBJECTS}/core/nodes/{name}.yaml")
    carriers = list(_carriers(tree, name))
    pods = tuple(sorted(pods_of(carriers), key=lambda pod: pod.created))
    settings, notices = _settings(tree)
    answer = kubelet_folder.text(tree, f"nodes/{name}/podresources.json")
    machine = _machine(tree, name)
    unknown = ["the kubelet's files (a must-gather has none)"]
    unknown += [] if machine else ["the hardware (no sysinfo.tgz of the node)"]
    return NodeFacts(
        f"must-gather {source}, node {name}",
        machine=machine,
        settings=settings,
        version=str(mapping(manifest, "status", "nodeInfo").get("kubeletVersion", "")),
        active=frozenset(pod.uid for pod in pods),
        names={pod.uid: PodName(pod.namespace, pod.name) for pod in pods},
        pods=pods,
        containers=of_statuses(one.object for one in carriers),
        podresources=podresources.read_podresources(answer, f"{source}: podresources.json")
        if answer
        else podresources.NOTHING,
        notices=notices,
        unknown=tuple(unknown),
    )


def _node(tree: Tree, source: str, node: str) -> str:
    found = names_or_none(tree, "nodes") or [
        name.removesuffix(".yaml") for name in names_or_none(tree, f"{OBJECTS}/core/nodes") or ()
    ]
    if node:
        if node not in found:
            raise InputError(f"has no node {node}; allowed: {', '.join(found) or 'none'}", source)
        return node
    if len(found) != 1:
        raise InputError(f"has {len(found)} nodes; fix: add --node-name; allowed: {', '.join(found)}", source)
    return found[0]


def _documents(tree: Tree, path: str) -> list[Document]:
    from numalign.sources.text.yaml import load_documents

    content = kubelet_folder.text(tree, path)
    return load_documents(content, f"{tree.name}: {path}") if content else []


def _object(tree: Tree, path: str) -> Mapping[str, object]:
    found = (document.data for document in _documents(tree, path))
    return next((data for data in found if isinstance(data, Mapping)), {})


def _carriers(tree: Tree, node: str) -> Iterator[Carrier]:
    """Yield the pods that are bound to the node and have not ended."""
    from numalign.sources.pods.pod_objects import search
    from numalign.sources.pods.template_pods import has_ended

    for namespace in names_or_none(tree, "namespaces") or ():
        for document in _documents(tree, f"namespaces/{namespace}/core/pods.yaml"):
            for one in search(document, check=False).carriers:
                if one.pod.spec.get("nodeName") == node and not has_ended(one.object):
                    yield one


def _settings(tree: Tree) -> tuple[KubeletSettings | None, tuple[Notice, ...]]:
    names = names_or_none(tree, _CONFIGS) or []
    if len(names) != 1:
        if not names:
            return None, ()
        text = f"{len(names)} KubeletConfigs: the node's is unknown; fix: add --kubelet-config"
        return None, (Notice("node-settings-unknown", text, _CONFIGS),)
    path = f"{_CONFIGS}/{names[0]}"
    fields = kubelet_folder.kubelet_configuration(kubelet_folder.text(tree, path) or "", f"{tree.name}: {path}")
    return (None if fields is None else KubeletSettings(fields, {}, path)), ()


def _machine(tree: Tree, node: str) -> Machine | None:
    """Read the node's hardware: an archive beside the other files."""
    from numalign.sources.host.discovery import discover
    from numalign.sources.tree.archive import archive_in

    try:
        return discover(archive_in(tree, f"nodes/{node}/sysinfo.tgz"), name=node).machine
    except (InputError, HostError, OSError):
        return None
