"""Drawn nodes: what is free, what a restart does, and what contradicts itself in a changed state is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from numalign.analysis.node.restart import restart_of
from numalign.analysis.node.room import largest_by_policy, no_larger, rooms
from numalign.analysis.node.state import state_findings
from numalign.analysis.node.whole import contradictions
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Session
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.restart import come_up, written
from numalign.kubelet.start.restore import settle
from tests.analysis.kept import hold
from tests.analysis.node.drawn import edited
from tests.analysis.whatif.drawn import drawn

HERE = Path(__file__).parent
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")


@cache
def nodes() -> list[tuple[int, Setup, Session]]:
    """Draw nodes with some pods; those with very many are left out."""
    return list(_nodes(range(150)))


def _nodes(numbers: Iterable[int]) -> Iterator[tuple[int, Setup, Session]]:
    for number in numbers:
        with suppress(CrashError, StartError):
            situation, found = drawn(number)
            if len(situation.past) < 12:
                yield number, situation.setup, found.then


def told(file: str, answer: Callable[[Random, Setup, Session], Any], every: int = 1) -> None:
    hold(HERE / file, (answer(Random(number), setup, up) for number, setup, up in nodes()[::every]))


def test_what_contradicts_itself_is_as_it_was() -> None:
    def answer(dice: Random, _: Setup, up: Session) -> Any:
        return [list(contradictions(up.node, edited(dice, up))) for _ in range(30)]

    told("drawn_contradictions.jsonl.gz", answer)


def test_what_is_free_is_as_it_was() -> None:
    def answer(_: Random, setup: Setup, up: Session) -> Any:
        found = rooms(up)
        most = max(room.cpus.bit_count() for room in found)
        largest = largest_by_policy(setup, up, most)
        return [found, largest, no_larger(found, largest.get(setup.config.topology_manager_policy))]

    told("drawn_rooms.jsonl.gz", answer)


def test_what_the_files_say_together_is_as_it_was() -> None:
    def answer(dice: Random, _: Setup, up: Session) -> Any:
        found = []
        for _ in range(8):
            changed, other = edited(dice, up), edited(dice, up)
            files = written(up.node, other)
            active = dice.choice((None, {*up.state.pods}, {*list(up.state.pods)[:1]}))
            found.append(list(state_findings(up.node, changed, files, active, str.upper, "/k")))
        return found

    told("drawn_files.jsonl.gz", answer)


def test_what_a_restart_does_is_as_it_was() -> None:
    def answer(dice: Random, setup: Setup, up: Session) -> Any:
        found: list[Any] = []
        for _ in range(3):
            config = setup.config._replace(topology_manager_policy=dice.choice(POLICIES))
            if config.cpu_manager_policy == "static":
                full = dice.choice(({}, {"full-pcpus-only": "true"}))
                config = config._replace(cpu_manager_policy_options=full)
            try:
                again = come_up(setup._replace(config=config), up.node, up.state)
            except StartError:
                continue
            asked = {one.uid: again.node.read_pod(one)[1] for one in up.pods}
            again = again._replace(state=settle(again.state, asked), pods=up.pods)
            back = [one._replace(name=f"again-{one.name}", uid=f"again/{one.uid}") for one in up.pods]
            turned = dice.sample(up.pods, len(up.pods))
            every = dice.sample([*up.pods, *back], len(up.pods) + len(back))
            found += [restart_of(again), restart_of(again, turned, "random"), restart_of(again, every, "unknown")]
            found.append(restart_of(again, every))
        return found

    told("drawn_restarts.jsonl.gz", answer, every=3)
