"""A kubelet's root folder: its state files, its configuration, the pods that have data there.

docs/rules/kubelet-files.md 1, 4, 31, 32. Files are read and read again until nothing changed in between, since the
kubelet writes them one after another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from numalign.errors import HostError, Notice
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.kubelet.start.restore import ROOT, StateFiles
from numalign.sources.host.text import names_or_none, read_or_none
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.kubelet.configuration import with_drop_ins
from numalign.sources.kubelet.flags import known_flags
from numalign.sources.node.facts import FURTHER_FILES, KubeletSettings, PodName
from numalign.sources.text import mapping
from numalign.sources.tree.folder import Tree

MAX_READS = 5
"""How often the files are read before we give up waiting for a quiet moment."""
PAUSE_SECONDS = 0.2
"""Seconds between two reads of a live node."""
USUAL_CONFIGS = (
    "var/lib/kubelet/config.yaml",
    "etc/kubernetes/kubelet.conf",
    "etc/kubernetes/kubelet/config.json",
    "etc/kubernetes/kubelet/kubelet-config.json",
    "etc/kubernetes/kubelet-config.yaml",
    "home/kubernetes/kubelet-config.yaml",
)
"""Where a KubeletConfiguration is usually found: kubeadm and kind, OpenShift, EKS (twice), others, GKE."""
POD_LOGS = "var/log/pods"
"""A folder per pod, called NAMESPACE_NAME_UID."""


def read_files(tree: Tree, root: str, devices: str) -> tuple[StateFiles, Mapping[str, str], bool]:
    """Read the state files until two reads agree.

    Args:
        tree: where they are.
        root: the kubelet's root folder in it.
        devices: the path of the Device Manager's file, which is not always below the root folder.

    Returns:
        the files, name -> text of the further ones, and whether two reads agreed.

    Raises:
        HostError: a file is there and may not be read.
    """
    before = None
    for attempt in range(MAX_READS if tree.live else 2):
        if attempt > 1:
            time.sleep(PAUSE_SECONDS)
        found = (
            StateFiles(
                text(tree, _join(root, CPU_FILE)),
                text(tree, _join(root, MEMORY_FILE)),
                text(tree, devices),
            ),
            {name: content for name in FURTHER_FILES if (content := text(tree, _join(root, name))) is not None},
        )
        if found == before:
            return *found, True
        before = found
    return *found, False


def text(tree: Tree, path: str) -> str | None:
    """Read a file; None: it is not there.

    Raises:
        HostError: it may not be read.
    """
    try:
        return tree.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _locked(error, tree, path) from None


def _locked(error: OSError, tree: Tree, path: str) -> HostError:
    place = f"/{path}" if tree.live else f"{tree.name}: {path}"
    hint = "; fix: run as root" if isinstance(error, PermissionError) and tree.live else ""
    return HostError(f"cannot be read: {error.strerror}{hint}", place)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def active_pods(tree: Tree, root: str) -> frozenset[str] | None:
    """List the pods that have data on the node; None: nobody knows."""
    found = names_or_none(tree, _join(root, "pods"))
    return None if found is None else frozenset(name for name in found if not name.startswith("."))


def pod_names(tree: Tree) -> dict[str, PodName]:
    """Read the names of pods from the folders of their logs."""
    found = {}
    for name in names_or_none(tree, POD_LOGS) or ():
        parts = name.split("_")
        if len(parts) == 3:
            found[parts[2]] = PodName(parts[0], parts[1])
    return found


def find_flags(tree: Tree) -> dict[str, str] | None:
    """Find the flags of the running kubelet's command line, without dashes, in a tree that has /proc."""
    for name in filter(str.isdecimal, names_or_none(tree, "proc") or ()):
        words = (read_or_none(tree, f"proc/{name}/cmdline") or "").split("\0")
        program = words[0].rpartition("/")[2]
        if program in ("kubelet", "hyperkube") and (program == "kubelet" or "kubelet" in words[1:2]):
            return flags_of_words(words[1:])
    return None


def root_of(flags: Mapping[str, str] | None) -> str:
    """Name the kubelet's root directory."""
    return (flags or {}).get("root-dir", ROOT)


def config_places(flags: Mapping[str, str] | None) -> tuple[str, ...]:
    """Name the files that may hold the kubelet's configuration, the first that does counts."""
    named = (flags or {}).get("config")
    return (named.lstrip("/"),) if named else USUAL_CONFIGS


def read_settings(
    tree: Tree, flags: Mapping[str, str] | None, load: Callable[[str, str], Mapping[str, object] | None]
) -> tuple[KubeletSettings | None, tuple[Notice, ...]]:
    """Read a kubelet's configuration: the file its command line names, else the usual ones; drop-ins and flags over it.

    Args:
        tree: where the files are.
        flags: those of its command line, if there is one.
        load: reads a text (with its name) into the fields of a KubeletConfiguration; None: it is another document.

    Raises:
        InputError: a file is no YAML.
        HostError: a file may not be read, or the folder of drop-ins not be listed.
    """
    flags = flags or {}
    for path in config_places(flags):
        content = text(tree, path)
        fields = None if content is None else load(content, f"{tree.name}: {path}")
        if fields is not None:
            break
    else:
        if not flags:
            return None, ()
        # A kubelet without a main file has no thresholds (clouds.md 0.3).
        path, fields = "the kubelet's command line", {} if "config" in flags else {"evictionHard": {}}
    folder = flags.get("config-dir", "").lstrip("/")
    drop_ins = [
        load(text(tree, f"{folder}/{name}") or "", f"{tree.name}: {folder}/{name}") or {}
        for name in (_drop_ins(tree, folder) if folder else ())
    ]
    fields = with_drop_ins(fields, drop_ins)
    known, odd = known_flags(flags)
    notices = tuple(Notice("flag-unreadable", f"{problem}; skipped", "kubelet's command line") for problem in odd)
    return KubeletSettings(fields, known, path, frozenset(flags)), notices


def _drop_ins(tree: Tree, folder: str) -> list[str]:
    """List the files that go over a kubelet's configuration, in the order in which they do."""
    try:
        return sorted(name for name in tree.names(folder) if name.endswith(".conf"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _locked(error, tree, folder) from None


def kubelet_configuration(content: str, name: str) -> Mapping[str, object] | None:
    """Read the fields of a KubeletConfiguration, of the answer of `/configz`, or of OpenShift's KubeletConfig.

    Returns:
        None where the text is something else, as kubeadm's `kubelet.conf` is.

    Raises:
        InputError: it is neither YAML nor JSON.
    """
    from numalign.sources.text.yaml import load_documents

    for document in load_documents(content, name):
        data = mapping(document.data)
        if isinstance(data.get("kubeletconfig"), Mapping):
            return mapping(data, "kubeletconfig")
        if data.get("kind") == "KubeletConfiguration":
            return {field: value for field, value in data.items() if field not in ("apiVersion", "kind")}
        if data.get("kind") == "KubeletConfig" and isinstance(data.get("spec"), Mapping):
            return mapping(data, "spec", "kubeletConfig")
    return None
