"""What is asked for by name, before anything is read: which kubelet, which pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.machine.changes import Changes
    from numalign.sources.text.yaml import Document


class KubeletRequest(NamedTuple):
    """A kubelet's settings as they are given: files by name, single settings as text."""

    config: str | None = None
    """A file with a KubeletConfiguration."""
    config_dir: str | None = None
    """A folder of drop-ins over `config`."""
    settings: Mapping[str, str] = {}
    """Flag of the kubelet, without dashes -> text."""
    version: str | None = None
    """`1.32`; None: the machine's own, that of `config`, or the newest."""
    instance: str | None = None
    """The type of the node's instance in its cloud."""
    pool: str | None = None
    """Which pool of nodes is meant, where `config` has several."""


class MachineName(str):
    """The name of a machine, with what the command line changes of it.

    It goes wherever a machine's name goes, so that every task that takes one takes the changes, too.
    """

    __slots__ = ("beside", "changes")
    changes: Changes | None
    beside: tuple[str, ...]
    """Further files with outputs of the same machine."""

    def flags(self) -> list[tuple[str, str]]:
        """Write the changes as (flag, value) pairs."""
        beside = [("machine", name) for name in self.beside]
        if self.changes is None:
            return beside
        pairs = [*beside, *(("device", text) for text in self.changes.devices)]
        pairs += [("hugepages", text) for text in self.changes.hugepages]
        single = {"memory-per-numa-node": self.changes.memory, "nps": self.changes.nps, "snc": self.changes.snc}
        return pairs + [(name, str(value)) for name, value in single.items() if value is not None]


class NodeName(str):
    """The name of a node's source, to be taken for what its files say even where their checksums are wrong.

    It goes wherever such a name goes.
    """

    __slots__ = ()


class PodsRequest(NamedTuple):
    """Which pods come up for admission."""

    names: tuple[str, ...]
    """Files, folders, or `-` for standard input."""
    beside: str | None = None
    """A file of the pods that are there already."""
    replicas: int | None = None
    """How many pods of each template; None: one."""
    started: bool = False
    """Pods start before the next one comes."""
    role_replicas: Mapping[str, int] = {}
    """Role (`worker`) -> how many pods of its template; beats `replicas`."""
    gang: bool = False
    """As many pods of each template as its object asks for."""
    node_name: str | None = None
    """The node that the pods of `beside` have to be bound to; None: to be told from the list."""
    allow_missing: tuple[str, ...] = ()
    """Devices that pods may go without where the machine does not have them."""
    static: bool = False
    """The pods are on their way to the kubelet's folder of static pods."""


class NodeRequest(NamedTuple):
    """A node in use."""

    source: str
    """A file, a folder or a socket."""
    node_name: str | None
    """Which node, where the source has several."""
    beside: str | None
    """A file of the pods that are there, in place of what the source says."""

    @property
    def ignore_checksums(self) -> bool:
        """Whether state files with wrong checksums are taken for what they say."""
        return isinstance(self.source, NodeName)


class SinceRequest(NamedTuple):
    """What happened to the pods that are there already, before the first one comes up."""

    without: tuple[str, ...]
    """Names of pods that end."""
    started: tuple[str, ...]
    """Names of pods whose containers start."""


class WhatIfRequest(NamedTuple):
    """What is asked to be different from the pods as given."""

    pod: str | None
    """This pod alone is asked about; those before it count as there."""
    without: tuple[str, ...]
    """Pods that are gone when the last one comes up."""
    amounts: tuple[str, ...]
    """CONTAINER:RESOURCE=AMOUNT: what a container of the last pod asks for instead."""

    def flags(self, *, but: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Write it as (flag, value) pairs, without amounts of the (container:resource) keys in `but`."""
        replaced = set(but)
        flags = [("pod", self.pod)] if self.pod else []
        flags += [("without", name) for name in self.without]
        return flags + [("set", text) for text in self.amounts if text.partition("=")[0] not in replaced]


class ClaimsRequest(NamedTuple):
    """Which devices are published, and on which node the pods come up."""

    slices: str
    """A dump of the cluster."""
    node: str | None
    """The node that the machine is; None: the one of its name, or the only one."""
    files: tuple[str, ...]
    """Where the pods come from: their claims and templates may be there too. Standard input is not read twice."""
    documents: tuple[Document, ...]
    """Those of standard input that have claims."""
    pod_files: Mapping[str, str] = {}
    """Pod (`namespace/name`) -> the file it stands in, whose claims it takes where several files have one of a name."""
