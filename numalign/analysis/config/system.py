"""What is known of a system that sets kubelets up: its base, and the facts that its settings depend on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from numalign.analysis.config.instances import pods_of
from numalign.errors import Notice
from numalign.kubelet.config import FIELD_NAMES
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import LATEST
from numalign.values import NamedTuple

Fields = Mapping[str, Any]


class Facts(NamedTuple):
    """What a system's own part may depend on; None: nobody said."""

    cpus: int | None = None
    memory: int | None = None
    """Bytes."""
    version: Version | None = None
    instance: str | None = None
    pods: int | None = None
    """`--max-pods`."""

    def since(self, version: Version) -> bool:
        """Tell whether the kubelet is of a release or newer; where nobody said, it is the newest that was recorded."""
        return (self.version or LATEST.version) >= version

    @property
    def network_pods(self) -> int | None:
        """How many pods the network of the instance has addresses for."""
        return self.pods if self.pods is not None or self.instance is None else pods_of(self.instance)


class Base(NamedTuple):
    """What a system writes below the settings of people."""

    fields: Mapping[str, object] = {}
    unknown: Mapping[str, str] = {}
    """Setting that is there and not known (`kubeReserved.memory`) -> what makes it known."""
    note: str = ""
    """What is to be said of it."""


class Ground(NamedTuple):
    """What a configuration rests on."""

    system: str = ""
    """Empty: a kubelet by itself."""
    lacks: frozenset[str] = frozenset()
    """Fields of KubeletConfiguration that nobody can set there."""
    unknown: Mapping[str, str] = {}
    """Setting that is there and not known -> what makes it known."""
    unexpanded: frozenset[str] = frozenset()
    """Those of `unknown` that a template left open."""

    def beside(self, flags: Collection[str]) -> Ground:
        """Take out what flags of the kubelet (without dashes), or fields, make known."""
        fields = {"kube-reserved": "kubeReserved", "system-reserved": "systemReserved", "eviction-hard": "evictionHard"}
        known = {*(f"--{flag}" for flag in flags), *(fields.get(flag, flag) for flag in flags)}
        return self._replace(
            unknown={name: fix for name, fix in self.unknown.items() if name.partition(".")[0] not in known}
        )

    def notices(self, path: str) -> Iterator[Notice]:
        """Say what is unknown, but for what was said of the template."""
        for name, fix in self.unknown.items():
            if name not in self.unexpanded:
                yield Notice("settings-incomplete", f"{name} is unknown; fix: {fix}", path)

    def is_unknown(self, resource: str) -> bool:
        """Tell whether a reservation of `cpu` or `memory` is not known."""
        return any(_touches(name, resource) for name in self.unknown)


def _touches(name: str, resource: str) -> bool:
    """Tell whether a setting, or a flag of its name, takes part in what is reserved of a resource."""
    text = name.lower().replace("-", "")
    if name.startswith("the file"):
        return True
    if text.startswith(("kubereserved.", "systemreserved.")):
        return text.endswith(f".{resource}")
    both = ("kubereserved", "systemreserved")
    of = {"cpu": (*both, "reservedcpus", "reservedsystemcpus"), "memory": (*both, "evictionhard", "reservedmemory")}
    return text.startswith(of[resource])


class System(NamedTuple):
    """A cloud or a distribution, with one way to give settings."""

    name: str
    base: Callable[[Facts, Fields], Base]
    """(facts, settings of people) -> its own part."""
    names: Mapping[str, str] = {}
    """Its own names, as paths -> those of KubeletConfiguration; empty: they are the kubelet's."""
    without: frozenset[str] = frozenset()
    """Fields that it does not take although names are the kubelet's."""
    takes_cpus: bool = False
    """Whether it leaves its two cgroups out where CPUs are reserved by name."""
    whole: frozenset[str] = frozenset()
    """Maps of its own part that those of people replace as a whole."""

    @property
    def lacks(self) -> frozenset[str]:
        """Fields of KubeletConfiguration that nobody can set there."""
        if not self.names:
            return self.without
        return frozenset(FIELD_NAMES.values()) - {path.partition(".")[0] for path in self.names.values()}


ENI: Final = "add --instance-type TYPE or --max-pods N"
MACHINE: Final = "add --machine"
CGROUPS: Final = {"kubeReservedCgroup": "/runtime", "systemReservedCgroup": "/system"}
