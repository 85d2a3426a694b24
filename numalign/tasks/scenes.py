"""The node that an explanation is about, to be drawn: as it is, and with the first fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.settings import apply
from numalign.results.compare import Scene
from numalign.results.explain import first_problem
from numalign.tasks.admit import drawn

if TYPE_CHECKING:
    from numalign.model.pod import Pod
    from numalign.results.explain import ExplainResult


def explained_scenes(result: ExplainResult, there: Sequence[Pod]) -> Iterator[Scene]:
    """Yield the node after the last admission, and where a fix was found the node with it; `there`: pods before."""
    if result.session is None:
        return
    yield Scene("", drawn(result.setup, result.session, [one.pod for one in result.pods], there))
    place = first_problem(result.pods)
    if place is None or not result.pods[place].changes:
        return
    change, after = result.pods[place].changes[0], result.pods[place].after[0]
    if change.tried is not None and after is not None:
        machine = change.tried.before.node.machine
        setup = result.setup._replace(machine=machine, config=apply(result.setup.config, change.flags))
        others = [pod for pod in change.tried.then.pods if pod.full_name != after.full_name]
        yield Scene("with the fix", drawn(setup, change.tried.then, [after], others))
