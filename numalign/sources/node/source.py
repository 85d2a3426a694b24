"""A node from whatever a person has of it: recognised by what is in it, not by what it is called.

A snapshot of ours, a host's root folder or an archive of it (a sosreport is one), a kubelet's root folder, a
must-gather, a saved answer of the PodResources API, its socket. What a source does not tell is named.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from typing import Final

from numalign.errors import HostError, InputError, Notice
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.device.checkpoint import FILE as DEVICE_FILE
from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.kubelet.start.restore import ROOT
from numalign.model.machine import Machine
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.node import kubelet_folder, podresources
from numalign.sources.node.facts import FURTHER_FILES, KubeletSettings, NodeFacts, PodName, claimed, granted
from numalign.sources.text import listed, mapping
from numalign.sources.tree.folder import FolderTree, InnerTree, LiveTree, Tree
from numalign.sources.tree.opening import mode_of, top_of
from numalign.store.reading import beginning, reading

MAX_ANSWER = 64 << 20
"""Most characters of a saved answer of the PodResources API; a live one may have 16 MiB."""
SNAPSHOT = "numalign/snapshot.json"
"""What a snapshot says of itself, inside its archive."""
REFUSED = " (may not be read)"
"""What follows the path of a file that the maker of a snapshot may not read."""
_KUBELET = {CPU_FILE, MEMORY_FILE, "device-plugins", "pods", "pod-resources"}
_DEVICES = f"{ROOT.strip('/')}/{DEVICE_FILE}"


def load(source: str, node: str = "") -> NodeFacts:
    """Read what a source tells of a node.

    Args:
        source: a file, a folder, or a socket.
        node: the node's name, where the source has several.

    Raises:
        InputError: it is nothing that tells of a node.
        HostError: what it is may not be read.
    """
    mode = mode_of(source)
    if stat.S_ISSOCK(mode):
        from numalign.sources.node.podresources_live import ask

        return _of_answer(source, ask(source))
    if stat.S_ISDIR(mode):
        return _folder(source, node)
    if not stat.S_ISREG(mode):
        raise InputError("is not a file, a folder or a socket", source)
    return _file(source, node)


def _file(source: str, node: str) -> NodeFacts:
    try:
        head = beginning(source, 4096).lstrip()
    except OSError as error:
        raise HostError(f"cannot be read: {error.strerror}", source) from None
    if head[:1] in (b"{", b"["):
        with reading(source) as file:
            content = file.read(MAX_ANSWER + 1).decode("utf-8", "replace")
        if len(content) > MAX_ANSWER:
            raise InputError(f"is larger than {MAX_ANSWER >> 20} MiB, the most for an answer of a kubelet", source)
        return _of_answer(source, podresources.read_podresources(content, source))
    from numalign.sources.tree.archive import ArchiveTree

    return _tree(ArchiveTree(source), source, node)


def _folder(source: str, node: str) -> NodeFacts:
    real = os.path.realpath(source)
    tree = FolderTree(source)
    found = set(top_of(tree))
    if real == ROOT:
        return _of_this_host(source)
    if found & _KUBELET and "sys" not in found:
        if real.endswith(ROOT) and os.path.isdir(real.removesuffix(ROOT) + "/sys"):
            return of_host(FolderTree(real.removesuffix(ROOT)), source)
        return _kubelet_folder(tree)
    return _tree(tree, source, node)


def _tree(tree: Tree, source: str, node: str) -> NodeFacts:
    """Tell host, must-gather and kubelet folder apart; one folder that wraps them all is looked through."""
    found = set(top_of(tree))
    if found & {"sys", "var"} or SNAPSHOT.partition("/")[0] in found:
        name = "snapshot" if "numalign" in found else "sosreport" if "sos_commands" in found else "host tree"
        return of_host(tree, f"{name} {source}")
    if found & _KUBELET:
        return _of_kubelet(tree, "", DEVICE_FILE, NodeFacts(source))
    from numalign.sources.node import must_gather

    gathered = must_gather.load(tree, source, node)
    if gathered is not None:
        return gathered
    if len(found) == 1:
        return _tree(InnerTree(tree, found.pop()), source, node)
    text = "not a node; allowed: snapshot, /var/lib/kubelet, must-gather, sosreport, PodResources answer, state file"
    raise InputError(text, source)


def _kubelet_folder(tree: FolderTree) -> NodeFacts:
    source = tree.name
    facts = _of_kubelet(tree, "", DEVICE_FILE, NodeFacts(source))
    content = kubelet_folder.text(tree, "config.yaml")
    fields = None if content is None else kubelet_folder.kubelet_configuration(content, f"{source}/config.yaml")
    if fields is None:
        return facts
    return facts._replace(settings=KubeletSettings(fields, {}, f"{source}/config.yaml"))


def _of_kubelet(tree: Tree, root: str, devices: str, facts: NodeFacts) -> NodeFacts:
    """Add what a kubelet's root folder tells."""
    files, further, quiet = kubelet_folder.read_files(tree, root, devices)
    text = "the kubelet's files changed during the read and may not match"
    return facts._replace(
        files=files,
        further=further,
        granted=granted(further),
        claims=claimed(further),
        active=kubelet_folder.active_pods(tree, root),
        notices=() if quiet else (Notice("node-files-changing", text, tree.name),),
    )


def of_host(tree: Tree, origin: str) -> NodeFacts:
    """Read all that a host's root tells: hardware, kubelet, pods.

    Raises:
        HostError: a file that matters may not be read, or could not when the snapshot was taken.
        InputError: the tree is hostile.
    """
    told = _told(tree)
    flags = _flags(tree, told)
    root = kubelet_folder.root_of(flags).strip("/")
    _check_readable(_missing(told), flags, root, origin)
    facts = _of_kubelet(tree, root, _DEVICES, NodeFacts(origin, root=f"/{root}"))
    settings, odd = kubelet_folder.read_settings(tree, flags, kubelet_folder.kubelet_configuration)
    machine, notices, unknown = _machine(tree)
    answer = told.get("podResources")
    version = told.get("kubeletVersion")
    return facts._replace(
        tree=tree,
        machine=machine,
        settings=settings,
        version=version if isinstance(version, str) else "",
        names={**kubelet_folder.pod_names(tree), **_names(told)},
        containers=_containers(told),
        podresources=podresources.NOTHING
        if answer is None
        else podresources.answer_of(answer, f"{origin}: podResources"),
        notices=(*facts.notices, *odd, *notices),
        unknown=(*unknown, *_missing(told)),
    )


def _of_this_host(origin: str) -> NodeFacts:
    """Read the node we are on, whose kubelet is asked, too: only it knows where free devices lie (62)."""
    from numalign.sources.node.processes import kubelet_version

    facts = of_host(LiveTree(), origin)
    answer, why = ask_live(facts.root)
    facts = facts._replace(version=facts.version or kubelet_version())
    if answer is None:
        return facts._replace(unknown=(*facts.unknown, f"NUMA nodes of free devices, stopped device plugins ({why})"))
    return facts._replace(podresources=podresources.answer_of(answer, f"{origin}/{SOCKET}"))


SOCKET = "pod-resources/kubelet.sock"
"""Of the PodResources API, below the kubelet's root folder."""


def ask_live(root: str) -> tuple[object, str]:
    """Ask the kubelet of this host; returns its answer (None: it did not) and why not."""
    path = f"{root}/{SOCKET}"
    try:
        os.stat(path)
    except OSError as error:
        return None, f"{path}: {error.strerror}"
    from numalign.sources.node.podresources_live import answer

    try:
        return answer(path), ""
    except (HostError, InputError) as error:
        return None, str(error)


def _told(tree: Tree) -> Mapping[str, object]:
    """Read what a snapshot says of itself; of any other tree nothing."""
    content = kubelet_folder.text(tree, SNAPSHOT)
    if content is None:
        return {}
    try:
        told = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", f"{tree.name}: {SNAPSHOT}") from None
    if not isinstance(told, dict) or told.get("kind") != "NodeSnapshot":
        raise InputError("is not a NodeSnapshot", f"{tree.name}: {SNAPSHOT}")
    return told


def _missing(told: Mapping[str, object]) -> list[str]:
    """What the snapshot's maker could not read."""
    return [str(one) for one in listed(told, "unreadable")]


def _check_readable(missing: Iterable[str], flags: Mapping[str, str] | None, root: str, origin: str) -> None:
    """Refuse a snapshot without the files on which every answer depends, as a node is refused that has them locked."""
    state, more = (f"{root}/{CPU_FILE}", f"{root}/{MEMORY_FILE}"), (f"{root}/{name}" for name in FURTHER_FILES)
    locked = {one.removesuffix(REFUSED).strip("/") for one in missing}
    needed = [path for path in (*state, _DEVICES, *kubelet_folder.config_places(flags), *more) if path in locked]
    if needed:
        others = f" (and {len(needed) - 1} more files)" if len(needed) > 1 else ""
        text = f"was not readable{others} for the snapshot; fix: take the snapshot again as root"
        raise HostError(text, f"{origin}: /{needed[0]}")


def _flags(tree: Tree, told: Mapping[str, object]) -> Mapping[str, str] | None:
    """Return the flags of the kubelet's command line, without dashes; None: none runs."""
    flags = told.get("kubeletFlags")
    if isinstance(flags, dict):
        return {key: str(value) for key, value in flags.items()}
    if tree.live:
        from numalign.sources.node.processes import running_kubelet

        words = running_kubelet()
        return None if words is None else flags_of_words(words)
    return kubelet_folder.find_flags(tree)


def _names(told: Mapping[str, object]) -> dict[str, PodName]:
    pods = {uid: pod for uid, pod in mapping(told, "pods").items() if isinstance(pod, dict)}
    return {uid: PodName(str(pod.get("namespace", "")), str(pod.get("name", ""))) for uid, pod in pods.items()}


def _containers(told: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    pairs = mapping(told, "containers")
    return {key: (str(pair[0]), str(pair[1])) for key, pair in pairs.items() if isinstance(pair, list)}


def _machine(tree: Tree) -> tuple[Machine | None, tuple[Notice, ...], tuple[str, ...]]:
    """Read the hardware; a source without it is a source without it."""
    from numalign.sources.host.discovery import discover

    why = "no /sys found"
    if "sys" in top_of(tree):
        try:
            found = discover(tree)
        except HostError as error:
            why = error.message
        else:
            if found.machine is not None:
                return found.machine, (), ()
            why = str(found.kubelet_error)
    return _machine_by_tools(tree) or (None, (), (f"the hardware ({why})",))


_TOOLS: Final = (
    *("sos_commands/processor/lscpu", "sos_commands/processor/lscpu_-ae"),
    *("sos_commands/numa/numactl_--hardware", "sos_commands/processor/numactl_--hardware"),
)
"""What sosreport keeps of the tools that know the hardware."""


def _machine_by_tools(tree: Tree) -> tuple[Machine, tuple[Notice, ...], tuple[str, ...]] | None:
    """Read the hardware from the outputs of lscpu and numactl in a sosreport."""
    texts = [content for path in _TOOLS if (content := kubelet_folder.text(tree, path))]
    if not texts:
        return None
    from numalign.sources.machine.pasted.machine import machine_of, told_by

    try:
        told = told_by("\n\n".join(texts), tree.name)
        machine, notices = machine_of(told, "sosreport") if told else (None, ())
    except InputError:
        return None
    return None if machine is None else (machine, notices, ())


def _of_answer(source: str, answer: podresources.PodResources) -> NodeFacts:
    """Say what an answer of the PodResources API alone tells."""
    unknown = [
        "the kubelet's policies",
        "CPUs of running init containers",
        "free memory of single nodes inside a group",
    ]
    if answer.allocatable is None:
        unknown.append("reserved CPUs and free devices (no GetAllocatableResources found)")
    return NodeFacts(source, podresources=answer, unknown=tuple(unknown))
