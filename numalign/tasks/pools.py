"""What the nodes of a pool are made of, and how their kubelets are set: by a label, where no object says so.

A machine is named by `--machine-of`; else the label of the instance type may name a bundled one. Settings come from
`--kubelet-config-of`, else from the kubelet flags of all pools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from numalign.errors import InputError
from numalign.kubelet.setup import Setup
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.sources.kubelet import configuration
from numalign.sources.machine import bundled
from numalign.tasks.requests import KubeletRequest
from numalign.tasks.setup import load_setup
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.cluster.objects import NodeRead

ALIKE: Final = KubeletRequest()
"""No settings that all pools share."""
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"


class _Pool(NamedTuple):
    """The nodes with a label."""

    label: str
    value: str
    name: str
    """Of a machine, or of a file with kubelet settings."""

    def has(self, labels: Mapping[str, str]) -> bool:
        """Tell whether a node with these labels belongs to it."""
        return labels.get(self.label) == self.value


class Pools:
    """The pools of a request; each machine is read once for each configuration."""

    def __init__(
        self,
        machine_of: Iterable[str] = (),
        kubelet_config_of: Iterable[str] = (),
        kubelet: KubeletRequest = ALIKE,
    ) -> None:
        """Read what is named.

        Args:
            machine_of: `LABEL=VALUE:MACHINE`.
            kubelet_config_of: `LABEL=VALUE:FILE`.
            kubelet: settings of all pools, over their files.

        Raises:
            InputError: a text is not of its form, or a machine or configuration is wrong.
            StartError: a kubelet would not accept its settings.
        """
        self._kubelet = kubelet
        self._machines = [_pool(text, "--machine-of", "MACHINE") for text in machine_of]
        self._configs = [_pool(text, "--kubelet-config-of", "FILE") for text in kubelet_config_of]
        self._known: dict[tuple[str, str | None], Setup] = {}
        for pool in self._configs:
            configuration.load(pool.name)
        for pool in self._machines:
            self._setup(pool.name, None)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name the labels that say to which pools a node belongs."""
        return (INSTANCE_TYPE, *[pool.label for pool in (*self._machines, *self._configs)])

    def setup(self, read: NodeRead) -> Setup | None:
        """Give machine and kubelet of a node, the same value for all nodes of a pool; None: nobody names its machine.

        Raises:
            InputError: settings do not fit the machine.
            StartError: its kubelet would not accept them.
        """
        machine = next((pool.name for pool in self._machines if pool.has(read.labels)), None)
        by_itself = machine is None
        if machine is None:
            machine = bundled_instance(read.labels.get(INSTANCE_TYPE, ""))
        if machine is None:
            return None
        found = self._setup(machine, next((pool.name for pool in self._configs if pool.has(read.labels)), None))
        cpus = read.capacity.get(CPU)
        if by_itself and cpus is not None and cpus != found.machine.cpus.bit_count() * NANO:
            return None  # another size, or threads that are switched off
        return found

    def _setup(self, machine: str, config: str | None) -> Setup:
        key = machine, config
        if key not in self._known:
            kubelet = self._kubelet if config is None else self._kubelet._replace(config=config)
            self._known[key] = load_setup(machine, kubelet).setup
        return self._known[key]


def bundled_instance(kind: str) -> str | None:
    """Name the bundled machine of an instance type, as a cloud writes it: `p5.48xlarge`, `Standard_ND96isr_H100_v5`."""
    name = kind.lower().removeprefix("standard_").replace("_", "-")
    return name if name in bundled.names() else None


def _pool(text: str, flag: str, what: str) -> _Pool:
    """Read `LABEL=VALUE:NAME`; a name may have colons."""
    label, equals, rest = text.partition("=")
    value, colon, name = rest.partition(":")
    if not (label and equals and colon and name):
        raise InputError(f'expected LABEL=VALUE:{what}, got "{text}"', flag)
    return _Pool(label, value, name)
