"""What is looked for: an admission, or one that is aligned."""

from __future__ import annotations

from numalign.analysis.whatif.goal import ADMITTED, ALIGNED
from numalign.kubelet.admission import admit
from tests.analysis.support import pod
from tests.analysis.whatif.test_tries import situation


def test_what_is_spread_is_admitted_and_not_aligned() -> None:
    session = situation("best-effort", on="hgx-h100").session()
    wide = pod("p", 300)
    assert not ADMITTED.does(session, wide)
    assert not ALIGNED.does(session, wide)
    near = pod("p", 16)
    assert ADMITTED.does(session, near)
    assert ALIGNED.does(session, near)


def test_an_admission_that_is_spread_meets_one_goal() -> None:
    busy = situation("best-effort", pod("one", 3), pod("two", 3))
    outcome = admit(busy.session(), pod("p", 2))
    assert outcome.admit
    assert ADMITTED.met(outcome)
    assert not ALIGNED.met(outcome)
    assert not ALIGNED.does(busy.session(), pod("p", 2))
