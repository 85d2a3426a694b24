"""KubeletConfiguration -> KubeletConfig: files, drop-in folders, the kubelet's `/configz`, and flags over them.

Stands for docs/rules/kubelet-files.md rules 31 and 32. A value of the wrong type stops the kubelet, so it is a
`StartError` with the kubelet's own words; an unknown field is a warning, as it is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numalign.analysis.config.systems import Base, Facts, Fields, Ground
from numalign.errors import InputError, Notice, StartError
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation
from numalign.kubelet.releases import OLDEST, PUBLISHED
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.start.reservation import DEFAULT_EVICTION
from numalign.model import quantity
from numalign.model.gotext import number_text
from numalign.model.path import child
from numalign.model.quantity import QuantityError
from numalign.sources.kubelet import KIND, Loaded
from numalign.sources.kubelet.found import NO_INFLUENCE, Found, Where, expanded, joined, overlaid
from numalign.sources.text.yaml import MAX_INPUT
from numalign.store.reading import reading

if TYPE_CHECKING:
    from numalign.sources.text.yaml import Document, FilePath

MAX_MEANT = 10
"""For so many unknown fields the nearest known one and the line are looked for; both take long."""
_MAX_TEXT: Final = 1 << 20
"""Longest user data or command line that is looked at, in bytes."""


def load(
    path: FilePath, config_dir: FilePath | None = None, facts: Facts | None = None, pool: str | None = None
) -> Loaded:
    """Read a kubelet's settings from a file, and drop-ins over them.

    The file is a KubeletConfiguration (YAML or JSON), the JSON of `/configz`, what wraps one (`wrappers`), user data of
    an instance, or a kubelet's command line as text. What the system itself writes comes first, then the file, then
    drop-ins: the files of `config_dir` that end in `.conf`, in text order. Maps are merged key by key, lists are
    replaced as a whole; flags win over all files.

    Args:
        path: the file.
        config_dir: the folder of drop-ins.
        facts: what the system's own part depends on; None: nothing is known.
        pool: which pool of nodes is meant, where the file has several.

    Raises:
        InputError: a file or the folder of drop-ins cannot be read, or there is no kubelet's configuration in one.
        StartError: the kubelet would not accept it.
    """
    found, missing = expanded(_found(path, pool))
    warnings = [*found.notices, *from_data(found.fields, found.where).warnings]
    facts, version = _of_file(facts or Facts(), found)
    own = found.own(facts)
    over = found.fields
    if not found.system.names:
        over = {name: value for name, value in over.items() if name not in found.system.without}
    kept_whole = {name for name in found.system.whole if name in over}
    merged: Fields = overlaid({name: one for name, one in own.fields.items() if name not in kept_whole}, over)
    flags = dict(found.flags)
    drop_ins: list[Fields] = []
    for file in _drop_ins(config_dir) if config_dir else ():
        drop_in = _found(file, None)
        warnings += (*drop_in.notices, *from_data(drop_in.fields, drop_in.where).warnings)
        drop_ins.append(drop_in.fields)
        flags.update(drop_in.flags)
    merged = with_drop_ins(merged, drop_ins)
    config = from_data(merged, found.where).config
    if flags:
        from numalign.sources.kubelet.flags import apply_flags, known_flags

        known, unreadable = known_flags(flags)
        warnings += [Notice("flag-unreadable", f"{text}; skipped", str(path)) for text in unreadable]
        config = apply_flags(config, known)
    ground = _ground(found, own, config, missing)
    warnings += [Notice("settings-estimated", own.note, str(path))] if own.note else []
    return Loaded(config, tuple(warnings), found.pages, ground, version)


def _of_file(facts: Facts, found: Found) -> tuple[Facts, str]:
    """Add what the file itself says of its nodes."""
    if facts.instance is None and found.instance:
        facts = facts._replace(instance=found.instance)
    match = re.match(r"v?(1)\.([0-9]{2})(?![0-9])", found.version)
    if match is None:
        return facts, ""
    version = (1, int(match[2]))
    if not OLDEST <= version <= PUBLISHED:
        return facts, ""
    return facts if facts.version else facts._replace(version=version), version_text(version)


def with_drop_ins(main: Fields, drop_ins: Sequence[Fields]) -> Fields:
    """Lay drop-ins over a main file, whose thresholds have their defaults by then (clouds.md 0.2)."""
    merged = dict(main)
    if not drop_ins:
        return merged
    defaults = merged.get("evictionHard") is None
    if defaults:
        merged["evictionHard"] = DEFAULT_EVICTION
    elif merged.pop(_MERGE, False) is True:
        merged["evictionHard"] = {**DEFAULT_EVICTION, **merged["evictionHard"]}
    for fields in drop_ins:
        merged = overlaid(merged, {name: one for name, one in fields.items() if name != _MERGE})
    if defaults and merged.get("evictionHard") == DEFAULT_EVICTION:
        del merged["evictionHard"]
    else:
        merged.setdefault("evictionHard", {})  # a null took it away, and no default comes again
    return merged


_MERGE: Final = FIELD_NAMES["merge_default_eviction_settings"]


def _ground(found: Found, own: Base, config: KubeletConfig, missing: Mapping[str, str]) -> Ground:
    """Say what the settings rest on, and what of it is unknown."""
    given = {
        "kubeReserved": config.kube_reserved,
        "systemReserved": config.system_reserved,
        "evictionHard": config.eviction_hard or {},
    }
    unknown = dict(missing)
    for name, fix in own.unknown.items():
        field, _, key = name.partition(".")
        known = given.get(field, {})
        if not (key in known if key else field in given and "memory.available" in known):
            unknown[name] = fix
    return Ground(found.system.name, found.system.lacks, unknown, frozenset(missing))


def _found(path: FilePath, pool: str | None) -> Found:
    """Read one file: documents of YAML or JSON, user data, else a command line."""
    from numalign.sources.kubelet import aws, wrappers
    from numalign.sources.kubelet.cluster_api import command_line
    from numalign.sources.text.yaml import STDIN, load_documents

    name = STDIN if str(path) == "-" else str(path)
    with reading(path, name) as file:
        data = file.read(MAX_INPUT + 1)
    text = data[:_MAX_TEXT].decode("utf-8", "replace")
    found: Found | None
    if text.lstrip()[:13].lower() in ("mime-version:", "content-type:") or text.startswith("#!") or aws.is_toml(text):
        parts = aws.user_data(text, name)
        found = wrappers.choose([joined(parts)], name, pool) if parts else None
        if found is None:
            raise InputError(f"no kubelet setting found in this user data; {wrappers.CONFIGZ}", name)
        return found
    refusal: InputError | None = None
    documents: list[Document] = []
    try:
        documents = load_documents(data, name, last=True)
    except InputError as error:
        from numalign.sources.pods.files import explained

        refusal = explained(error, name)
    if refusal or not documents or not all(isinstance(document.data, Mapping) for document in documents):
        found = command_line(text, name)
        if found is not None and (found := wrappers.choose([found], name, pool)) is not None:
            return found
    if refusal is not None:
        raise refusal
    found = wrappers.find(documents, name, pool)
    twice = [notice for document in documents for notice in document.duplicates()]
    return found._replace(notices=(*twice, *found.notices))


def from_data(data: Mapping[str, object], where: str | Where) -> Loaded:
    """Read the fields of a KubeletConfiguration; `apiVersion` and `kind` may be missing.

    Args:
        data: the fields, decoded.
        where: what errors put before a field's path, or what tells its place.

    Raises:
        StartError: a value has a type that the kubelet refuses.
    """
    place = (lambda field: f"{where}: {field}") if isinstance(where, str) else where
    settings: dict[str, Any] = {}
    warnings: list[Notice] = []
    for field, value in data.items():
        known = _FIELDS.get(field)
        if known is None:
            if field not in NO_INFLUENCE:
                warnings.append(_unknown_field(field, place, brief=len(warnings) >= MAX_MEANT))
        elif value is not None:
            name, read = known
            settings[name] = read(value, field, place)
    # An empty text and a maxPods of 0 count as not given.
    given = {name: value for name, value in settings.items() if value != "" and (name, value) != ("max_pods", 0)}
    return Loaded(KubeletConfig(**given), tuple(warnings))


def _drop_ins(folder: FilePath) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".conf")]
    except OSError as error:
        raise InputError(f"cannot list the folder: {error.strerror}", str(folder)) from None


def _unknown_field(field: str, place: Callable[[str], str], *, brief: bool) -> Notice:
    if brief:
        return Notice("unknown-field", f"unknown field of a {KIND}: the kubelet ignores it", f"{place('')}: {field}")
    return Notice("unknown-field", _unknown(field), place(field))


def _unknown(field: str) -> str:
    from numalign.model.words import nearest

    meant = nearest(field, [*_FIELDS, *NO_INFLUENCE])
    hint = f"; hint: similar: {meant}" if meant else ""
    return f"unknown field of a {KIND}: the kubelet ignores it{hint}"


def _noun(value: object) -> str:
    """Name a JSON value's type as the kubelet's decoder does."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _refused(value: object, field: str, kind: str, where: Where, path: str = "") -> StartError:
    # The kubelet names the field as Go spells the struct's path; list indices are not in it.
    noun = _noun(value)
    if noun == "number" and kind.startswith("int"):
        noun = f"number {value}"
    return StartError(
        f"json: cannot unmarshal {noun} into Go struct field {KIND}.{field} of type {kind}", where(path or field)
    )


def _text(value: object, field: str, where: Where) -> str:
    if not isinstance(value, str):
        raise _refused(value, field, "string", where)
    return value


def _bool(value: object, field: str, where: Where) -> bool:
    if not isinstance(value, bool):
        raise _refused(value, field, "bool", where)
    return value


def _int32(value: object, field: str, where: Where) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise _refused(value, field, "int32", where)
    return value


def _map(kind: str) -> Callable[[object, str, Where], dict[str, object]]:
    """Make the reader of a map of texts or booleans; a null among the values is the type's zero value."""
    wanted = str if kind == "string" else bool

    def read(value: object, field: str, where: Where) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise _refused(value, field, f"map[string]{kind}", where)
        for key, inner in value.items():
            if inner is not None and not isinstance(inner, wanted):
                raise _refused(inner, field, kind, where, child(field, str(key)))
        return {str(key): wanted() if inner is None else inner for key, inner in value.items()}

    return read


def _reserved_memory(value: object, field: str, where: Where) -> tuple[MemoryReservation, ...]:
    if not isinstance(value, list):
        raise _refused(value, field, "[]v1beta1.MemoryReservation", where)
    return tuple(_reservation(element, field, where, f"{field}[{place}]") for place, element in enumerate(value))


def _reservation(element: object, field: str, where: Where, path: str) -> MemoryReservation:
    if not isinstance(element, Mapping):
        raise _refused(element, field, "v1beta1.MemoryReservation", where, path)
    node = element.get("numaNode")
    if node is not None and (isinstance(node, bool) or not isinstance(node, int) or not -(2**31) <= node < 2**31):
        raise _refused(node, f"{field}.numaNode", "int32", where, f"{path}.numaNode")
    limits = element.get("limits")
    if limits is not None and not isinstance(limits, Mapping):
        raise _refused(limits, f"{field}.limits", "v1.ResourceList", where, f"{path}.limits")
    texts = {
        str(name): _amount(amount, where, child(f"{path}.limits", str(name))) for name, amount in (limits or {}).items()
    }
    return MemoryReservation(node or 0, texts)


def _amount(value: object, where: Where, path: str) -> str:
    """Read a quantity of `reservedMemory`: the one place where a bare number will do (31)."""
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise StartError(f"unmarshalerDecoder: expected a quantity, got {_noun(value)}", where(path))
    text = value if isinstance(value, str) else number_text(value)
    try:
        quantity.parse(text)
    except QuantityError as error:
        meant = quantity.mended(text)
        fix = f"; fix: write {meant[0]} ({meant[1]})" if meant else ""
        raise StartError(f"{error}, got {text!r}{fix}", where(path)) from None
    return text


_READERS: Mapping[str, Callable[[Any, str, Where], Any]] = {
    "topology_manager_policy": _text,
    "topology_manager_scope": _text,
    "topology_manager_policy_options": _map("string"),
    "cpu_manager_policy": _text,
    "cpu_manager_policy_options": _map("string"),
    "reserved_system_cpus": _text,
    "memory_manager_policy": _text,
    "reserved_memory": _reserved_memory,
    "kube_reserved": _map("string"),
    "system_reserved": _map("string"),
    "eviction_hard": _map("string"),
    "feature_gates": _map("bool"),
    "max_pods": _int32,
    "pods_per_core": _int32,
    "system_reserved_cgroup": _text,
    "kube_reserved_cgroup": _text,
    "local_storage_capacity_isolation": _bool,
    "merge_default_eviction_settings": _bool,
    "fail_cgroup_v1": _bool,
}
_FIELDS = {FIELD_NAMES[name]: (name, reader) for name, reader in _READERS.items()}
"""Field of the file -> field of KubeletConfig and its reader."""
