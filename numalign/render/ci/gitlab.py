"""Checks as GitLab's Code Quality report, which a merge request shows beside its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numalign.render.ci.checks import Check, Level, fingerprinted
from numalign.render.escape import lines
from numalign.render.json import Data

_SEVERITIES: Mapping[Level, str] = {"error": "critical", "warning": "major", "notice": "info"}


def gitlab(checks: Sequence[Check]) -> list[Data]:
    """Write a list of issues; paths are below the folder in which numalign runs, which is the repository's."""
    return [
        {
            "description": lines(f"{check.name}: {problem.message}"),
            "check_name": lines(problem.title),
            "fingerprint": mark,
            "severity": _SEVERITIES[problem.level],
            "location": {
                "path": lines(check.path or "-"),
                "lines": {"begin": max(problem.line or check.line, 1)},
            },
        }
        for check, problem, mark in fingerprinted(checks)
    ]
