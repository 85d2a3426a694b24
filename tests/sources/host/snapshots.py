"""Captured machines and the facts about them (tests/sysfs/NOTICE.md), as the tests use them."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from numalign.sources.host.discovery import Discovery, discover
from numalign.sources.tree.folder import Tree
from numalign.sources.tree.opening import open_tree

FOLDER = Path(__file__).parents[2] / "sysfs"


def names(folder: Path = FOLDER) -> list[str]:
    return sorted(path.name.removesuffix(".facts.json") for path in folder.glob("*.facts.json"))


def facts(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / f"{name}.facts.json").read_text("utf-8"))
    return data


def each(chosen: Iterable[str]) -> list[ParameterSet]:
    """Give the machines as parameters of a test; all tests of one machine run one after another."""
    return [pytest.param(name, id=name, marks=pytest.mark.together(name)) for name in chosen]


def tree(name: str, folder: Path = FOLDER) -> Tree:
    """Unpack a captured machine, which takes most of the time, and keep it for the next test."""
    return _tree(folder / f"{name}.tar.xz")


def discovered(name: str, folder: Path = FOLDER) -> Discovery:
    """Read a captured machine once for all tests."""
    return _discovered(folder / f"{name}.tar.xz")


@functools.lru_cache(maxsize=2)
def _tree(path: Path) -> Tree:
    return open_tree(str(path))


@functools.cache
def _discovered(path: Path) -> Discovery:
    return discover(_tree(path))


def tool_output(name: str, tool: str, folder: Path = FOLDER) -> bytes | None:
    """Return what another tool prints for a machine; None where it could not read it."""
    with tarfile.open(folder / f"{name}.tools.tar.xz") as archive:
        for member in archive:
            if member.name.rpartition("/")[2] == tool:
                source = archive.extractfile(member)
                return source.read() if source else None
    return None


def unpack(name: str, target: Path, folder: Path = FOLDER) -> Path:
    """Unpack a captured machine into a folder."""
    with tarfile.open(folder / f"{name}.tar.xz") as archive:
        archive.extractall(target, filter="fully_trusted")
    return target
