"""OpenShift's PerformanceProfile -> the kubelet settings that the node tuning operator makes of it.

CPU manager `static` with the reserved CPUs; policy `best-effort` unless the profile names another; kube and system
reserved 500Mi of memory each. With `restricted` or `single-numa-node` the Memory Manager is `Static`, and NUMA node 0
keeps the whole sum; with `single-numa-node` only whole cores are given out. The annotation `kubeletconfig.experimental`
comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from numalign.errors import InputError, Notice
from numalign.model.quantity import NANO, QuantityError, canonical, from_int, parse
from numalign.sources.text.json import read_json
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

Fields = Mapping[str, Any]

_ANNOTATION: Final = "kubeletconfig.experimental"
_RESERVED: Final = "500Mi"
_EVICTION: Final = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "imagefs.available": "15%",
    "nodefs.inodesFree": "5%",
}
_PAGE_SIZES: Final = {"2M": "2Mi", "1G": "1Gi", "64K": "64Ki", "512M": "512Mi", "32M": "32Mi", "16G": "16Gi"}


class Profile(NamedTuple):
    """What a profile means for the kubelet."""

    fields: Fields
    places: Mapping[str, str]
    """Field of the KubeletConfiguration -> where the profile says it."""
    notices: tuple[Notice, ...]


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
        fields[field] = {"memory": _RESERVED, **_texts(fields.get(field))}
    fields["evictionHard"] = {**_EVICTION, **_texts(fields.get("evictionHard"))}
    if policy in ("restricted", "single-numa-node"):
        fields["memoryManagerPolicy"] = "Static"
        fields.setdefault("reservedMemory", [{"numaNode": 0, "limits": {"memory": _sum(document, fields)}}])
    if policy == "single-numa-node":
        fields["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true", **_texts(fields.get("cpuManagerPolicyOptions"))}
    places = {"reservedSystemCPUs": "spec.cpu.reserved", "topologyManagerPolicy": "spec.numa.topologyPolicy"}
    return Profile(fields, places, tuple(_of_the_machine(document, spec, cpu)))


def _of_the_machine(document: Document, spec: Fields, cpu: Fields) -> list[Notice]:
    """Name what the profile makes of the machine, which is not the kubelet's to say."""
    notices = []
    pages = _mapping(document, spec, "hugepages", "spec.").get("pages")
    flags = [_pages(one) for one in pages if isinstance(one, Mapping)] if isinstance(pages, list) else []
    if flags:
        text = f"the profile reserves huge pages; fix: add to the machine: {', '.join(filter(None, flags))}"
        notices.append(Notice("settings-of-the-machine", text, document.where("spec.hugepages")))
    offlined = cpu.get("offlined")
    if offlined:
        text = f"the profile takes CPUs {offlined} offline; fix: leave these CPUs out of the machine"
        notices.append(Notice("settings-of-the-machine", text, document.where("spec.cpu.offlined")))
    return notices


def _pages(entry: Fields) -> str:
    """Write an entry of `hugepages.pages`: of one NUMA node as the flag that says so of a machine; else the sum."""
    size, count = _PAGE_SIZES.get(str(entry.get("size"))), entry.get("count")
    if size is None or type(count) is not int:
        return ""
    amount = canonical(from_int(parse(size).nano // NANO * count, "BinarySI"))
    if type(entry.get("node")) is int:
        return f"--hugepages {size}@{entry['node']}={amount}"
    return f"{amount} in {size} pages over all nodes (--hugepages {size}=SHARE)"


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
    total = 0
    for amounts, key in ((fields["kubeReserved"], "memory"), (fields["systemReserved"], "memory")):
        total += _bytes(document, amounts.get(key))
    total += _bytes(document, fields["evictionHard"].get("memory.available"))
    return canonical(from_int(total, "BinarySI"))


def _bytes(document: Document, text: object) -> int:
    try:
        return parse(str(text)).nano // NANO
    except QuantityError:
        raise document.error(f'expected an amount of memory, got "{text}"', "metadata.annotations") from None


def _texts(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}


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
