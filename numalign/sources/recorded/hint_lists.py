"""Hints as people write them: `cpu=01:T 10:T 11:F / gpu=01:T` with names or without, or a file.

The digits of a mask are NUMA nodes, the highest first; T is preferred. A file maps names to lists of such hints or of
`{numaNodes: [0, 1], preferred: true}`; an empty list cannot be satisfied, null does not care.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from numalign.errors import InputError
from numalign.kubelet.topology.hints import HintList, TopologyHint
from numalign.sources.text import fields, yaml
from numalign.sources.text.fields import FieldError, Path
from numalign.values import NamedTuple

MAX_NODES = 16
MAX_HINTS = 1 << MAX_NODES
EXAMPLE = "a hint like 01:T or 11:F (a digit a NUMA node, T for preferred), or nil:T"


class HintLists(NamedTuple):
    """The hints of several providers."""

    providers: Mapping[str, HintList]
    nodes: int
    """How many NUMA nodes the hints speak of."""


def read(given: str) -> HintLists:
    """Read hints from a text, or from the file that it names.

    Raises:
        InputError: they cannot be read.
    """
    if ":" in given and not os.path.exists(given):
        return _from_text(given)
    documents = yaml.load_file(given)
    if len(documents) != 1:
        raise InputError(f"expected one document, got {len(documents)}", given)
    try:
        return _from_data(documents[0].data)
    except FieldError as error:
        raise documents[0].error(error.message, error.path) from None


def _from_text(text: str) -> HintLists:
    providers: dict[str, HintList] = {}
    nodes = 1
    try:
        for number, part in enumerate(re.split(r"\s+/\s+", text.strip())):
            label, named, words = part.rpartition("=")
            name = label.strip() if named else f"Provider {number}"
            if name in providers:
                raise FieldError((name,), "is given twice")
            hints = [_hint(word, (name,)) for word in words.split()]
            providers[name] = HintList(hint for hint, _ in hints)
            nodes = max([nodes, *(width for _, width in hints)])
    except FieldError as error:
        raise InputError(f"{error.path[0]}: {error.message}", "--hints") from None
    return HintLists(providers, nodes)


def _from_data(data: object) -> HintLists:
    providers: dict[str, HintList] = {}
    nodes = 1
    for provider, value in fields.mapping(data, (), "a mapping: provider to hints").items():
        if value is None:
            providers[provider] = HintList((TopologyHint(None, True),))
            continue
        listed = fields.sequence(value, (provider,), "a list of hints")
        if len(listed) > MAX_HINTS:
            raise FieldError((provider,), f"expected at most {MAX_HINTS} hints")
        hints = [_element(one, (provider, place)) for place, one in enumerate(listed)]
        providers[provider] = HintList(hint for hint, _ in hints)
        nodes = max([nodes, *(width for _, width in hints)])
    if not providers:
        raise FieldError((), "expected at least one provider")
    return HintLists(providers, nodes)


def _element(value: object, path: Path) -> tuple[TopologyHint, int]:
    if not isinstance(value, Mapping):
        return _hint(fields.text(value, path, EXAMPLE), path)
    data = fields.mapping(value, path)
    fields.only(data, ("numaNodes", "preferred"), path)
    preferred = fields.boolean(data.get("preferred"), (*path, "preferred"))
    if data.get("numaNodes") is None:
        return TopologyHint(None, preferred), 1
    here = (*path, "numaNodes")
    ids = [
        fields.integer(node, (*here, place), 0, MAX_NODES - 1, "a NUMA node's id")
        for place, node in enumerate(fields.sequence(data["numaNodes"], here, "a list of NUMA nodes"))
    ]
    return TopologyHint(sum(1 << node for node in set(ids)), preferred), max(ids, default=0) + 1


def _hint(word: str, path: Path) -> tuple[TopologyHint, int]:
    match = re.fullmatch(rf"([01]{{1,{MAX_NODES}}}|nil):(t(?:rue)?|f(?:alse)?)", word, re.IGNORECASE | re.ASCII)
    if match is None:
        raise FieldError(path, f"expected {EXAMPLE}, got {fields.shown(word)}")
    preferred = match[2][0] in "tT"
    if match[1].lower() == "nil":
        return TopologyHint(None, preferred), 1
    return TopologyHint(int(match[1], 2), preferred), len(match[1])
