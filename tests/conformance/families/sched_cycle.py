"""Family `sched_cycle`: whole schedules, event by event."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numalign.scheduler.attempt import Attempt, attempt, judge, with_pod, without
from numalign.scheduler.config import CacheConfig, SchedulerConfig
from numalign.scheduler.kai.topology import Around
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.copy import copy_of
from numalign.scheduler.record import Belief, KnownNode, entry_of
from numalign.scheduler.schedulers import SCHEDULERS
from tests.conformance.sched import amounts, described, nrt, pod


def decide(case: dict[str, Any]) -> dict[str, Any]:
    run = Run(case)
    for step in case["steps"]:
        run.take(step)
    run.retry()  # the periodic sweep: a pending pod must stay so
    return {"pods": {name: run.state(name, wanted) for name, wanted in case["expect"]["pods"].items()}}


class Run:
    """A schedule under way: one scheduler, told of each event, and what it believes of each node."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.pods = {}
        for name, one in case["pods"].items():
            entry = entry_of(pod(one["pod"], name, one.get("namespace", "default")))
            assert one.get("qos_derived", entry.request.qos) == entry.request.qos
            self.pods[name] = entry._replace(priority=one.get("priority", 0))
        self.config = config = _config(case["scheduler"])
        self.scheduler = SCHEDULERS[config.kind]
        self.any_feasible = case["scheduler"]["other_plugins"] == "default"
        objects = {one["name"]: nrt(one) for one in case["nrts"]}
        self.nodes = {
            one["name"]: KnownNode(
                ClusterNode(one["name"], NodeTotals(amounts(one["allocatable"]), {}, 0)),
                self.scheduler.opened(config, Around(), copy_of(objects.get(one["name"])), ()),
            )
            for one in case["nodes"]
        }
        self.start = self.attempts = 0
        self.waiting: list[str] = []
        self.evicted: set[str] = set()
        self.phases: dict[str, str] = {}
        """Of pods that do not wait for their kubelet's answer."""
        self.last: dict[str, Attempt[str]] = {}

    def take(self, step: dict[str, Any]) -> None:
        if "create" in step:
            self.waiting.append(step["create"])
            self.try_one(step["create"])
        elif "delete" in step:
            self.delete(self.pods[step["delete"]].key)
            self.retry()
        elif "phase" in step:
            self.phases[self.pods[step["pod"]].key] = step["phase"]
        elif "nrt" in step:
            copy = copy_of(nrt(step["nrt"]))
            assert copy is not None
            self.believe(step["nrt"]["name"], self.scheduler.published, copy, dict)
            self.retry()
        elif "resync" in step:
            for _ in range(step["resync"]):
                self.resync()
        else:
            for name, wanted in step["expect"].items():
                assert self.state(name, wanted) == wanted, f"{name}: {self.state(name, wanted)}"

    def believe(self, name: str, event: Callable[..., Belief], *told: object) -> None:
        node = self.nodes[name]
        self.nodes[name] = node._replace(belief=event(self.config, node.belief, *told))

    def resync(self) -> None:
        for name, node in self.nodes.items():
            pods, copy = tuple(node.pods.values()), node.belief.published
            if copy is not None:
                phases = [(one, self.phases.get(one.key, "Pending")) for one in pods]
                describes = partial(described, self.config.cache, copy, phases)
                self.believe(name, self.scheduler.resynced, describes, lambda pods=pods: pods)

    def delete(self, key: str) -> None:
        for name, node in self.nodes.items():
            if key in node.pods:
                self.nodes[name] = without(self.scheduler, self.config, node, node.pods[key])

    def attempt(self, name: str) -> bool:
        entry = self.pods[name]
        tried = self.last[name] = attempt(
            self.config,
            list(self.nodes),
            lambda node: judge(self.scheduler, self.config, self.nodes[node], entry),
            start=self.start,
            number=self.attempts,
        )
        self.start, self.attempts = tried.next_start, self.attempts + 1
        for node, judgement in tried.judgements.items():
            if judgement.marks:
                self.believe(node, self.scheduler.failed)
        if tried.chosen is None:
            return False
        bound = with_pod(self.scheduler, self.config, self.nodes[tried.chosen], entry)
        self.nodes[tried.chosen] = bound._replace(belief=self.scheduler.settled(self.config, bound.belief))
        self.waiting.remove(name)
        return True

    def try_one(self, name: str) -> None:
        if self.attempt(name):
            return
        found = self.scheduler.preempt(self.scheduler, self.config, list(self.nodes.values()), self.pods[name])
        for key in found.victims if found is not None else ():
            self.delete(key)
            self.evicted.add(key)
        if found is not None:
            self.retry()

    def retry(self) -> None:
        for name in tuple(self.waiting):
            self.attempt(name)

    def state(self, name: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Say where a pod is, in the shape of what is wanted."""
        if self.pods[name].key in self.evicted:
            return {"evicted": True}
        tried = self.last[name]
        if tried.chosen is None:
            texts = [one.verdict.message for one in tried.judgements.values()]
            said = any(wanted.get("message", "") in text for text in texts)
            return {**wanted, "pending": True} if said else {"pending": True}
        found = set(tried.feasible if self.any_feasible else tried.best)
        allowed = wanted.get("derived_nodes", wanted.get("nodes", ()))
        if found == set(allowed) and found <= set(wanted["nodes"]):
            return wanted
        return {"nodes": sorted(found)}


def _config(written: dict[str, Any]) -> SchedulerConfig:
    defaults = written["other_plugins"] == "default"
    settings = written["cache"]
    return SchedulerConfig(
        kind="nrt",
        node_fit=written["node_fit"],
        node_score="LeastAllocated" if defaults else None,
        strategy=written["strategy"],
        weights=written["weights"],
        cache=CacheConfig(
            settings["mode"], settings.get("resync_s", 5), resync_scope=settings.get("resync_scope", "All")
        ),
        preemption_mode=written["preemption_mode"],
        prefilter=bool(written.get("prefilter")),
        preempts=defaults,
    )
