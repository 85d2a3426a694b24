"""Find out what a host is made of: the live one, or a captured tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.results.node import DiscoverResult

if TYPE_CHECKING:
    from numalign.sources.host.device_rules import DeviceRule
    from numalign.sources.host.discovery import Discovery


def discover(root: str = "/", *, rules: str | None = None, requested: Sequence[str] = ()) -> DiscoverResult:
    """Read a machine as its kubelet sees it, and as it is.

    Args:
        root: `/` for the live host, else a captured tree: a folder or a tar archive.
        rules: a file that says which PCI device is which resource; None: the default rules.
        requested: names of rules that count on request only.

    Raises:
        InputError: an argument is wrong, or the tree cannot be opened.
        HostError: the host cannot be read.
    """
    from numalign.sources.host.discovery import discover as read

    return _result(read(root, _rules(rules, requested), frozenset(requested)))


def capture(
    root: str, file: str, *, rules: str | None = None, requested: Sequence[str] = ()
) -> tuple[DiscoverResult, tuple[Notice, ...]]:
    """Read a machine, and write a small anonymous snapshot of its tree; returns also what was odd about the file.

    Args:
        root: see `discover`, as for the other arguments.
        file: the snapshot, a tar archive; its name says how it is compressed.
        rules: see `discover`.
        requested: see `discover`.

    Raises:
        InputError: an argument is wrong, or a file cannot be read or written.
        HostError: the host cannot be read.
    """
    from numalign.sources.host.capture import capture as take_notes
    from numalign.store.archive import compression, write_archive

    compression(file)  # A name that cannot be written should not cost a discovery first.
    found, entries = take_notes(root, _rules(rules, requested))
    return _result(found), write_archive(file, entries)


def _result(found: Discovery) -> DiscoverResult:
    hardware = None
    if found.machine is None:
        from numalign.sources.host.contrast import hardware_of

        hardware = hardware_of(found.hardware, None)
    return DiscoverResult(found.name, found.machine, hardware, found.kubelet_error, found.warnings)


def _rules(path: str | None, requested: Sequence[str]) -> tuple[DeviceRule, ...] | None:
    """Read the rules where they are needed before the devices are known."""
    if path is None and not requested:
        return None
    from numalign.sources.host.device_rules import DEFAULT, load_rules, requestable

    rules = load_rules(path or DEFAULT)
    for name in requested:
        if name not in requestable(rules):
            known = ", ".join(requestable(rules)) or "none"
            raise InputError(f"unknown rule {name!r}; allowed: {known}", "--with")
    return rules
