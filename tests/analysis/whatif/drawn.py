"""Nodes, their past and a pod, drawn by a number: what recordings seldom have, such as many pods or odd amounts."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from numalign.analysis.situation import Event, Situation
from numalign.kubelet.admission import Outcome, admit
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from tests.kubelet.regular import GI, regular
from tests.refusals.survey import met, named

DEVICES = ("v.com/gpu", "v.com/nic")
POLICIES = ("none", "best-effort", "best-effort", "restricted", "restricted", "single-numa-node", "single-numa-node")
OPTIONS = ("full-pcpus-only", "distribute-cpus-across-numa", "align-by-socket", "strict-cpu-reservation")


def case(of: Any) -> tuple[Situation, Outcome]:
    """Give what a pod met, and what came of it: at a step of a recorded scenario (its name and number), or drawn."""
    if isinstance(of, int):
        return drawn(of)
    name, step = of
    return next((situation, found) for index, situation, found in met(_scenario(name)) if index == step)


@cache
def _scenario(name: str) -> dict[str, Any]:
    return named(name)


def drawn(number: int) -> tuple[Situation, Outcome]:
    """Draw what a pod met, and what came of it.

    Raises:
        StartError, CrashError: the kubelet does not come that far.
    """
    dice = Random(number)
    many = dice.choice((0, 1, 2, 3, 4, 7, 20))
    machine = _machine(dice, large=many == 20)
    setup = Setup(machine, _config(dice), "ideal", kubelet((1, dice.choice((36, 36, 34, 32)))))
    past: list[Event] = []
    for place in range(many):
        pod = _pod(dice, f"p{place}", machine, small=many != 7)
        past.append(Event("admit", pod))
        if not dice.randrange(4):
            past.append(Event("start", pod))
        if not dice.randrange(8):
            past.append(Event("end", dice.choice(past).pod))
    situation = Situation(setup, past=tuple(past))
    return situation, admit(situation.session(), _pod(dice, "p", machine, small=False))


def _machine(dice: Random, *, large: bool) -> Machine:
    nodes = dice.choice((1, 2, 2, 2, 3, 4))
    cores, threads = (16, 1) if large else dice.choice(((2, 1), (4, 1), (2, 2), (4, 2), (8, 2)))
    pages = dice.choice(({}, {}, {"2Mi": GI}))
    odd = dice.choice((None, None, None, None, 7))
    devices: dict[str, tuple[Device, ...]] = {}
    for name in DEVICES:
        count = dice.choice((0, nodes, 2 * nodes, 20 if large else nodes))
        where = [odd if odd and not dice.randrange(3) else place % nodes for place in range(count)]
        devices |= {name: tuple(Device(f"{name[6:]}{place}", (node,)) for place, node in enumerate(where))}
    devices = {name: every for name, every in devices.items() if every}
    return regular(nodes, cores, threads, memory=(16 if large else 4) * GI, hugepages=pages, devices=devices)


def _config(dice: Random) -> KubeletConfig:
    found = IDEAL._replace(
        topology_manager_policy=dice.choice(POLICIES),
        topology_manager_scope=dice.choice(("container", "container", "pod")),
        reserved_system_cpus=dice.choice(("", "0")),
    )
    if not dice.randrange(3):
        found = found._replace(cpu_manager_policy_options={dice.choice(OPTIONS): "true"})
        found = found._replace(feature_gates={"CPUManagerPolicyAlphaOptions": True})
    if not dice.randrange(5):
        found = found._replace(cpu_manager_policy="none", cpu_manager_policy_options=None)
    if dice.randrange(2):
        kept: dict[str, Any] = {"memory": "512Mi"}
        found = found._replace(memory_manager_policy="Static", kube_reserved={**found.kube_reserved, **kept})
        found = found._replace(eviction_hard={}, reserved_memory=(MemoryReservation(0, kept),))
    return found


def _pod(dice: Random, name: str, machine: Machine, *, small: bool) -> Pod:
    """Draw a pod; one that is there already asks for little."""
    parts: dict[str, list[dict[str, Any]]] = {"initContainers": [], "containers": []}
    for place in range(dice.choice((1, 1, 2) if small else (1, 1, 1, 2, 2, 3, 6))):
        kind = "initContainers" if place and not dice.randrange(4) else "containers"
        many = 2 if small else dice.choice((2, 4, 9, 18))
        amounts = {"cpu": str(dice.randint(1, many)), "memory": f"{dice.choice((64, 200, 700, 3000, 5000))}Mi"}
        if small:
            amounts["memory"] = dice.choice(("16Mi", "200Mi", "1Gi"))
        elif not dice.randrange(6):
            amounts["cpu"] = dice.choice(("500m", "1500m", "2500m"))
        if not small and not dice.randrange(12):
            amounts["memory"] = "1.0001Gi"
        for device in machine.devices:
            if not dice.randrange(2):
                amounts[device] = str(dice.randint(1, 1 if small else 4))
        if machine.numa_nodes[0].hugepages and not dice.randrange(4):
            amounts["hugepages-2Mi"] = dice.choice(("2Mi", "600Mi", "1200Mi"))
        resources: dict[str, Any] = {"limits": amounts}
        if not dice.randrange(4):
            own = {key: amounts[key] for key in ("cpu", "memory") if key in amounts and dice.randrange(2)}
            rest = {key: text for key, text in amounts.items() if key not in own}
            resources = {"limits": rest, "requests": own}
            if not dice.randrange(3):
                resources["requests"] = {**own, "cpu": dice.choice(("1", "500m"))}
        parts[kind].append({"name": f"c{place}", "resources": resources})
    return read_pod({"metadata": {"name": name}, "spec": parts})
