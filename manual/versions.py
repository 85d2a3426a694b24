"""docs/versions.md: what each release of the kubelet changed, from the same data that decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.kubelet.releases.release import Change, version_text

INTRODUCTION = """# What each kubelet changed

numalign decides as the kubelet of a release does. Without `--kubelet-version` it is the newest; a machine file, a
scenario and a snapshot may name another. 1.32 to 1.36 are exact: their decisions were recorded and are judged
case by case. Earlier releases are replayed as far as they are known to differ ([history.md](history.md)).
1.37 is announced and refused: what is known of it is known from proposals only.

Does an upgrade concern your pods? `numalign compare --kubelet-version 1.32,1.36 PODS --machine …` tries each of these
changes on them, one by one. This page is made from the table that decides (`numalign/kubelet/releases/`).
"""


def versions_page(changes: Iterable[Change]) -> str:
    """Write the page: a table a release, the newest first."""
    releases: dict[tuple[int, int], list[Change]] = {}
    for change in changes:
        releases.setdefault(change.since, []).append(change)
    sections = [
        f"\n## {version_text(version)}\n\n" + "\n".join(_table(releases[version])) + "\n"
        for version in sorted(releases, reverse=True)
    ]
    return "".join([INTRODUCTION, *sections])


def _table(changes: Sequence[Change]) -> Iterable[str]:
    yield "| what | before | since then | concerns you if … |"
    yield "| --- | --- | --- | --- |"
    for change in changes:
        yield f"| {change.topic} | {change.older} | {change.newer} | {change.concerns} |"
