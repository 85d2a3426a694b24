"""What is said of a change beside its edits: who has to come first, what comes otherwise, why no less will do."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.reasons import reasons
from numalign.analysis.whatif.tries import Tries
from tests.analysis.whatif.drawn import case


def told(of: Any, change: WayOut) -> WayOut:
    """Give what is said of a change for a recorded or drawn pod."""
    tries = Tries(*case(of))
    return next(reasons(tries, [change._replace(tried=tries.attempt(change))]))


@pytest.mark.parametrize(
    ("of", "flags", "first", "instead", "missing"),
    [
        pytest.param(
            ("e2e-d-01279", 3), {"memory-manager-policy": "None"}, ["p0"], [], ["cpu"], id="nobody comes instead"
        ),
        pytest.param(5844, {"topology-manager-policy": "best-effort"}, ["p1"], ["p4"], ["cpu"], id="another comes"),
    ],
)
def test_a_setting_that_helps_only_as_others_come_first_says_how_the_pod_is_refused_without_them(
    of: Any, flags: dict[str, str], first: list[str], instead: list[str], missing: list[str]
) -> None:
    change = told(of, WayOut(flags=flags))
    assert change.needs_newcomers
    anew = change.anew
    assert anew is not None
    assert anew.otherwise is not None
    assert ([one.name for one in anew.newcomers], [one.name for one in anew.instead]) == (first, instead)
    assert (anew.otherwise.around.when, [*anew.otherwise.resources]) == ("then", missing)
