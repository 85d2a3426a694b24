"""The result of an admission: what each container of each pod got, or why a pod was refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.analysis import is_aligned, worst
from numalign.model.cpuset import format_set, ids
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis import Verdict
    from numalign.analysis.alignment import Alignment
    from numalign.analysis.apart import Apart
    from numalign.analysis.closeness import Neighbours
    from numalign.analysis.floating import Cause
    from numalign.analysis.holding import Holding
    from numalign.analysis.refusal import Refusal
    from numalign.errors import Notice
    from numalign.kubelet.admission import Session, Stage
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.model.pod import ContainerKind, QoS
    from numalign.results.dra import NodeClaims


class ContainerResult(NamedTuple):
    """What one container of an admitted pod got."""

    name: str
    kind: ContainerKind
    hint: TopologyHint
    """The hint that the Topology Manager stored for it."""
    holding: Holding
    alignment: Alignment
    cause: Cause | None = None
    """Why its CPUs float; None: they do not."""
    neighbours: tuple[Neighbours, ...] = ()
    """How close its devices are on the PCI bus, where that is known."""
    apart: Apart | None = None
    """Why it is `spread`; None: it is not, or that was not asked."""

    @property
    def cpus(self) -> str | None:
        """Its exclusive CPUs as a Linux list, `4-7`; None: it runs in the shared pool."""
        return None if self.holding.cpus is None else format_set(self.holding.cpus)

    @property
    def cpu_ids(self) -> frozenset[int]:
        """The ids of its exclusive CPUs; empty: it runs in the shared pool."""
        return frozenset(ids(self.holding.cpus or 0))

    @property
    def devices(self) -> Mapping[str, tuple[str, ...]]:
        """Resource -> ids of its devices, in natural order."""
        return {held.resource: held.ids for held in self.holding.devices}

    @property
    def missing(self) -> tuple[str, ...]:
        """Device resources it asked for that the machine does not have."""
        return self.holding.missing

    @property
    def aligned(self) -> bool | None:
        """Whether all it holds is aligned; None: there is nothing to align, or it cannot be known."""
        return self.alignment.aligned


class PodResult(NamedTuple):
    """What became of one pod."""

    name: str
    namespace: str
    qos: QoS
    admitted: bool
    stage: Stage
    """Where it was refused: `merge`, `allocate`, `panic`, `hang` or `fit`; empty when admitted."""
    reason: str
    """The kubelet's own; empty when admitted, and where the kubelet itself would not survive the call."""
    message: str
    """The kubelet's own."""
    refused_at: str | None
    """The container at which it was refused; None: admitted, or refused as a whole."""
    containers: tuple[ContainerResult, ...]
    """In the kubelet's order; empty when refused."""
    shared_pool: int | None
    """The shared pool after the pod, as a set of CPUs; None with CPU manager `none`."""
    impossible: bool | None = None
    """Whether an empty node refuses it, too; None: admitted, or not asked."""

    @property
    def full_name(self) -> str:
        """NAMESPACE/NAME."""
        return f"{self.namespace}/{self.name}"

    @property
    def fatal(self) -> bool:
        """Whether the kubelet itself would crash or hang in this call."""
        return self.stage in ("panic", "hang")

    @property
    def missing(self) -> tuple[str, ...]:
        """Device resources it asked for that the machine does not have: it runs without them."""
        return tuple(dict.fromkeys(name for container in self.containers for name in container.missing))

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its containers; `none` where it was refused."""
        return worst(one.alignment.verdict for one in self.containers)

    @property
    def aligned(self) -> bool | None:
        """Whether it is aligned; None: refused, nothing to align, or it cannot be known."""
        return is_aligned(self.verdict)


class RefusedAlike(NamedTuple):
    """Pods that came one after another, asked for the same, found the same and were refused."""

    first: PodResult
    number: int
    """How many they are."""
    refusal: Refusal


class Occupant(NamedTuple):
    """A container that is on the node after the last admission."""

    pod: str
    namespace: str
    container: str
    kind: ContainerKind
    holding: Holding
    tried: bool
    """It came up for admission; False: its pod was there already."""


class Gang(NamedTuple):
    """How many of the pods that an object asks for come up together."""

    kind: str
    name: str
    """The object's."""
    wanted: int
    admitted: int
    roles: tuple[tuple[str, int, int], ...]
    """(role, admitted, wanted), where the object has several parts."""


class Together(NamedTuple):
    """Admitted pods of one object, or with one owner."""

    kind: str
    name: str
    pods: tuple[str, ...]
    pairs: tuple[Neighbours, ...]
    """How close devices of different pods are to each other: GPUs, else NICs."""


class AdmitResult(NamedTuple):
    """The pods that came up on one machine, in order."""

    setup: Setup
    exclusive_cpus: bool
    """Whether the CPU manager gives out CPUs at all."""
    reserved_cpus: int
    """CPUs that are never given out exclusively, as a set."""
    pods: tuple[PodResult, ...]
    """In the order in which they came; none after one that the kubelet does not survive."""
    beside: tuple[PodResult, ...]
    """Pods said to be there already, in the order of their admission."""
    notices: tuple[Notice, ...]
    refusals: tuple[RefusedAlike, ...] = ()
    """Why pods were refused, if that was asked."""
    occupants: tuple[Occupant, ...] = ()
    """Who is on the node in the end, if that was asked, in the order of admission."""
    claims: NodeClaims | None = None
    """What the pods hold by claim, if that was asked."""
    session: Session | None = None
    """The node in the end, if that was asked."""
    gangs: tuple[Gang, ...] = ()
    """The objects whose pods were tried together, if that was asked."""
    together: tuple[Together, ...] = ()
    """How close the devices of pods are that belong together."""

    @property
    def fatal(self) -> bool:
        """Whether the kubelet itself would crash or hang on the way."""
        return any(pod.fatal for pod in (*self.beside, *self.pods))
