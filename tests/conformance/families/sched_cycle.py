"""Family `sched_cycle`: whole schedules, event by event."""

from __future__ import annotations

from typing import Any

from numalign.scheduler import cluster
from numalign.scheduler.attempt import Attempt, SchedulerConfig
from numalign.scheduler.cache import CacheConfig
from numalign.scheduler.cluster import Cluster, WaitingPod
from numalign.scheduler.request import read
from tests.conformance.sched import amounts, nrt, pod


def decide(case: dict[str, Any]) -> dict[str, Any]:
    run = Run(case)
    for step in case["steps"]:
        run.take(step)
    run.retry()  # the periodic sweep: a pending pod must stay so
    return {"pods": {name: run.state(name, wanted) for name, wanted in case["expect"]["pods"].items()}}


class Run:
    """A schedule under way."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.pods = {
            name: WaitingPod(
                one.get("namespace", "default"),
                name,
                read(pod(one["pod"], name, one.get("namespace", "default"))),
                one.get("priority", 0),
            )
            for name, one in case["pods"].items()
        }
        for name, one in case["pods"].items():
            assert one.get("qos_derived", self.pods[name].request.qos) == self.pods[name].request.qos
        config = _config(case["scheduler"])
        self.any_feasible = case["scheduler"]["other_plugins"] == "default"
        objects = {one["name"]: nrt(one) for one in case["nrts"]}
        nodes = [(one["name"], amounts(one["allocatable"]), objects.get(one["name"])) for one in case["nodes"]]
        self.cluster: Cluster = cluster.open_cluster(config, nodes)
        self.waiting: list[str] = []
        self.evicted: set[str] = set()
        self.last: dict[str, Attempt] = {}

    def take(self, step: dict[str, Any]) -> None:
        if "create" in step:
            self.waiting.append(step["create"])
            self.try_one(step["create"])
        elif "delete" in step:
            self.cluster = cluster.delete(self.cluster, self.pods[step["delete"]].key)
            self.retry()
        elif "phase" in step:
            self.cluster = cluster.set_phase(self.cluster, self.pods[step["pod"]].key, step["phase"])
        elif "nrt" in step:
            published = nrt(step["nrt"])
            assert published is not None
            self.cluster = cluster.publish(self.cluster, published)
            self.retry()
        elif "resync" in step:
            for _ in range(step["resync"]):
                self.cluster = cluster.resync(self.cluster)
        else:
            for name, wanted in step["expect"].items():
                assert self.state(name, wanted) == wanted, f"{name}: {self.state(name, wanted)}"

    def try_one(self, name: str) -> None:
        self.cluster, self.last[name] = cluster.schedule(self.cluster, self.pods[name])
        if self.last[name].chosen is not None:
            self.waiting.remove(name)
            return
        victims = cluster.preempt(self.cluster, self.pods[name])
        for key in victims:
            self.cluster = cluster.delete(self.cluster, key)
            self.evicted.add(key)
        if victims:
            self.retry()

    def retry(self) -> None:
        for name in tuple(self.waiting):
            self.cluster, self.last[name] = cluster.schedule(self.cluster, self.pods[name])
            if self.last[name].chosen is not None:
                self.waiting.remove(name)

    def state(self, name: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Say where a pod is, in the shape of what is wanted."""
        if self.pods[name].key in self.evicted:
            return {"evicted": True}
        tried = self.last[name]
        if tried.chosen is None:
            said = any(wanted.get("message", "") in verdict.message for verdict in tried.verdicts.values())
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
