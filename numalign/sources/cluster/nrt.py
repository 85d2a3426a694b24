"""NodeResourceTopology objects of any served version -> values (docs/rules/podresources.md 17 to 22, 30)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from numalign.errors import Notice
from numalign.model.apiserver import amount
from numalign.model.document import NEEDED, AnyForm, Form, field, inside, maybe, raw, record
from numalign.model.document import read as read_as
from numalign.model.document.values import integer, list_of, name, text, turned
from numalign.model.path import FieldError, Path, dotted, shown
from numalign.model.quantity import QuantityError
from numalign.scheduler import fingerprint
from numalign.scheduler.nrt.findings import doubled_zones, findings
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource
from numalign.scheduler.request import exclusive_containers, read_request
from numalign.sources.cluster.objects import PodRead
from numalign.values import NamedTuple

GROUP: Final = "topology.node.k8s.io"
VERSION: Final = "v1alpha2"
"""The version that is written; v1alpha1 is older, others turn up in print."""


class ReadNRT(NamedTuple):
    """An object, and what is odd about it."""

    nrt: NodeResourceTopology
    notices: tuple[Notice, ...]


def read_nrt(thing: Mapping[str, object], path: Path = ()) -> ReadNRT:
    """Read one object.

    Raises:
        FieldError: it has no name or no zones, a field has the wrong type, an amount is no quantity, or two zones are
            one NUMA node.
    """
    nrt = read_as(_NRT, thing, path)
    for finding in doubled_zones(nrt):
        raise FieldError((*path, "zones"), finding.message)
    return ReadNRT(nrt, tuple(_notices(thing, nrt, path)))


def _notices(thing: Mapping[str, object], nrt: NodeResourceTopology, path: Path) -> Iterator[Notice]:
    version = str(thing.get("apiVersion")).partition("/")[2]
    where = f"{dotted(path)}." if path else ""
    if version not in ("v1alpha1", VERSION):
        message = f"{version} is not a served version; read as {VERSION}"
        yield Notice("nrt-version", message, f"{where}apiVersion")
    name = nrt.name
    if name != name.lower():
        message = f"{name}: an API server rejects capital letters in a name"
        yield Notice("nrt-name", message, f"{where}metadata.name")
    for finding in findings(nrt):
        yield Notice(finding.code, finding.message, f"{where}{finding.path}")


def _amount(written: object) -> int:
    """Read a quantity: text or a number (22)."""
    try:
        return amount(written).nano
    except (TypeError, QuantityError):
        raise FieldError((), f"expected a quantity, got {shown(written)}") from None


def _once(listed: tuple[tuple[str, ZoneResource], ...]) -> Mapping[str, ZoneResource]:
    result: dict[str, ZoneResource] = {}
    for place, (label, resource) in enumerate(listed):
        if label in result:
            raise FieldError((place, "name"), f'duplicate "{label}"')
        result[label] = resource
    return result


def _pairs(form: AnyForm, wanted: str) -> Form[tuple[tuple[str, Any], ...]]:
    """Describe a list of names with a value each."""
    return list_of(
        record(lambda *, name, value: (name, value), field("name", text(wanted)), field("value", form), others=True)
    )


_VALUE: Final = name("the attribute's value")
_ATTRIBUTES: Final = maybe(  # 32: an integer where a text belongs
    "attributes",
    _pairs(
        Form(lambda value: value if isinstance(value, str) else _VALUE.read(value), str, _VALUE.schema),
        "the attribute's name",
    ),
)
_COSTS: Final = _pairs(integer(-(2**31), 2**31, "a distance"), "the name of a zone")
_RESOURCE: Final = record(
    lambda *, label, **amounts: (label, ZoneResource(**amounts)),
    field("name", text("the name of a resource"), to="label"),
    *[maybe(key, Form(_amount, str, {})) for key in ZoneResource._fields],
    others=True,
)
_RESOURCES: Final = list_of(_RESOURCE)
_ZONE: Final = record(
    Zone,
    field("name", text("the zone's name")),
    field("type", text("the zone's type"), NEEDED),
    maybe("resources", Form(lambda value: _once(_RESOURCES.read(value)), list, {})),
    maybe("costs", Form(lambda value: dict(_COSTS.read(value)), list, {})),
    _ATTRIBUTES,
    maybe("parent", text(empty=True)),
    others=True,
)
_NRT: Final = record(
    NodeResourceTopology,
    inside(
        "metadata",
        field("name", text("the node's name")),
        maybe(
            "annotations",
            turned(raw, lambda data: {key: one for key, one in data.items() if isinstance(one, str)}, dict),
        ),
    ),
    field("zones", list_of(_ZONE, "the list of zones"), NEEDED),
    _ATTRIBUTES,
    maybe("topologyPolicies", list_of(text(empty=True))),
    others=True,
)


Names = list[tuple[str, str]]
"""(namespace, name) pairs."""


def is_stale(nrt: NodeResourceTopology, pods: Sequence[PodRead], ended: Sequence[tuple[str, str]]) -> bool:
    """Tell whether an object was written when other pods were on its node; one without fingerprint never is.

    Args:
        nrt: the object.
        pods: the pods that are bound to the node and have not ended.
        ended: those that have ended, each (namespace, name): a kubelet may list them a while longer.
    """
    said = fingerprint.published(nrt)
    if not said.text:
        return False
    return all(
        fingerprint.check_fingerprint(said.text, names) == "mismatch"
        for names in _sets(nrt, pods, ended, said.only_exclusive)
    )


def _sets(
    nrt: NodeResourceTopology, pods: Sequence[PodRead], ended: Sequence[tuple[str, str]], only_exclusive: bool
) -> Iterator[Names]:
    """Return the sets of pods that a kubelet may have listed, the likeliest first."""
    if only_exclusive:
        listed = nrt.listed
        pods = [one for one in pods if exclusive_containers(read_request(one.pod), listed)]
    names = [(one.pod.namespace, one.pod.name) for one in pods]
    yield names
    started = [(one.pod.namespace, one.pod.name) for one in pods if one.phase != "Pending"]
    if len(started) < len(names):
        yield started
    if ended and not only_exclusive:
        yield [*names, *ended]
