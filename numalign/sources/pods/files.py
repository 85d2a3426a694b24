"""Which files the POD arguments of a command line mean, and what a file is that is no manifest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Set
from typing import Final

from numalign.errors import InputError, Notice, unreadable
from numalign.sources.text.yaml import Document, FilePath, load_file
from numalign.store.reading import beginning

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Files of a folder that are read; the others are passed over."""
_MAX_LOOK: Final = 1 << 20
"""How much of a file is looked at for signs of a manifest, or of a template, in bytes."""
_MAX_FOLDERS: Final = 1000
"""In how many folders below one is looked for files."""
_MAX_RECURSION: Final = 20_000
"""How many folders are read with `-R`."""
_MAX_CLIMB: Final = 8
"""How many folders up the chart of a template is looked for."""
NO_MANIFEST: Final = Notice("no-manifest", "skipped: not a manifest")


class SourceError(InputError):
    """A file is no manifest, but what Helm, kustomize or another tool makes manifests of."""


def files_in(name: FilePath) -> list[str]:
    """List the files that an input means: itself, or in a folder those with the usual endings, by name.

    Raises:
        InputError: a folder cannot be read, has nothing to read in it, or is a Helm chart.
    """
    if str(name) == "-" or "\0" in str(name) or not os.path.isdir(name):
        return [str(name)]
    try:
        with os.scandir(name) as entries:
            files = sorted(entry.path for entry in entries if entry.is_file())
    except OSError as error:
        raise InputError(unreadable(error), str(name)) from None
    if any(os.path.basename(file) == "Chart.yaml" for file in files):
        raise SourceError(f"a Helm chart; fix: helm template {name} > FILE", str(name))
    files = [file for file in files if file.endswith(SUFFIXES)]
    if not files:
        below = _folder_below(name)
        more = "" if below is None else f", but in {below}: name that one"
        raise InputError(f"no file that ends in {', '.join(SUFFIXES)} in this folder{more}", str(name))
    return files


def folders_below(names: Iterable[str]) -> tuple[str, ...]:
    """Name each folder with all folders below it that have files to read; hidden ones and those in charts do not count.

    Raises:
        InputError: there are too many folders.
    """
    found: list[str] = []
    for name in names:
        if name == "-" or "\0" in name or not os.path.isdir(name):
            found.append(name)
            continue
        start = len(found)
        for number, (folder, inside, files) in enumerate(os.walk(name)):
            chart = "Chart.yaml" in files
            inside[:] = [] if chart else sorted(one for one in inside if not one.startswith("."))
            if chart or any(file.endswith(SUFFIXES) for file in files):
                found.append(folder)
            if number == _MAX_RECURSION:
                raise InputError(f"has more than {_MAX_RECURSION:,} folders; fix: name some of them", name)
        if len(found) == start:
            found.append(name)
    return tuple(found)


def not_searched(names: Iterable[FilePath], read: Set[str]) -> Iterator[Notice]:
    """Say of folders that there are files in folders below them, none of `read` (see `identity`)."""
    for name in names:
        below = _folder_below(name, read) if str(name) != "-" and os.path.isdir(name) else None
        if below is not None:
            yield Notice("folder-below", f"skipped the folders below; fix: name each, as {below}", str(name))


def _folder_below(name: FilePath, read: Set[str] = frozenset()) -> str | None:
    """Find the first folder, at any depth below a folder, that has files left to read; hidden ones do not count."""
    for number, (folder, inside, files) in enumerate(os.walk(name)):
        inside[:] = sorted(one for one in inside if not one.startswith("."))
        left = (file for file in files if file.endswith(SUFFIXES))
        if number and any(identity(os.path.join(folder, file)) not in read for file in left):
            return folder
        if number == _MAX_FOLDERS:
            break
    return None


def documents_of(name: FilePath) -> Iterator[Document]:
    """Yield the documents of a file, folder or `-`.

    Raises:
        InputError: it cannot be read.
    """
    for file in files_in(name):
        yield from load_file(file, last=True)


def readable_documents(name: FilePath) -> Iterator[Document]:
    """Yield the documents of the files that can be read."""
    try:
        listed = files_in(name)
    except InputError:
        return
    for file in listed:
        try:
            documents = load_file(file, last=True)
        except InputError:
            continue
        yield from documents


def identity(file: str) -> str:
    """Return what two names of one file have in common."""
    try:
        return file if file == "-" else os.path.realpath(file)
    except (OSError, ValueError):  # the working folder is gone; a sign that no file's name has
        return file


def is_foreign(file: str) -> bool:
    """Tell whether a file's name and text have nothing of a manifest: no usual ending, and not a kind anywhere."""
    if file == "-" or "\0" in file or (file.endswith(SUFFIXES) and not file.endswith(".json")):
        return False
    return not _has(file, b"kind", otherwise=True)


def _has(file: str, sign: bytes, *, otherwise: bool) -> bool:
    """Tell whether a sign stands in the first part of a file, or what to think of one that cannot be read."""
    try:
        return sign in beginning(file, _MAX_LOOK)
    except OSError:
        return otherwise


def passed_over(error: InputError, file: str) -> Notice | None:
    """Say what a file is that is no fault in a repository of mixed files; None: it should have been read.

    Args:
        error: what is wrong with it.
        file: its name.
    """
    if isinstance(error, SourceError):
        return Notice("template-source", f"{error.message}; skipped", error.where)
    if file.endswith(SUFFIXES) or not (os.path.isfile(file) and os.access(file, os.R_OK)):
        return None
    return NO_MANIFEST._replace(path=file)


def kustomized(names: Iterable[FilePath]) -> Iterator[Notice]:
    """Warn of folders whose files are sources of kustomize: its patches and generators are not in them."""
    for name in names:
        for file in ("kustomization.yaml", "kustomization.yml", "Kustomization"):
            if str(name) != "-" and "\0" not in str(name) and os.path.isfile(os.path.join(name, file)):
                text = f"read without kustomize; fix: kubectl kustomize {name} | numalign"
                yield Notice("kustomize-source", text, str(name))
                break


# Templates, of a Helm chart or of Go otherwise


def explained(error: InputError, file: str) -> InputError:
    """Say what a file is that could not be read because it is a template of manifests; else give the error back."""
    if file == "-" or not _has(file, b"{{", otherwise=False):
        return error
    chart = _chart_of(file)
    if chart is None:
        return SourceError(f"a Go template, not a manifest ({error.message}); fix: render it first", error.where)
    return SourceError(f"a Helm template, not a manifest; fix: helm template {chart} > FILE", file)


def _chart_of(file: str) -> str | None:
    folder = os.path.dirname(os.path.abspath(file))
    for _ in range(_MAX_CLIMB):
        if os.path.isfile(os.path.join(folder, "Chart.yaml")):
            return os.path.relpath(folder) if not os.path.relpath(folder).startswith("..") else folder
        folder = os.path.dirname(folder)
    return "CHART" if f"{os.sep}templates{os.sep}" in os.path.abspath(file) else None
