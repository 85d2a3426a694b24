"""OpenShift's PerformanceProfile -> the kubelet settings that the node tuning operator makes of it.

CPU manager `static` with the reserved CPUs; policy `best-effort` unless the profile names another; kube and system
reserved 500Mi of memory each. With `restricted` or `single-numa-node` the Memory Manager is `Static`, and NUMA node 0
keeps the whole sum; with `single-numa-node` only whole cores are given out. The annotation `kubeletconfig.experimental`
comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from numalign.analysis.config.system import Fields
from numalign.errors import InputError, Notice
from numalign.model.document import Form, anything, as_dict, inside, maybe, raw, record
from numalign.model.machine import Machine
from numalign.model.path import unfit
from numalign.model.quantity import NANO, QuantityError, canonical, from_int, parse
from numalign.sources.text import elements, mapping
from numalign.sources.text.json import read_json
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

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
    given = document.read(_PROFILE)
    policy = given["topology_policy"] or "best-effort"
    fields = _experimental(document, given["annotations"])
    fields["cpuManagerPolicy"] = "static"
    fields["topologyManagerPolicy"] = policy
    if given["reserved"]:
        fields["reservedSystemCPUs"] = given["reserved"]
    for field in ("kubeReserved", "systemReserved"):
        fields[field] = {"memory": _RESERVED, **mapping(fields, field)}
    fields["evictionHard"] = {**_EVICTION, **mapping(fields, "evictionHard")}
    if policy in ("restricted", "single-numa-node"):
        fields["memoryManagerPolicy"] = "Static"
        fields.setdefault("reservedMemory", [{"numaNode": 0, "limits": {"memory": _sum(document, fields)}}])
    if policy == "single-numa-node":
        fields["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true", **mapping(fields, "cpuManagerPolicyOptions")}
    places = {"reservedSystemCPUs": "spec.cpu.reserved", "topologyManagerPolicy": "spec.numa.topologyPolicy"}
    return Profile(fields, places, _of_the_machine(document, given["offlined"]), tuple(_pages(given["hugepages"])))


def _of_the_machine(document: Document, offlined: object) -> tuple[Notice, ...]:
    """Name what the profile makes of the machine, which is not the kubelet's to say."""
    text = f"the profile takes CPUs {offlined} offline; fix: leave these CPUs out of the machine"
    return (Notice("settings-of-the-machine", text, document.where("spec.cpu.offlined")),) if offlined else ()


def _pages(hugepages: Fields) -> Iterator[Pages]:
    """Read `hugepages.pages`."""
    for entry in elements(hugepages, "pages"):
        count, node = entry.get("count"), entry.get("node")
        known = _PAGE_SIZES.get(str(entry.get("size")))
        if known is not None and type(count) is int:
            yield Pages(known, node if type(node) is int else None, count, parse(known).nano // NANO)


def _experimental(document: Document, annotations: Fields) -> dict[str, object]:
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


def _text(value: object) -> str:
    """Read a text; a single CPU may be a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise unfit("a text", value)
    return str(value)


_TEXT: Final = Form(_text, str, {})
_PROFILE: Final = record(
    as_dict,
    inside("metadata", maybe("annotations", raw, {})),
    inside(
        "spec",
        inside("cpu", maybe("reserved", _TEXT, ""), maybe("offlined", anything)),
        inside("numa", maybe("topologyPolicy", _TEXT, "")),
        maybe("hugepages", raw, {}),
    ),
    others=True,
)
"""What is read of a PerformanceProfile."""
