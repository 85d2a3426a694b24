"""Who the containers of a node are: by pod objects, by the runtimes' own files, by `crictl inspect`.

docs/rules/verify.md W-4. crictl is asked on the live host only, once for all that nothing else names; a sosreport has
its answers in files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from numalign.sources.host.text import names_or_none, read_or_none
from numalign.sources.text import elements, inside, mapping
from numalign.sources.tree.folder import Tree
from numalign.values import NamedTuple

BUNDLES = (
    ("run/containerd/io.containerd.runtime.v2.task/k8s.io/{}/config.json", ("annotations",)),
    ("var/lib/containers/storage/overlay-containers/{}/userdata/config.json", ("annotations",)),
    ("var/lib/docker/containers/{}/config.v2.json", ("Config", "Labels")),
)
"""Where containerd, CRI-O and Docker keep what a container is, and under which keys."""
NAMES = ("io.kubernetes.cri.container-name", "io.kubernetes.container.name")
KINDS = ("io.kubernetes.cri.container-type", "io.kubernetes.cri-o.ContainerType", "io.kubernetes.docker.type")
"""Annotations that tell a sandbox."""
_SANDBOXES = ("sandbox", "podsandbox")
_SAVED = "sos_commands/crio/containers"
_CRICTL_SECONDS = 10
"""Seconds that crictl may take."""
_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")

Known = Mapping[str, tuple[str, str]]
"""Container id -> (pod UID, container name)."""


class Identity(NamedTuple):
    """Who a container is."""

    name: str
    """Empty: nobody tells."""
    sandbox: bool = False


def identities(tree: Tree, wanted: Iterable[str], known: Known) -> dict[str, Identity]:
    """Name containers.

    Args:
        tree: the host.
        wanted: container ids.
        known: what pod objects or a snapshot told.

    Returns:
        container id -> who it is; those that nobody names are left out.
    """
    found: dict[str, Identity] = {}
    nameless = []
    for one in wanted:
        who = Identity(known[one][1]) if one in known else of_bundle(tree, one)
        if who is None:
            nameless.append(one)
        else:
            found[one] = who
    if nameless:
        told = {**saved(tree), **(ask_crictl(nameless) if tree.live else {})}
        found |= {one: Identity(told[one][1]) for one in nameless if one in told}
    return found


def of_bundle(tree: Tree, container: str) -> Identity | None:
    """Ask the runtime's files; None: they do not say."""
    for place, keys in BUNDLES:
        try:
            found = mapping(json.loads(tree.read(place.format(container))), *keys)
        except (OSError, ValueError, RecursionError):
            continue
        kinds = {str(found.get(key)) for key in KINDS}
        name = next((str(found[key]) for key in NAMES if found.get(key)), "")
        return Identity(name, not kinds.isdisjoint(_SANDBOXES) or name == "POD")
    return None


def of_statuses(pods: Iterable[Mapping[str, object]]) -> dict[str, tuple[str, str]]:
    """Read the ids that pod objects give to their containers."""
    found = {}
    for pod in pods:
        uid = inside(pod, "metadata", "uid")
        for which in _STATUSES:
            for one in elements(pod, "status", which):
                identity = str(one.get("containerID") or "").rpartition("://")[2]
                if identity and isinstance(uid, str):
                    found[identity] = (uid, str(one.get("name", "")))
    return found


def of_crictl(text: str) -> dict[str, tuple[str, str]]:
    """Read what `crictl inspect` printed: a document, a list of them, or several one after another."""
    found = {}
    for document in _documents(text):
        identity, name = inside(document, "status", "id"), inside(document, "status", "metadata", "name")
        if isinstance(identity, str) and isinstance(name, str):
            found[identity] = (str(mapping(document, "status", "labels").get("io.kubernetes.pod.uid", "")), name)
    return found


def _documents(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    place = 0
    with suppress(ValueError, RecursionError):
        while (place := len(text) - len(text[place:].lstrip())) < len(text):
            document, place = decoder.raw_decode(text, place)
            yield from document if isinstance(document, list) else (document,)


def saved(tree: Tree) -> dict[str, tuple[str, str]]:
    """Read the answers of crictl that a sosreport took."""
    found: dict[str, tuple[str, str]] = {}
    for name in names_or_none(tree, _SAVED) or ():
        if name.startswith("crictl_inspect_"):
            found |= of_crictl(read_or_none(tree, f"{_SAVED}/{name}") or "")
    return found


def ask_crictl(wanted: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Ask crictl of the live host, if it is installed; sandboxes are no containers to it."""
    import shutil
    import subprocess

    program = shutil.which("crictl")
    if program is None:
        return {}
    try:
        done = subprocess.run(  # noqa: S603 (it only reads, and its arguments are hexadecimal ids)
            [program, "inspect", "--output", "json", *wanted], capture_output=True, text=True, timeout=_CRICTL_SECONDS
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return of_crictl(done.stdout)
