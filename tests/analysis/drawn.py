"""Small nodes that are in part used, and a pod that comes, drawn by a number: for tests that look at many of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from numalign.kubelet.admission import Outcome
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Device, Machine, Unit
from numalign.model.pod import Pod
from tests.analysis.support import GPU, STATIC, config, limits, outcome, pod_of
from tests.kubelet.regular import GI, regular

WHOLE_CORES, BY_SOCKET = (
    {"cpu_manager_policy_options": {name: "true"}, "feature_gates": {"CPUManagerPolicyAlphaOptions": True}}
    for name in ("full-pcpus-only", "align-by-socket")
)


def admission(dice: Random, policies: Sequence[str]) -> Outcome:
    """Admit a drawn pod after others, under one of some policies.

    Raises:
        StartError: the kubelet does not come that far.
    """
    on, given = machine(dice), settings(dice, policies)
    before = [pod(dice, f"p{place}", 2) for place in range(dice.choice((0, 1, 2, 3, 4, 5)))]
    return outcome(given, pod(dice, "p", 6), *before, on=on, fit_check=not dice.randrange(3))


def machine(dice: Random) -> Machine:
    nodes = dice.choice((2, 2, 3, 4))
    first, having = dice.randrange(nodes), dice.choice((1, nodes, nodes))
    places = [(first + place % having) % nodes for place in range(dice.choice((4, 6, 8)))]
    near = [((place,), (place, (place + 1) % nodes), ()) for place in places]
    odd = bool(dice.randrange(2))
    gpus = tuple(Device(f"g{place}", dice.choice(every) if odd else every[0]) for place, every in enumerate(near))
    cores, threads = dice.choice(((4, 1), (4, 1), (2, 2)))
    found = regular(nodes, cores, threads, memory=4 * GI, hugepages={"2Mi": GI}, devices={GPU: gpus})
    if nodes < 4 or dice.randrange(2):
        return found
    one, two, three, four = (numa.cpus for numa in found.numa_nodes)
    return found._replace(sockets=(Unit(0, one | two), Unit(1, three | four)))


def settings(dice: Random, policies: Sequence[str]) -> KubeletConfig:
    policy, scope = dice.choice(policies), dice.choice(("container", "pod"))
    more = {**dice.choice(({}, STATIC, STATIC)), **dice.choice(({}, {}, WHOLE_CORES, BY_SOCKET))}
    return config(policy, topology_manager_scope=scope, **more)


def pod(dice: Random, name: str, most: int) -> Pod:
    """Draw a pod of init containers and of one or two others."""
    kinds = ["app", *("init", "init2")[: dice.choice((0, 0, 1, 1, 2))], *["two"] * (not dice.randrange(3))]
    return pod_of(name, **{kind: asked(dice, most) for kind in kinds})


def asked(dice: Random, most: int) -> dict[str, str]:
    more = {key: many for key, many in (("gpu", dice.choice((1, 1, 2, 3))), ("pages", "600Mi")) if dice.randrange(2)}
    memory = dice.choice(("100Mi", "1Gi", "1500Mi", "3Gi")) if dice.randrange(30) else "1.0001Gi"
    return limits(dice.randint(1, most), memory, **more)
