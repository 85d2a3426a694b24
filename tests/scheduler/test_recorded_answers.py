"""What every scheduler and the kubelet answer about drawn pods on drawn nodes, told as it was.

Verdicts with what is short, scores, causes of disagreements (docs/rules/scheduling.md 1.5), whom a scheduler evicts,
and what its extender says. Rules have their tables beside this; it holds that no answer changes unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numalign.model.pod import Pod
from numalign.results.cluster import NodeAnswer, ScheduledPod
from numalign.scheduler.extender import Extender, Judge
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.tasks.schedule import schedule
from tests import recorded
from tests.dice import Dice
from tests.scheduler import drawn

FILE = Path(__file__).parent / "recorded_answers.jsonl.gz"
CASES = 200
JUDGES: tuple[Judge, ...] = ("nrt", "kubelet")


def test_answers_are_told_as_they_were() -> None:
    recorded.compare(FILE, map(told, range(CASES)))


def told(number: int) -> dict[str, Any]:
    """Schedule some pods on three nodes with pods on them."""
    one = drawn.dice(number, "answers")
    config = drawn.scheduler(one, drawn.KINDS[number % len(drawn.KINDS)])
    nodes = tuple(filled(one, name) for name in "abc")
    pods = [drawn.pod(one, f"p{place}") for place in range(4)]
    pods.append(drawn.important(one, "first"))
    done = schedule(Fleet(nodes, config), pods)
    return {
        "title": done.result.title,
        "pods": [of_pod(pod) for pod in done.result.pods],
        "extender": [list(extended(Extender(nodes, config=config, judge=judge), pods)) for judge in JUDGES],
    }


def filled(one: Dice, name: str) -> ClusterNode:
    """Make a node with pods on it, and with the object that is published of it."""
    node = drawn.occupied(
        one, drawn.bare(one, name), [drawn.pod(one, f"{name}{place}") for place in range(one.below(3))]
    )
    return node._replace(nrt=drawn.object_of(one, node))


def of_pod(pod: ScheduledPod) -> list[Any]:
    return [pod.node, pod.preemption, [of_node(answer) for answer in pod.answers]]


def of_node(answer: NodeAnswer) -> dict[str, Any]:
    assert answer.kubelet is not None
    own = answer.kubelet
    return {
        "verdicts": [answer.verdict, *answer.verdicts.values()],
        "scores": answer.scores,
        "points": float(answer.points),
        "kubelet": [own.admitted, own.stage, own.reason, own.aligned, own.missing],
        "cause": answer.cause and answer.cause.code,
    }


def extended(extender: Extender, pods: list[Pod]) -> Iterator[Any]:
    """Ask the extender about its nodes, one it does not know, and one whose data are old."""
    names, old = ("a", "b", "c", "nobody"), frozenset({"b"})
    for pod in pods:
        yield extender.filter(pod, names)._asdict()
        yield extender.filter(pod, names, old).passed
        yield extender.prioritize(pod, names, old)
