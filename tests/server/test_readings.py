"""Readings of a node one after the other: what fails is counted and said once, and nothing old is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from numalign.errors import HostError, Notice
from numalign.results.node import VerifyResult
from numalign.server.readings import Readings

NOTICE = Notice("node-files-changing", "the files changed", "/var/lib/kubelet")


def measured(at: float) -> VerifyResult:
    return VerifyResult(
        machine="a",
        origin="b",
        containers=(),
        ended=0,
        host_allowed=0,
        left_out=(),
        unknown=(),
        findings=(),
        notices=(NOTICE,),
        at=at,
    )


def answers(results: Iterable[VerifyResult | Exception]) -> Callable[[], VerifyResult]:
    rest = iter(results)

    def read() -> VerifyResult:
        found = next(rest)
        if isinstance(found, Exception):
            raise found
        return found

    return read


def figures(text: str) -> dict[str, str]:
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def test_what_fails_is_counted_and_said_once_and_the_next_reading_counts() -> None:
    gone = HostError("cannot be read", "/sys")
    said: list[str] = []
    told: list[Notice] = []
    readings = Readings(
        answers([measured(7), gone, gone, ValueError("x"), measured(9), gone]), said.append, told.extend
    )
    name = "numalign_verify"

    seen = [figures(readings.text()) for _ in range(6)]

    assert [one[f"{name}_success"] for one in seen] == ["1", "0", "0", "0", "1", "0"]
    assert [one[f"{name}_errors_total"] for one in seen] == ["0", "1", "2", "3", "3", "4"]
    assert [one[f"{name}_timestamp_seconds"] for one in seen] == [f"{at}.000" for at in (7, 7, 7, 7, 9, 9)]
    assert ['numalign_containers{verdict="aligned"}' in one for one in seen] == [True, False, False, False, True, False]
    assert said == ["/sys: cannot be read", "bug: ValueError('x')", "/sys: cannot be read"]
    assert told == [NOTICE]


def test_the_first_reading_has_to_succeed() -> None:
    readings = Readings(answers([HostError("cannot be read", "/sys")]), print, print)

    with pytest.raises(HostError, match="cannot be read"):
        readings.text()
