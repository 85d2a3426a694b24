"""The kubelet of a NodePool of Karpenter on AWS: its EC2NodeClass, and what the image family makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from numalign.analysis.config.system import Base, Facts, Fields
from numalign.analysis.config.systems import AL2, KARPENTER, KARPENTER_BOTTLEROCKET, NODECONFIG
from numalign.errors import Notice
from numalign.sources.kubelet.aws import user_data
from numalign.sources.kubelet.fields import SETTINGS
from numalign.sources.kubelet.found import Found, below, joined, not_taken, under
from numalign.sources.text import elements, inside, mapping
from numalign.sources.text.yaml import Document


def node_class(document: Document) -> Iterator[Found]:
    """Read an EC2NodeClass, or a NodePool of v1beta1, whose family is in its node class (11)."""
    name = str(inside(document.data, "metadata", "name") or "")
    kubelet = mapping(document.data, "spec", "template", "spec", "kubelet")
    if kubelet:
        found = below(document, kubelet, "spec.template.spec.kubelet")
        yield found._replace(name=name, system=KARPENTER, base=_unknown_family)
    elif document.data.get("kind") == "EC2NodeClass":
        yield from (found._replace(name=name) for found in _node_class(document))


def _node_class(document: Document) -> Iterator[Found]:
    """Put user data and `spec.kubelet` together as Karpenter does for the family (13-16)."""
    spec = mapping(document.data, "spec")
    kubelet, text = mapping(spec, "kubelet"), spec.get("userData")
    data = user_data(text, document.name) if isinstance(text, str) else []
    family = _family(spec)
    others = [name for name in kubelet if name in SETTINGS - KARPENTER_FIELDS]
    whose = under(document, "spec.kubelet")
    own = below(document, kubelet, "spec.kubelet")
    if family == "AL2023":
        said = "releases of Karpenter before August 2026 do not take it; fix: move it to a NodeConfig in userData"
        notices = tuple(Notice("setting-not-taken", said, whose(name)) for name in others)
        yield joined([*data, own._replace(system=NODECONFIG, notices=notices)])
        return
    lost = tuple(not_taken(f"Karpenter with {family or 'this family'}", name, whose) for name in others)
    taken = {name: value for name, value in kubelet.items() if name in KARPENTER_FIELDS}
    if family == "Bottlerocket":
        yield _with_bottlerocket(data, own._replace(fields=taken, notices=lost), document)
    elif family == "AL2":
        # The generated line replaces whole maps, as flags do (15).
        part = own._replace(fields={}, system=AL2, notices=lost)
        base = joined([*data, part]) if data else part
        yield base._replace(fields={**base.fields, **taken}, system=_WHOLE_AL2)
    elif family in ("", "Custom") or family.startswith("Windows"):
        notices = tuple(not_taken("Karpenter", name, whose, "does not apply spec.kubelet here") for name in kubelet)
        base = joined(data) if data else Found({}, whose, base=_unknown_family)
        yield base._replace(notices=(*base.notices, *notices), complete=bool(kubelet))


_WHOLE_AL2: Final = AL2._replace(whole=frozenset({"kubeReserved", "systemReserved", "evictionHard"}))
KARPENTER_FIELDS: Final = frozenset(KARPENTER.names.values())


def _unknown_family(_: Facts, __: Fields) -> Base:
    return Base(unknown={"kubeReserved": "add spec.amiFamily, or an alias in amiSelectorTerms"})


def _family(spec: Fields) -> str:
    """Name the family of a node class: its own field, else that of an alias."""
    aliases = [str(one.get("alias", "")).partition("@")[0] for one in elements(spec, "amiSelectorTerms")]
    known = {"al2023": "AL2023", "al2": "AL2", "bottlerocket": "Bottlerocket"}
    found = str(spec.get("amiFamily") or next((known.get(one, one) for one in aliases if one), ""))
    return "Windows" if found.lower().startswith("windows") else found


def _with_bottlerocket(data: list[Found], own: Found, document: Document) -> Found:
    """Lay `spec.kubelet` over the settings of user data, whole tables; `reserved-cpus` is lost (0.5, 13)."""
    toml = joined(data) if data else own._replace(fields={})
    fields = {**toml.fields, **own.fields}
    notices = [*toml.notices, *own.notices]
    if fields.pop("reservedSystemCPUs", None) is not None:
        why = "loses reserved-cpus; fix: reserve CPUs in spec.kubelet.kubeReserved"
        notices.append(not_taken("Karpenter with Bottlerocket", "spec.userData", document.where, why))
    if "topologyManagerPolicyOptions" in fields:
        why = "loses topology-manager-policy-options before release 1.13"
        notices.append(Notice("setting-not-taken", f"Karpenter {why}", document.where("spec.userData")))
    return toml._replace(fields=fields, notices=tuple(notices), system=KARPENTER_BOTTLEROCKET, complete=bool(notices))
