"""KubeletConfiguration -> KubeletConfig: files, drop-in folders, the kubelet's `/configz`, and flags over them.

Stands for docs/rules/kubelet-files.md rules 31 and 32. A value of the wrong type stops the kubelet, so it is a
`StartError` with the kubelet's own words; an unknown field is a warning, as it is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from numalign.analysis.config.system import Base, Facts, Fields, Ground
from numalign.errors import InputError, Notice
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig
from numalign.kubelet.releases import OLDEST, PUBLISHED
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.start.reservation import DEFAULT_EVICTION
from numalign.sources.kubelet import Loaded
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.kubelet.found import Found, expanded, joined, overlaid
from numalign.sources.text.yaml import MAX_INPUT, Document, FilePath
from numalign.store.reading import reading

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
    warnings = [*found.notices, *read_fields(found.fields, found.where).warnings]
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
        warnings += (*drop_in.notices, *read_fields(drop_in.fields, drop_in.where).warnings)
        drop_ins.append(drop_in.fields)
        flags.update(drop_in.flags)
    merged = with_drop_ins(merged, drop_ins)
    config = read_fields(merged, found.where).config
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
    from numalign.sources.text.yaml import load_documents, shown_name

    name = shown_name(path)
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


def _drop_ins(folder: FilePath) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".conf")]
    except OSError as error:
        raise InputError(f"cannot list the folder: {error.strerror}", str(folder)) from None
