"""OpenShift's PerformanceProfile -> the kubelet settings that the node tuning operator makes of it.

CPU manager `static` with the reserved CPUs; policy `best-effort` unless the profile names another; kube and system
reserved 500Mi of memory each. With `restricted` or `single-numa-node` the Memory Manager is `Static`, and NUMA node 0
keeps the whole sum; with `single-numa-node` only whole cores are given out. The annotation `kubeletconfig.experimental`
comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from numalign.analysis.config.systems import Fields
from numalign.errors import InputError, Notice
from numalign.model.quantity import NANO, QuantityError, canonical, from_int, parse
from numalign.sources.text import elements, mapping
from numalign.sources.text.json import read_json
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.machine import Machine


_ANNOTATION: Final = "kubeletconfig.experimental"
_RESERVED: Final = "500Mi"
_EVICTION: Final = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "imagefs.available": "15%",
    "nodefs.inodesFree": "5%",
}
_PAGE_SIZES: Final = {"2M": "2Mi", "1G": "1Gi", "64K": "64Ki", "512M": "512Mi", "32M": "32Mi", "16G": "16Gi"}


class Pages(NamedTuple):
    """Huge pages that a profile has the kernel keep, in place of the machine's."""

    size: str
    """`1Gi`."""
    node: int | None
    """A NUMA node; None: the kernel spreads them evenly over all with memory."""
    number: int
    page: int
    """Bytes of one."""


def with_pages(machine: Machine, pages: Sequence[Pages]) -> Machine:
    """Give a machine the huge pages of a profile, and none but these.

    Raises:
        InputError: a NUMA node has less memory, or is missing.
    """
    memory = {node.id: node.memory for node in machine.numa_nodes}
    nodes = [node.id for node in machine.numa_nodes if node.memory]
    # The kernel has every page size on every node, also where there are none.
    amounts = {node: {one.size: 0 for one in pages} for node in nodes}
    for one in pages:
        each, rest = divmod(one.number, len(nodes) or 1)
        shares = {node: each + (place < rest) for place, node in enumerate(nodes)}
        for node, count in shares.items() if one.node is None else ((one.node, one.number),):
            of_node = amounts.setdefault(node, {})
            of_node[one.size] = of_node.get(one.size, 0) + count * one.page
    for node, sizes in amounts.items():
        if sum(sizes.values()) > memory.get(node, 0):
            text = f"more huge pages than NUMA {node} of {machine.name} has memory; fix: correct pages, or the machine"
            raise InputError(text, "spec.hugepages")
    changed = tuple(node._replace(hugepages=amounts.get(node.id, {})) for node in machine.numa_nodes)
    return machine._replace(numa_nodes=changed)


class Profile(NamedTuple):
    """What a profile means for the kubelet."""

    fields: Fields
    places: Mapping[str, str]
    """Field of the KubeletConfiguration -> where the profile says it."""
    notices: tuple[Notice, ...]
    pages: tuple[Pages, ...]


def from_profile(document: Document) -> Profile:
    """Read a PerformanceProfile of any version.

    Raises:
        InputError: a part has the wrong type.
    """
    spec = _mapping(document, document.data, "spec")
    cpu = _mapping(document, spec, "cpu", "spec.")
    policy = _text(document, _mapping(document, spec, "numa", "spec."), "topologyPolicy", "spec.numa.") or "best-effort"
    fields = _experimental(document)
    fields["cpuManagerPolicy"] = "static"
    fields["topologyManagerPolicy"] = policy
    reserved = _text(document, cpu, "reserved", "spec.cpu.")
    if reserved:
        fields["reservedSystemCPUs"] = reserved
    for field in ("kubeReserved", "systemReserved"):
        fields[field] = {"memory": _RESERVED, **mapping(fields, field)}
    fields["evictionHard"] = {**_EVICTION, **mapping(fields, "evictionHard")}
    if policy in ("restricted", "single-numa-node"):
        fields["memoryManagerPolicy"] = "Static"
        fields.setdefault("reservedMemory", [{"numaNode": 0, "limits": {"memory": _sum(document, fields)}}])
    if policy == "single-numa-node":
        fields["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true", **mapping(fields, "cpuManagerPolicyOptions")}
    places = {"reservedSystemCPUs": "spec.cpu.reserved", "topologyManagerPolicy": "spec.numa.topologyPolicy"}
    return Profile(fields, places, tuple(_of_the_machine(document, cpu)), tuple(_pages(document, spec)))


def _of_the_machine(document: Document, cpu: Fields) -> list[Notice]:
    """Name what the profile makes of the machine, which is not the kubelet's to say."""
    offlined = cpu.get("offlined")
    if not offlined:
        return []
    text = f"the profile takes CPUs {offlined} offline; fix: leave these CPUs out of the machine"
    return [Notice("settings-of-the-machine", text, document.where("spec.cpu.offlined"))]


def _pages(document: Document, spec: Fields) -> Iterator[Pages]:
    """Read `hugepages.pages`."""
    for entry in elements(_mapping(document, spec, "hugepages", "spec."), "pages"):
        count, node = entry.get("count"), entry.get("node")
        known = _PAGE_SIZES.get(str(entry.get("size")))
        if known is not None and type(count) is int:
            yield Pages(known, node if type(node) is int else None, count, parse(known).nano // NANO)


def _experimental(document: Document) -> dict[str, object]:
    annotations = _mapping(document, _mapping(document, document.data, "metadata"), "annotations", "metadata.")
    text = annotations.get(_ANNOTATION)
    if not isinstance(text, str):
        return {}
    place = f'metadata.annotations["{_ANNOTATION}"]'
    try:
        found = read_json(text, document.name)
    except InputError as error:
        raise document.error(error.message, place) from None
    if len(found) != 1 or not isinstance(found[0][0], Mapping):
        raise document.error("expected a JSON object with fields of a KubeletConfiguration", place)
    return dict(found[0][0])


def _sum(document: Document, fields: Fields) -> str:
    """Add up what the Static Memory Manager has to keep: both reservations and the eviction threshold."""
    keys = {"kubeReserved": "memory", "systemReserved": "memory", "evictionHard": "memory.available"}
    return canonical(from_int(sum(_bytes(document, fields[name].get(key)) for name, key in keys.items()), "BinarySI"))


def _bytes(document: Document, text: object) -> int:
    try:
        return parse(str(text)).nano // NANO
    except QuantityError:
        raise document.error(f'expected an amount of memory, got "{text}"', "metadata.annotations") from None


def _mapping(document: Document, holder: Fields, key: str, above: str = "") -> Fields:
    value = holder.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise document.error("expected a mapping", f"{above}{key}")
    return value


def _text(document: Document, holder: Fields, key: str, above: str) -> str:
    value = holder.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise document.error("expected a text", f"{above}{key}")
    return str(value)
