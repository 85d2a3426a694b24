"""Checks as GitLab's Code Quality report, which a merge request shows beside its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256

from numalign.render.ci.checks import Check, Level
from numalign.render.escape import lines
from numalign.render.json.data import Data

_SEVERITIES: Mapping[Level, str] = {"error": "critical", "warning": "major", "notice": "info"}


def gitlab(checks: Sequence[Check]) -> list[Data]:
    """Write a list of issues. A fingerprint stays when a file's lines move, so that GitLab knows an issue again."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    issues: list[Data] = []
    for check in checks:
        for problem in check.problems:
            path = check.file or "-"
            key = (path, check.name, problem.title, problem.message)
            seen[key] += 1
            issues.append(
                {
                    "description": lines(f"{check.name}: {problem.message}"),
                    "check_name": problem.title,
                    "fingerprint": sha256("\0".join((*key, str(seen[key]))).encode()).hexdigest(),
                    "severity": _SEVERITIES[problem.level],
                    "location": {"path": lines(path), "lines": {"begin": max(problem.line or check.line, 1)}},
                }
            )
    return issues
