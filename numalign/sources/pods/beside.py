"""The pods that are on a node already: those of a cluster's list that are bound to it and have not ended."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.errors import InputError, Notice
from numalign.model.pod import Manifest, Pod
from numalign.sources.pods.pod_objects import Carrier, search
from numalign.sources.pods.template_pods import has_ended, pods_of
from numalign.sources.text.yaml import FilePath, load_file, shown_name
from numalign.values import NamedTuple

_MAX_NODES_SHOWN = 8


class Beside(NamedTuple):
    """The pods of a list that count, and how many do not."""

    pods: tuple[Pod, ...]
    """Oldest first."""
    finished: int
    elsewhere: int
    """Pods bound to other nodes, or to none where others are."""
    objects: tuple[Manifest, ...]
    """The pods that count, as they are written."""
    coming: tuple[Pod, ...]
    """All that come again when the kubelet restarts: static pods that it rejected come with them."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Say what does not count."""
        parts = [
            *([f"{self.elsewhere} on other nodes"] if self.elsewhere else []),
            *([f"{self.finished} ended"] if self.finished else []),
        ]
        if not parts:
            return ()
        return (Notice("beside-passed-over", f"skipped pods of --beside: {', '.join(parts)}"),)


def read_beside(name: FilePath, node: str | None = None, machine: Sequence[str] = ()) -> Beside:
    """Read the pods that are on the node already.

    They are not validated: they come from an API server. A list without any pod is fine. Where pods name nodes, only
    those bound to the node in question count.

    Args:
        name: a file, or `-`.
        node: the node's name as asked for; None: the machine's name if a pod is bound to it, else the only name.
        machine: what the machine may be called as a node.

    Raises:
        InputError: the input cannot be read, has neither pod nor list, two pods have the same name or uid, or it is
            not to be told which node is meant.
    """
    carriers: list[Carrier] = []
    lists = 0
    for document in load_file(name, last=True):
        document.data = _as_list(document.data)
        found = search(document, check=False)
        carriers += found.carriers
        lists += len(found.lists)
    carriers = [_under_its_own_uid(one) for one in carriers]
    if not carriers and not lists:
        raise InputError("no pod found; fix: kubectl get pods -o json", shown_name(name))
    active = [one for one in carriers if not has_ended(one.object)]
    again = _bound([one for one in carriers if not has_ended(one.object) or _comes_again(one)], node, machine, name)
    here = [one for one in again if not has_ended(one.object)]
    return Beside(
        pods=_in_order(here),
        finished=len(carriers) - len(active),
        elsewhere=len(active) - len(here),
        objects=tuple([one.object for one in here]),
        coming=_in_order(again),
    )


def _in_order(carriers: Sequence[Carrier]) -> tuple[Pod, ...]:
    return tuple(sorted(pods_of(carriers), key=lambda pod: pod.created))


def _as_list(data: object) -> object:
    """Take what a kubelet's `/pods` or `jq` makes of it for pods: neither names a kind for each, a bare list none."""
    if data is None or isinstance(data, list):
        return {"kind": "PodList", "items": data}
    if isinstance(data, dict) and not data.get("kind"):
        return {"kind": "PodList" if "items" in data else "Pod", **data}
    return data


def _under_its_own_uid(carrier: Carrier) -> Carrier:
    """Call a static pod as its kubelet does: the API server's copy of it has another UID."""
    own = carrier.pod.annotations.get("kubernetes.io/config.mirror")
    return carrier._replace(pod=carrier.pod._replace(uid=own)) if own else carrier


def _comes_again(carrier: Carrier) -> bool:
    """Tell whether a pod that has ended comes again with the kubelet: one of its own files that it rejected."""
    status = carrier.object.get("status") or {}
    return carrier.pod.is_static and "rejected" in str(status.get("message"))


def _bound(carriers: Sequence[Carrier], node: str | None, machine: Sequence[str], name: FilePath) -> list[Carrier]:
    """Take the pods of the node in question; all, where no pod of the list names a node."""
    names = sorted({one.pod.spec.get("nodeName") or "" for one in carriers} - {""})
    if not names:
        return list(carriers)
    if node is None:
        node = next((known for known in machine if known in names), names[0] if len(names) == 1 else None)
    if node is None:
        shown = ", ".join(names[:_MAX_NODES_SHOWN]) + (", …" if len(names) > _MAX_NODES_SHOWN else "")
        message = f"the pods are on {len(names)} nodes; fix: add --node-name; allowed: {shown}"
        raise InputError(message, shown_name(name))
    return [one for one in carriers if one.pod.spec.get("nodeName") == node]
