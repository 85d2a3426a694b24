"""Family `sched_kai`: KAI Scheduler's `numa` plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.scheduler.attempt import attempt, judge, with_pod, without
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.kai import evaluate, records, topology
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.kai.topology import KaiOptions, KaiTopology, KaiZone
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import number_of
from numalign.scheduler.record import Belief, KnownNode, PodEntry, entry_of
from numalign.scheduler.schedulers import SCHEDULERS, kai
from tests.conformance.sched import amounts, nrt, only, pod, request, said

KAI = SCHEDULERS["kai"]


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return _KINDS[case["kind"]](case)


def _machine(case: Mapping[str, Any]) -> KaiTopology | None:
    """Read the machine of a case: `policy`, `scope`, `zones`, `ignore`."""
    if case.get("zones") is None:
        return None
    zones = [
        KaiZone(one["name"], amounts(one.get("allocatable") or {}), amounts(one.get("available") or {}))
        for one in case["zones"]
    ]
    return topology.of_zones(zones, case["policy"], case.get("scope") or "container", ignored=case.get("ignore") or ())


def _known(case: Mapping[str, Any]) -> KaiTopology:
    machine = _machine(case)
    assert machine is not None
    return machine


def _answer(found: evaluate.Evaluation, expect: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"admit": found.admit}
    if found.admit:
        placed = {str(zone): parts for zone, parts in found.placement.items()}
        answer |= {"zones": sorted(found.placement), "placement": said(placed, expect.get("placement"))}
    return only(answer, expect)


def _solve(case: dict[str, Any]) -> dict[str, Any]:
    found = evaluate.solve(_known(case), [amounts(demand) for demand in case["demands"]])
    return _answer(found, case["expect"])


def _evaluate(case: dict[str, Any]) -> dict[str, Any]:
    return _answer(evaluate.evaluate(request(case["pod"]), _machine(case)), case["expect"])


def _filter_acts(case: dict[str, Any]) -> dict[str, Any]:
    return {"acts": evaluate.filter_acts(_machine(case), request(case["pod"]))}


def _demands(case: dict[str, Any]) -> dict[str, Any]:
    found = evaluate.demands(request(case["pod"]))
    result: dict[str, Any] = {}
    for key, expected in case["expect"].items():
        value = getattr(found, key)
        if key == "pod":
            result[key] = said({name: value.get(name, 0) for name in expected}, expected)
        else:
            assert len(value) == len(expected)
            shown = [{name: one.get(name, 0) for name in wanted} for one, wanted in zip(value, expected, strict=True)]
            result[key] = said(shown, expected)
    return result


def _score(case: dict[str, Any]) -> dict[str, Any]:
    machines = {name: _machine(one) for name, one in case["nodes"].items()}
    around = topology.around(machines.values(), None, rebuilds=True)
    return {"score": float(evaluate.score(request(case["pod"]), machines[case["node"]], around))}


def _scored_pod(case: dict[str, Any]) -> dict[str, Any]:
    return {"scored": evaluate.is_scored(request(case["pod"]), topology.around([_machine(case)], None, rebuilds=True))}


def _record(written: list[dict[str, Any]] | None) -> records.Record | None:
    if written is None:
        return None
    return tuple((one["zone"], amounts(one["amount"])) for one in written)


def _reconstruct(case: dict[str, Any]) -> dict[str, Any]:
    pods = [
        records.PlacedPod(
            one["status"], _record(one.get("observed")), _record(one.get("bind_request")), _record(one.get("predicted"))
        )
        for one in case["pods"]
    ]
    found = records.reconstruct(_known(case), pods, on=case["reconstruct_available"])
    return {"zones_available": said(found.available, case["expect"]["zones_available"])}


def _placement_record(case: dict[str, Any]) -> dict[str, Any]:
    found = records.of_annotations(case["annotations"] or {}, "Running", _record(case["bind_request"])).record
    return {"zone": found[0][0] if found else None}


def _record_zones(case: dict[str, Any]) -> dict[str, Any]:
    found = records.zones_of(_known({"policy": "none", **case}), _record(case["record"]))
    return {"zones": None if found is None else list(found)}


def _placement(written: list[dict[str, Any]] | None) -> dict[int, dict[str, int]]:
    return {one["zone"]: amounts(one["amount"]) for one in written or ()}


def _seed(case: dict[str, Any]) -> dict[str, Any]:
    asked = case["pod"]
    placed = records.of_annotations(asked.get("annotations") or {}, "Running", _record(asked.get("bind_request")))
    machine = _machine(case) if asked.get("node") else None
    return {"zones": list(records.seed(request(asked), machine, placed, _placement(asked.get("placement"))))}


def _zone_names(case: dict[str, Any]) -> dict[str, Any]:
    named = [topology.KaiZone(name, {}, {}) for name in case["zones"] or ()]
    machine = topology.of_zones(named, "none", "container") if named else None
    found = records.record_of(machine, _placement(case["placement"]))
    return {
        "record": [
            {"zone": zone, "amount": said(parts, one["amount"])}
            for (zone, parts), one in zip(found, case["placement"], strict=False)
        ]
    }


def _policy_scope(case: dict[str, Any]) -> dict[str, Any]:
    found = nrt(case["nrt"])
    assert found is not None
    policy, scope = topology.policy_scope(found)
    return {"policy": policy, "scope": scope}


def _topology(case: dict[str, Any]) -> dict[str, Any]:
    found = topology.topology(nrt(case["nrt"]))
    if found is None:
        return {"topology": None}
    expect = case["expect"]
    return only(
        {
            "zones": [zone.name for zone in found.zones],
            "policy": found.policy,
            "aware": sorted(found.aware),
            "zones_available": said(found.available, expect.get("zones_available")),
            "zones_allocatable": said([zone.allocatable for zone in found.zones], expect.get("zones_allocatable")),
        },
        expect,
    )


def _ledger(case: dict[str, Any]) -> dict[str, Any]:
    machine = _known(case)
    numbers = {zone.name: number for number, zone in enumerate(machine.zones)}
    pods = {name: request(pod) for name, pod in case["pods"].items()}
    given = {
        name: {numbers[one["zone"]]: amounts(one["amount"]) for one in pod.get("placement") or ()}
        for name, pod in case["pods"].items()
    }
    running = {name: given[name] for name, pod in case["pods"].items() if pod.get("running")}
    rebuilt = machine.with_available([zone.allocatable for zone in machine.zones])
    start = records.Ledger(rebuilt)
    for name, placement in running.items():
        start = start.charge(name, placement)
    account, steps = start, []
    for step, wanted in zip(case["steps"], [*case["expect"]["steps"]], strict=True):
        before, name = account, step.get("pod", "")
        if step["op"] in ("place", "test"):
            placed = account.place(name, pods[name])
            account = placed or account
        elif step["op"] == "charge":
            placed = account = account.charge(name, given[name])
        elif step["op"] == "free":
            placed = account = account.free(name)
        else:
            placed = account = start
        answer = {
            "ok": placed is not None,
            "zones": sorted(placed.placements.get(name, {})) if placed else [],
            "zones_available": said(_free(account), wanted.get("zones_available")),
        }
        if step["op"] == "test":
            account = before
            answer["zones_available"] = said(_free(before), wanted.get("zones_available"))
        steps.append(only(answer, wanted))
    return {"steps": steps}


def _free(account: records.Ledger) -> tuple[Mapping[str, int], ...]:
    return account.machine.available if account.machine is not None else ()


def _cycle(case: dict[str, Any]) -> dict[str, Any]:
    """Run KAI's actions in order, each job by job (K-11), with the scheduler's own functions."""
    cycle = Cycle(case)
    for action in case["actions"]:
        for job in sorted(cycle.jobs.values(), key=lambda one: -one.priority):
            if cycle.states[job.key] != "pending" or action == "consolidation":
                continue
            cycle.allocate(job) if action == "allocate" else cycle.evict(job, reclaim=action == "reclaim")
    result: dict[str, Any] = {"jobs": {}}
    for name, wanted in case["expect"]["jobs"].items():
        node, zones = cycle.place(name)
        result["jobs"][name] = only({"state": cycle.states[f"default/{name}"], "node": node, "zones": zones}, wanted)
    if "zones_available" in case["expect"]:
        result["zones_available"] = {
            name: said(_free(account_of(cycle.nodes[name])), wanted)
            for name, wanted in case["expect"]["zones_available"].items()
        }
    return result


def account_of(node: KnownNode) -> records.Ledger:
    assert node.belief.ledger is not None
    return node.belief.ledger


class Cycle:
    """A cycle of KAI under way."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.jobs = {
            one["name"]: entry_of(pod(one["pod"], one["name"]))._replace(
                priority=one["priority"],
                queue=one["queue"],
                preemptible=one["preemptible"],
                placed=PlacedPod("Running", _record(one.get("observed"))),
            )
            for one in case["jobs"]
        }
        deserved = {one["name"]: amounts(one["deserved"]) for one in case["queues"]}
        self.config = SchedulerConfig("kai", kai=KaiOptions(deserved=deserved))
        running = {one["name"]: one["running_on"] for one in case["jobs"] if one.get("running_on")}
        machines = {name: _machine(node) for name, node in case["nodes"].items()}
        around = topology.around(machines.values(), None, rebuilds=True)
        self.nodes = {}
        for name, machine in machines.items():
            here = [self.jobs[job] for job, node in running.items() if node == name]
            rebuilt = machine and records.reconstruct(machine, [job.placed for job in here])
            totals = NodeTotals(amounts(case["nodes"][name]["allocatable"]), {}, 0)
            for job in here:
                totals = totals.with_pod(job.load)
            belief = Belief(ledger=records.Ledger(rebuilt, around=around))
            self.nodes[name] = KnownNode(ClusterNode(name, totals), belief, {job.key: job for job in here})
        self.states = {job.key: "running" if name in running else "pending" for name, job in self.jobs.items()}

    def allocate(self, job: PodEntry, state: str = "bound") -> None:
        tried = attempt(self.config, list(self.nodes), lambda name: judge(KAI, self.config, self.nodes[name], job))
        if tried.chosen is not None:
            self.nodes[tried.chosen] = with_pod(KAI, self.config, self.nodes[tried.chosen], job)
            self.states[job.key] = state

    def evict(self, job: PodEntry, *, reclaim: bool) -> None:
        found = kai.evict_for(KAI, self.config, list(self.nodes.values()), job, reclaim=reclaim)
        if found is None:
            return
        for name, node in self.nodes.items():
            for key in set(node.pods) & set(found.victims):
                self.nodes[name] = without(KAI, self.config, self.nodes[name], node.pods[key])
                self.states[key] = "evicted"
        self.allocate(job, "waits_for_eviction")

    def place(self, name: str) -> tuple[str | None, list[int]]:
        job = self.jobs[name]
        for node in self.nodes.values():
            if job.key in node.pods:
                account = account_of(node)
                known = account.placements.get(job.key)
                return node.node.name, sorted(records.seed(job.request, account.machine, job.placed, known))
        return None, []


_KINDS = {
    "kai/solve": _solve,
    "kai/evaluate": _evaluate,
    "kai/filter_acts": _filter_acts,
    "kai/demands": _demands,
    "kai/score": _score,
    "kai/scored_pod": _scored_pod,
    "kai/reconstruct": _reconstruct,
    "kai/placement_record": _placement_record,
    "kai/record_zones": _record_zones,
    "kai/seed": _seed,
    "kai/placement_zone_names": _zone_names,
    "kai/policy_scope": _policy_scope,
    "kai/topology": _topology,
    "kai/zone_number": lambda case: {"number": number_of(case["name"])},
    "kai/ignore_list": lambda case: {"names": list(topology.ignore_list(case["text"]))},
    "kai/reconstruct_option": lambda case: {"on": topology.reconstruct_option(case["text"])},
    "kai/ledger": _ledger,
    "kai/cycle": _cycle,
}
