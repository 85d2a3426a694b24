"""What a machine file says, as one description (product form and recorded form); `regular:` is in `regular`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.errors import InputError
from numalign.kubelet.releases.table import parse_version
from numalign.model import quantity
from numalign.model.cpuset import format_set, ids
from numalign.model.document import (
    NAME,
    NEEDED,
    AnyForm,
    Form,
    as_mapping,
    field,
    fixed,
    maybe,
    only,
    read,
    record,
)
from numalign.model.document.values import (
    MAX_BYTES,
    MAX_NODE_ID,
    amount,
    amount_of,
    cpu_list,
    either,
    integer,
    list_of,
    map_of,
    name,
    text,
    turned,
)
from numalign.model.machine import NodeObject, NUMANode, Taint, Unit
from numalign.model.path import FieldError, shown, unfit
from numalign.sources.machine.devices import NODE_ID, RESOURCE, check_resource

MAX_NODES = 1024
"""As many as Linux can have."""


# Parts


def _page_size(key: object) -> tuple[str, int]:
    try:
        size = amount.read(key)
    except FieldError:
        size = 0
    if size < 1024 or size & (size - 1):
        raise unfit('a page size like "2Mi" or "1Gi"', key)
    return quantity.canonical(quantity.from_int(size, "BinarySI")), size


def _pages(value: object) -> dict[str, int]:
    """Read huge pages: page size -> bytes, or `{pages: N}`. Sizes get the kubelet's own names.

    A number that is no multiple of the page is refused: it was probably meant as a count.
    """
    result: dict[str, int] = {}
    for key, given in as_mapping(value, "a mapping of page sizes like 2Mi to bytes").items():
        try:
            label, size = _page_size(key)
            if label in result:
                raise FieldError((), f"duplicate page size {label}")
            result[label] = _set_aside(given, label, size)
        except FieldError as error:
            error.path = (key, *error.path)
            raise
    return result


def _set_aside(value: object, label: str, size: int) -> int:
    if isinstance(value, Mapping):
        only(value, ("pages",))
        if "pages" not in value:
            raise FieldError((), "expected bytes or {pages: N}")
        return read(integer(0, MAX_BYTES // size, "a number of pages"), value["pages"], ("pages",)) * size
    given = amount.read(value)
    if given % size:
        total = quantity.canonical(quantity.from_int(given * size, "BinarySI"))
        raise FieldError(
            (),
            f"{shown(value)} is {given} bytes, not a multiple of the {label} page; "
            f'fix: for {given} pages write {{pages: {given}}} or "{total}"',
        )
    return given


hugepages: Final[Form[Mapping[str, int]]] = Form(
    _pages,
    lambda pages: dict(sorted(pages.items(), key=lambda page: quantity.parse(page[0]).nano)),
    {
        NAME: "hugepages",
        "type": "object",
        "additionalProperties": {"anyOf": [amount.schema, record(dict, field("pages", integer(0, MAX_BYTES))).schema]},
    },
)
DISTANCES: Final = list_of(integer(0, 2**31, "a distance"), "a row of distances like [10, 21]")
NUMA_NODE: Final = record(
    NUMANode,
    field("id", NODE_ID, missing="expected the NUMA node's id, got nothing"),
    field("cpus", cpu_list, always=True),
    field("memory", amount, always=True, says="All memory of the node, huge pages included."),
    maybe("hugepages", hugepages),
    maybe("distances", DISTANCES, says="To each NUMA node, in ascending order of ids."),
    wanted='a NUMA node like {id: 0, cpus: "0-3", memory: 16Gi}',
)


def _few(nodes: tuple[NUMANode, ...]) -> tuple[NUMANode, ...]:
    if len(nodes) > MAX_NODES:
        raise FieldError((), f"expected at most {MAX_NODES} NUMA nodes, got {len(nodes)}")
    return nodes


_MISSING: Final = 'expected {id: 0, cpus: "0-3"}, got nothing'
_NUMBERED: Final[AnyForm] = record(
    Unit,
    field("id", integer(-MAX_NODE_ID, MAX_NODE_ID, "an id"), missing=_MISSING),
    field("cpus", cpu_list, missing=_MISSING),
)
_UNITS: Final[AnyForm] = list_of(either(_NUMBERED, cpu_list), "a list of CPU sets")
units: Final[Form[tuple[Unit, ...]]] = Form(
    lambda value: tuple(
        [Unit(index, one) if isinstance(one, int) else one for index, one in enumerate(_UNITS.read(value))]
    ),
    lambda listed: [
        format_set(unit.cpus) if unit.id == index else _NUMBERED.write(unit) for index, unit in enumerate(listed)
    ],
    _UNITS.schema,
)
"""CPU sets, whose id is their index, or `{id, cpus}`."""
HARDWARE: Final = (
    field(
        "numaNodes",
        turned(list_of(NUMA_NODE, "a list of NUMA nodes", {"minItems": 1, "maxItems": MAX_NODES}), _few, _few),
        None,
        says="In the order in which the kubelet lists them.",
    ),
    maybe("sockets", units, says="Left out: each NUMA node with CPUs is a socket."),
    maybe(
        "cores",
        Form(
            list_of(cpu_list, "a list of CPU sets, one a core").read,
            lambda cores: [list(ids(core)) for core in cores],
            list_of(cpu_list).schema,
        ),
        says="The online CPUs of each core. Left out: every CPU is a core.",
    ),
    maybe(
        "uncoreCaches",
        units,
        (),
        says="Last-level caches that do not cover a whole NUMA node. Left out: the kubelet uses the socket instead.",
    ),
)
"""The sections that say what CPUs and memory there are."""


# The rest


def _version(value: object) -> str:
    """Read a release: a text, or what YAML makes of 1.36."""
    try:
        parse_version(str(value), "kubeletVersion")
    except InputError as error:
        raise FieldError((), error.message.removeprefix("kubeletVersion: ")) from None
    return str(value)


VERSION: Final[Form[str]] = Form(_version, str, {"type": ["string", "number"]})
_NO_TEXT: Final = 'expected text, got ""'
NODE: Final = record(
    NodeObject,
    maybe("name", text("the node's name")),
    maybe("labels", map_of(text("a label's text", empty=True))),
    maybe(
        "taints",
        list_of(
            record(
                Taint,
                field("key", text(), missing=_NO_TEXT),
                field("value", text(empty=True)),
                field("effect", text(), NEEDED, missing=_NO_TEXT),
                fixed("timeAdded"),
                wanted="a taint like {key: gpu, effect: NoSchedule}",
            ),
            "a list of taints",
        ),
    ),
    maybe("extendedResources", map_of(amount_of("devices"), check=check_resource, also=RESOURCE)),
)
OPTION_FIELDS: Final = ("topologyManagerPolicyOptions", "cpuManagerPolicyOptions")
_OPTIONS: Final = map_of(name("an option's value"), 'options such as {max-allowable-numa-nodes: "16"}')
SUGGESTS: Final = record(
    lambda **options: {key: one for key, one in options.items() if one is not None},
    *[field(key, _OPTIONS, None, to=key) for key in OPTION_FIELDS],
    parts=lambda options: {key: options.get(key) for key in OPTION_FIELDS},
)
