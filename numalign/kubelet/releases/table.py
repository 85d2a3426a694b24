"""Which kubelet decides: the table of all changes, and the kubelets that follow from it.

A kubelet is the fold of every change up to its release over the first one. From 1.32 on the fold starts there, so that
nobody pays for history who does not ask for it; a test holds both ways together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from numalign.errors import InputError
from numalign.kubelet.releases import EXACT, NEWEST, OLDEST, PUBLISHED
from numalign.kubelet.releases.release import OPTIONS, Change, Kubelet, Version, version_text
from numalign.kubelet.releases.since_1_33 import NEWER_CHANGES
from numalign.kubelet.releases.v1_32 import V1_32


def all_changes() -> tuple[Change, ...]:
    """List every change since the first kubelet, oldest first."""
    from numalign.kubelet.releases.until_1_31 import CHANGES

    return CHANGES + _later_changes()


def _later_changes() -> tuple[Change, ...]:
    """List the changes since the first release that was recorded."""
    from numalign.kubelet.releases.since_1_37 import PUBLISHED_CHANGES

    return NEWER_CHANGES + PUBLISHED_CHANGES


def fold(start: Kubelet, version: Version, changes: Iterable[Change]) -> Kubelet:
    """Carry out the changes up to a release, oldest first."""
    kubelet = start
    for change in changes:
        if start.version < change.since <= version:
            kubelet = change.apply(kubelet)
    return kubelet._replace(version=version)


@cache
def kubelet(version: Version) -> Kubelet:
    """Return the kubelet of a release from `OLDEST` to `PUBLISHED`."""
    if version >= EXACT:
        return fold(V1_32, version, _later_changes() if version > NEWEST else NEWER_CHANGES)
    return without(version, ())


LATEST: Kubelet = kubelet(NEWEST)
"""The kubelet that decides where nobody asks for another."""


def without(version: Version, taken_back: Collection[Change]) -> Kubelet:
    """Return the kubelet of a release as if some changes had never been made."""
    from numalign.kubelet.releases.until_1_31 import V1_16

    return fold(V1_16, version, [change for change in all_changes() if change not in taken_back])


def is_history(version: Version) -> bool:
    """Tell whether a release is told of for history's sake: its decisions were never recorded as a whole."""
    return version < EXACT


PUBLISHED_NOTE = "kubelet {}: from published changes, not recorded"
"""What is said of a release that `is_published`."""


def head_text(version: Version) -> str:
    """Write a release as a head names it: how it is known stands beside one that was not recorded."""
    text = version_text(version)
    return f"{text} (from published changes, not recorded)" if is_published(version) else text


def is_published(version: Version) -> bool:
    """Tell whether a release is known from published changes alone: no kubelet of it was recorded."""
    return version > NEWEST


def exact_kubelets() -> list[Kubelet]:
    """List the kubelets of the releases that were recorded, oldest first."""
    return [one for one in known_kubelets() if not is_published(one.version)]


def known_kubelets() -> list[Kubelet]:
    """List the kubelets of the releases that are known part by part, oldest first."""
    return [kubelet((1, minor)) for minor in range(EXACT[1], PUBLISHED[1] + 1)]


def between(older: Version, newer: Version) -> tuple[Change, ...]:
    """List what an upgrade brings, oldest first."""
    return tuple([change for change in all_changes() if older < change.since <= newer])


def first_with_setting(name: str) -> Version:
    """Return the first release that has a field of KubeletConfiguration."""
    versions = sorted({OLDEST, *(change.since for change in all_changes())})
    return next(version for version in versions if name in kubelet(version).settings)


def first_with_option(name: str) -> Version | None:
    """Return the first release that has an option of the CPU or the Topology Manager; None: none has it."""
    return min(OPTIONS[name].levels) if name in OPTIONS else None


def parse_version(text: str, where: str = "--kubelet-version") -> Version:
    """Read a kubelet version: `1.23`, `v1.23`, `v1.23.17`; `where` begins the error.

    Releases from `EXACT` to `NEWEST` are exact, earlier ones as far as known, later ones as published.

    Raises:
        InputError: it is none, or not one from `OLDEST` to `PUBLISHED`.
    """
    match = re.fullmatch(r"v?1\.(\d{1,3})(?:\.\d+)?", text.strip(), re.ASCII)
    version = (1, int(match[1])) if match else None
    if version is None or not OLDEST <= version <= PUBLISHED:
        known = f"{version_text(OLDEST)} to {version_text(PUBLISHED)}"
        exact = f"{version_text(EXACT)} to {version_text(NEWEST)}"
        if version is not None and version > PUBLISHED:
            raise InputError(
                f"{where}: kubelet {version_text(version)} is not known yet; allowed: {known} ({exact} are exact)"
            )
        raise InputError(f"expected a version from {known}, got {text!r}", where)
    return version
