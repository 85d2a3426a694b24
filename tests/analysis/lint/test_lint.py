"""The rules of `lint`, one table of cases for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.lint.check import CLAIM_CODES, CODES, RULES, lint
from numalign.analysis.lint.finding import EFFECTS, reaches
from numalign.analysis.lint.pages import PAGES
from numalign.errors import InputError
from numalign.kubelet.admission import Session, admit, open_session
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.sources.machine.loading import load_machine
from tests.analysis.support import STATIC
from tests.dice import draws

ROOT = Path(__file__).parents[3]
FULL = {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}


def container(name: str = "app", *, limits: Any = None, requests: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"limits": limits or {}, "requests": requests or {}, **more}}


def pod(
    *apps: dict[str, Any],
    init: Any = (),
    ignore: str | None = None,
    align: str | None = None,
    networks: str | None = None,
    labels: dict[str, str] | None = None,
    proxy: Sequence[str] = (),
    **spec: Any,
) -> Pod:
    annotations = {"numalign/ignore": ignore, "numalign/align": align, "k8s.v1.cni.cncf.io/networks": networks}
    names = ("CPU", "CPULimit", "Memory", "MemoryLimit")
    annotations |= {f"sidecar.istio.io/proxy{name}": amount for name, amount in zip(names, proxy, strict=False)}
    known = {name: text for name, text in annotations.items() if text is not None}
    metadata: dict[str, Any] = {"name": "web", "annotations": known, "labels": labels or {}}
    return read_pod({"metadata": metadata, "spec": {"initContainers": list(init), "containers": list(apps), **spec}})


def on(machine: str, config: KubeletConfig = IDEAL, **by_hand: int) -> Session:
    """Start a kubelet; `dongle=1`: so many of them stand in the node's status, which no plugin offers."""
    found = load_machine(machine).machine
    status = found.node._replace(extended_resources={f"example.com/{name}": many for name, many in by_hand.items()})
    return open_session(Setup(found._replace(node=status), config, "ideal"))


POWER = "sockets=1,coresPerNumaNode=4,threadsPerCore=4,memoryPerNumaNode=64Gi"
"""Cores of four threads."""
GOOD = {"cpu": 2, "memory": "1Gi"}
SIDECAR = {"restartPolicy": "Always"}

CASES: list[tuple[str, Pod, list[tuple[str, str, str]]]] = [
    ("nothing is wrong with whole limits", pod(container(limits=GOOD)), []),
    ("a pod that asks for nothing to align is not judged", pod(container()), []),
    (
        "a pod with fractions of a CPU alone is not judged",
        pod(container(limits={"cpu": "1500m", "memory": "1Gi"}), container("b", requests={"cpu": "100m"})),
        [],
    ),
    (
        "a pod that says so is judged",
        pod(container(), align="true"),
        [("not-guaranteed", "", "spec"), ("limit-missing", "app", "spec.containers[0].resources.limits")],
    ),
    (
        "a helper without limits costs the pod its class",
        pod(container(limits=GOOD), container("helper", requests={"cpu": "10m"})),
        [("not-guaranteed", "", "spec"), ("limit-missing", "helper", "spec.containers[1].resources.limits")],
    ),
    (
        "a helper in the shared pool is a note beside a container with CPUs of its own",
        pod(container(limits=GOOD), container("helper", limits={"cpu": "100m", "memory": "64Mi"})),
        [("fractional-cpus", "helper", "spec.containers[1].resources.limits.cpu")],
    ),
    (
        "Istio adds a container that costs the pod its class",
        pod(container(limits=GOOD), labels={"sidecar.istio.io/inject": "true"}),
        [("injected-proxy", "", "metadata")],
    ),
    (
        "unless annotations give it equal requests and limits",
        pod(container(limits=GOOD), labels={"sidecar.istio.io/inject": "true"}, proxy=("1", "1", "1Gi", "1Gi")),
        [],
    ),
    (
        "which are no requests alone",
        pod(container(limits=GOOD), labels={"sidecar.istio.io/inject": "true"}, proxy=("1", "1", "1Gi", "2Gi")),
        [("injected-proxy", "", "metadata")],
    ),
    (
        "networks of Multus may bring devices",
        pod(container(limits=GOOD), networks="sriov-net"),
        [("network-devices", "", 'metadata.annotations["k8s.v1.cni.cncf.io/networks"]')],
    ),
    (
        "unless the devices are there",
        pod(container(limits={**GOOD, "intel.com/sriov": 1}), networks="sriov-net"),
        [],
    ),
    (
        "an init container without limits costs the pod its class",
        pod(container(limits=GOOD), init=[container("first")]),
        [("not-guaranteed", "", "spec"), ("limit-missing", "first", "spec.initContainers[0].resources.limits")],
    ),
    (
        "a limit of zero is none",
        pod(container(limits={"cpu": 2, "memory": 0})),
        [("not-guaranteed", "", "spec"), ("limit-missing", "app", "spec.containers[0].resources.limits")],
    ),
    (
        "a request below the limit makes the pod burstable",
        pod(container(limits=GOOD, requests={"cpu": 1})),
        [("not-guaranteed", "", "spec"), ("request-not-limit", "app", "spec.containers[0].resources.requests.cpu")],
    ),
    (
        "the same amount in another spelling is no difference",
        pod(container(limits=GOOD, requests={"cpu": "2000m", "memory": "1024Mi"})),
        [],
    ),
    (
        "a fraction of a CPU beside a device runs in the shared pool",
        pod(container(limits={"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": 1})),
        [("fractional-cpus", "app", "spec.containers[0].resources.limits.cpu")],
    ),
    ("what rounds up to a whole CPU is one", pod(container(limits={"cpu": "1.9999", "memory": "1Gi"})), []),
    (
        "init containers and sidecars may share",
        pod(
            container(limits=GOOD),
            init=[
                container("first", limits={"cpu": "100m", "memory": "1Gi"}),
                container("proxy", limits={"cpu": "100m", "memory": "1Gi"}) | SIDECAR,
            ],
        ),
        [],
    ),
    (
        "a sidecar keeps its CPUs",
        pod(container(limits=GOOD), init=[container("proxy", limits=GOOD) | SIDECAR]),
        [("sidecar-cpus", "proxy", "spec.initContainers[0].resources.limits.cpu")],
    ),
    (
        "a share of a byte is not read as bytes",
        pod(container(limits={"cpu": 2, "memory": "3.73Gi"})),
        [("fractional-bytes", "app", "spec.containers[0].resources.limits.memory")],
    ),
    (
        "who pins no memory of the pod does not mind",
        pod(container(limits={"cpu": 2, "memory": "3.73Gi"}, requests={"cpu": 1})),
        [("not-guaranteed", "", "spec"), ("request-not-limit", "app", "spec.containers[0].resources.requests.cpu")],
    ),
    (
        "what the API server writes with a smaller unit is",
        pod(container(limits={"cpu": 2, "memory": "1.5Gi"})),
        [],
    ),
    (
        "an odd count suits no core of two threads",
        pod(container(limits={"cpu": 3, "memory": "1Gi"})),
        [("odd-cpus", "app", "spec.containers[0].resources.limits.cpu")],
    ),
    (
        "without a machine nobody knows how wide anything is",
        pod(container(limits={"cpu": 48, "memory": "1Gi", "nvidia.com/gpu": 1})),
        [],
    ),
    (
        "several devices of two kinds, whatever the class",
        pod(container(limits={**GOOD, "nvidia.com/gpu": 8, "example.com/nic": 1}, requests={"memory": 1})),
        [
            ("not-guaranteed", "", "spec"),
            ("request-not-limit", "app", "spec.containers[0].resources.requests.memory"),
        ],
    ),
    ("a few CPUs and one device fit one node", pod(container(limits={**GOOD, "nvidia.com/gpu": 1})), []),
    (
        "a claim takes no part",
        pod(container(limits=GOOD, claims=[{"name": "gpu"}]), resourceClaims=[{"name": "gpu"}]),
        [("dra-claim", "app", "spec.containers[0].resources.claims")],
    ),
    (
        "of several containers the one that claims, and the claim is used",
        pod(
            container(limits=GOOD, claims=[{"name": "gpu"}]),
            {"name": "plain", "image": "i"},
            resourceClaims=[{"name": "gpu"}],
        ),
        [
            ("not-guaranteed", "", "spec"),
            ("limit-missing", "plain", "spec.containers[1].resources.limits"),
            ("dra-claim", "app", "spec.containers[0].resources.claims"),
        ],
    ),
    (
        "a claim that nobody uses takes no part either",
        pod(container(limits=GOOD), resourceClaims=[{"name": "gpu"}]),
        [("dra-claim", "", "spec.resourceClaims")],
    ),
    (
        "resources for the whole pod are not pinned",
        pod(container(limits=GOOD), resources={"limits": {"cpu": 8}}),
        [("pod-level-resources", "", "spec.resources")],
    ),
    (
        "a static pod gets no pod-level defaults",
        pod(
            container(limits=GOOD),
            resources={"limits": {"cpu": 8}},
        )._replace(annotations={"kubernetes.io/config.source": "file"}),
        [("pod-level-resources", "", "spec.resources"), ("static-pod-level", "", "spec.resources")],
    ),
    (
        "huge pages need memory beside them",
        pod(container(limits={"cpu": 2, "hugepages-2Mi": "2Mi"})),
        [
            ("not-guaranteed", "", "spec"),
            ("hugepages-without-memory", "app", "spec.containers[0].resources.limits.hugepages-2Mi"),
        ],
    ),
    (
        "of several sizes, told of the first",
        pod(container(limits={"cpu": 2, "hugepages-2Mi": "2Mi", "hugepages-1Gi": "1Gi"})),
        [
            ("not-guaranteed", "", "spec"),
            ("hugepages-without-memory", "app", "spec.containers[0].resources.limits.hugepages-1Gi"),
        ],
    ),
    (
        "an ended init container needs its device anew",
        pod(
            container(limits=GOOD),
            init=[container("first", limits={**GOOD, "nvidia.com/gpu": 1}), container("side", limits=GOOD) | SIDECAR],
        ),
        [
            ("sidecar-cpus", "side", "spec.initContainers[1].resources.limits.cpu"),
            ("restart-device", "first", 'spec.initContainers[0].resources.limits["nvidia.com/gpu"]'),
        ],
    ),
    (
        "a page size has one name",
        pod(container(limits={**GOOD, "hugepages-2048Ki": "2Mi", "hugepages-1Gi": "1Gi"})),
        [("hugepages-name", "app", "spec.containers[0].resources.limits.hugepages-2048Ki")],
    ),
]


@pytest.mark.parametrize(("one", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_manifest_tells(one: Pod, expected: list[tuple[str, str, str]]) -> None:
    found = lint(one).findings

    assert [(finding.code, finding.container, finding.path) for finding in found] == expected
    assert all(finding.message and finding.advice for finding in found)


WHOLE, NEEDED = "a whole number of CPUs", "limits.memory to what it needs"
MISSING: list[tuple[str, Pod, str]] = [
    ("nothing is requested", pod(container(limits={"v/x": 1})), f"set limits.cpu to {WHOLE} and {NEEDED}"),
    (
        "what is requested",
        pod(container(requests={"cpu": 3, "memory": "1Gi"})),
        "set limits.cpu to 3, the request and limits.memory to 1Gi, the request",
    ),
    (
        "a request of nothing is none",
        pod(container(limits={"v/x": 1}, requests={"cpu": 0, "memory": "1Gi"})),
        f"set limits.cpu to {WHOLE} and limits.memory to 1Gi, the request",
    ),
    (
        "fractions of a CPU are rounded up, fractions of a byte are another rule's",
        pod(container(limits={"v/x": 1}, requests={"cpu": "1500m", "memory": "1500m"})),
        "set limits.cpu to 2, also the request and limits.memory to 1500m, the request",
    ),
    (
        "who wants no alignment keeps the fraction",
        pod(container(limits=GOOD), container("helper", requests={"cpu": "1500m"})),
        f"set limits.cpu to 1500m, the request and {NEEDED}",
    ),
]


@pytest.mark.parametrize(("one", "advice"), [case[1:] for case in MISSING], ids=[case[0] for case in MISSING])
def test_the_limit_to_set_is(one: Pod, advice: str) -> None:
    assert [found.advice for found in lint(one).findings if found.code == "limit-missing"] == [advice]


def test_every_rule_has_a_case() -> None:
    told = {code for _, _, expected in CASES for code, _, _ in expected}
    assert told | {"exceeds-machine", "device-missing", "unequal-widths", "restart", *CLAIM_CODES} == set(CODES)


def test_no_finding_is_worse_than_its_rule_says() -> None:
    worst = {rule.code: rule.effect for rule in RULES}
    for _, one, _ in CASES:
        for node in (None, on("figure-1"), on("xeon-2s-snc4", IDEAL._replace(**FULL))):
            for finding in lint(one, node).findings:
                assert EFFECTS.index(finding.effect) <= EFFECTS.index(worst[finding.code])


@pytest.mark.parametrize(
    ("machine", "options", "cpus", "effects"),
    [
        ("xeon-2s-snc4", {}, 3, ["note"]),
        ("xeon-2s-snc4", FULL, 3, ["rejected"]),
        ("xeon-2s-snc4", FULL, 4, []),
        ("figure-1", FULL, 3, []),
        (POWER, FULL, 2, ["rejected"]),
        (POWER, FULL, 8, []),
    ],
    ids=["the option is off", "the option is on", "whole cores", "one thread a core", "half a core", "cores of four"],
)
def test_a_machine_makes_odd_counts_certain(machine: str, options: Any, cpus: int, effects: list[str]) -> None:
    found = lint(pod(container(limits={"cpu": cpus, "memory": "1Gi"})), on(machine, IDEAL._replace(**options)))
    assert [finding.effect for finding in found.findings if finding.code == "odd-cpus"] == effects


@pytest.mark.parametrize(
    ("cpus", "message", "advice"),
    [(1, "1 CPU is not", "4"), (2, "2 CPUs are not", "4"), (5, "5 CPUs are not", "8")],
)
def test_cpus_that_are_no_whole_cores_are_rounded_up(cpus: int, message: str, advice: str) -> None:
    [found] = lint(pod(container(limits={"cpu": cpus, "memory": "1Gi"})), on(POWER, IDEAL._replace(**FULL))).findings
    assert found.message == f"{message} whole cores (4 CPUs each): 1-node-16-cpus (full-pcpus-only) rejects the pod"
    assert found.advice == f"set limits.cpu to {advice}"


@pytest.mark.parametrize(
    ("options", "cpus", "release", "told"),
    [(FULL, 112, (1, 36), True), (FULL, 112, (1, 37), False), (FULL, 108, (1, 36), False), ({}, 112, (1, 36), False)],
    ids=["more than half", "a kubelet that sees what the pod holds", "half", "cores are not compared"],
)
def test_a_pod_that_a_restart_rejects_is_told(options: Any, cpus: int, release: Version, told: bool) -> None:
    """224 CPUs in cores of two; 0-3 and their siblings are no pod's."""
    machine, config = load_machine("xeon-4s").machine, IDEAL._replace(reserved_system_cpus="0-3", **options)
    node = open_session(Setup(machine, config, "ideal", kubelet(release)))
    found = lint(pod(container(limits={"cpu": cpus, "memory": "1Gi"})), node).findings

    assert [one.code for one in found] == (["restart"] if told else [])
    if told:
        said = "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 104, requested CPUs = 112"
        assert found[0].message == (
            f'a kubelet restart rejects the running pod on xeon-4s: "SMTAlignmentError: {said}, CPUs per core = 2"'
        )
        assert found[0].advice == "request less, or move the pod off the node before each restart of the kubelet"
        assert (found[0].path, found[0].effect) == ("spec", "note")


def test_what_needs_more_nodes_is_to_be_lowered_to_those_of_the_rest() -> None:
    """56 CPUs and two network cards a node."""
    card = "intel.com/intel_sriov_netdevice"
    [found] = lint(pod(container(limits={"cpu": 168, "memory": "1Gi", card: 4})), on("xeon-4s")).findings
    assert found.advice == f"lower cpu to fit on 2 NUMA nodes, raise {card} to need 3, or split the container"


def test_a_pod_beyond_the_machine_is_impossible() -> None:
    found = lint(pod(container(limits={"cpu": 9, "memory": "1Gi"})), on("figure-1")).findings
    assert [(finding.code, finding.effect) for finding in found] == [("exceeds-machine", "impossible")]
    assert "8" in found[0].message


def test_the_overhead_of_a_pod_counts_on_the_machine() -> None:
    asked = pod(container(limits={"cpu": 7, "memory": "1Gi"}), overhead={"cpu": "2"})
    [found] = [one for one in lint(asked, on("figure-1")).findings if one.code == "exceeds-machine"]
    assert found.advice == "request at most 8, its overhead of 2 included"


FIGURE_1 = on("figure-1")
OTHERWISE = "or choose another machine"


@pytest.mark.parametrize(
    ("node", "limits", "expected"),
    [
        (FIGURE_1, {"cpu": 8, "memory": "1Gi"}, []),
        (FIGURE_1._replace(view=None), {"cpu": 9, "memory": "1Gi"}, []),
        (FIGURE_1, {"memory": "1Ti", "cpu": 9}, ["request at most 8", "request at most 30Gi"]),
        (FIGURE_1, {**GOOD, "hugepages-1Gi": "1Gi"}, [f"remove hugepages-1Gi, {OTHERWISE}"]),
        (FIGURE_1, {**GOOD, "hugepages-1Gi": "0"}, []),
        (FIGURE_1, {**GOOD, "ephemeral-storage": "1Ti"}, []),
        (FIGURE_1, {**GOOD, "gpu-vendor.com/gpu": 3}, ["request at most 2"]),
        (FIGURE_1, {**GOOD, "gpu-vendor.com/gpus": 1}, ["write gpu-vendor.com/gpu, which it has"]),
        (FIGURE_1, {**GOOD, "example.com/dongle": 1}, [f"remove example.com/dongle, {OTHERWISE}"]),
        (on("figure-1", dongle=1), {**GOOD, "example.com/dongle": 1}, []),
        (on("figure-1", dongle=1), {**GOOD, "example.com/dongles": 1}, ["write example.com/dongle, which it has"]),
    ],
    ids=[
        "all there is",
        "nobody judges the node as a whole",
        "too much of two resources",
        "no page of this size",
        "none of no page of this size",
        "a disk that nobody has measured",
        "more devices than there are",
        "a name that is nearly one",
        "a name like none",
        "a device that is in the node's status alone",
        "nearly its name",
    ],
)
def test_what_no_machine_like_this_has_is_told_with_what_to_write(
    node: Session, limits: dict[str, Any], expected: list[str]
) -> None:
    found = lint(pod(container(limits=limits)), node).findings
    assert [one.advice for one in found if one.effect == "impossible"] == expected


@draws(60)
@given(
    machine=st.sampled_from(["figure-1", "xeon-2s-snc4", "dgx-1", "hgx-h100"]),
    scope=st.sampled_from(["container", "pod"]),
    memory=st.sampled_from(["None", "Static"]),
    policy=st.sampled_from(["restricted", "single-numa-node"]),
    asked=st.lists(st.tuples(st.integers(0, 64), st.integers(0, 5), st.integers(1, 200)), min_size=1, max_size=2),
)
def test_what_is_said_to_be_refused_is_refused(
    machine: str, scope: str, memory: str, policy: str, asked: list[tuple[int, int, int]]
) -> None:
    config = IDEAL._replace(topology_manager_policy=policy, topology_manager_scope=scope)
    if memory == "Static":
        reserved = (MemoryReservation(0, {"memory": "1Gi"}),)
        config = config._replace(
            memory_manager_policy=memory, kube_reserved={"memory": "1Gi"}, reserved_memory=reserved
        )
    session = open_session(Setup(load_machine(machine).machine, config, "ideal"))
    device = next(iter(session.node.device.resources))
    one = pod(
        *(
            container(f"c{index}", limits={"cpu": cpus, device: devices, "memory": f"{size}Gi"})
            for index, (cpus, devices, size) in enumerate(asked)
        )
    )
    said = [finding for finding in lint(one, session).findings if reaches(finding, "rejected")]
    if said:
        assert not admit(session, one).admit, said


def test_findings_are_passed_over_by_flag_and_by_annotation() -> None:
    apart = {"cpu": "500m", "memory": "1Gi"}
    one = pod(container(limits=apart), container("b", limits={"cpu": 1, "memory": "1Gi"}), ignore="fractional-cpus ,")

    report = lint(one, ignore=["odd-cpus", "dra-claim"])

    assert (report.findings, report.ignored) == ((), ("fractional-cpus", "odd-cpus"))


def test_an_unknown_code_in_the_annotation_is_wrong_input() -> None:
    with pytest.raises(InputError, match='unknown rule "fractional-cpu"; hint: similar: fractional-cpus') as raised:
        lint(pod(container(), ignore="fractional-cpu"))
    with pytest.raises(InputError, match='expected fractional-cpus@CONTAINER, got "fractional-cpus@"'):
        lint(pod(container(), ignore="fractional-cpus@"))
    assert raised.value.where == 'metadata.annotations["numalign/ignore"]'


@pytest.mark.parametrize(
    ("bar", "reached"),
    [
        ("unaligned", ["unaligned", "rejected", "impossible"]),
        ("rejected", ["rejected", "impossible"]),
        ("impossible", ["impossible"]),
        ("nothing", []),
    ],
)
def test_the_bar_is_moved(bar: str, reached: list[str]) -> None:
    finding = lint(pod(container(), align="true")).findings[0]
    assert [effect for effect in EFFECTS if reaches(finding._replace(effect=effect), bar)] == reached


@pytest.mark.parametrize(
    ("config", "effects"),
    [(IDEAL, []), (IDEAL._replace(**STATIC), ["rejected"]), (None, ["note"])],
    ids=["no Memory Manager", "a Memory Manager", "no machine"],
)
def test_a_share_of_a_byte_is_refused_where_memory_is_pinned(config: KubeletConfig | None, effects: list[str]) -> None:
    asked = pod(container(limits={"cpu": 2, "memory": "6.39Gi"}))
    found = lint(asked, None if config is None else on("figure-1", config)).findings
    assert [one.effect for one in found] == effects
    assert all(one.advice == "set limits.memory to 6543Mi or 6544Mi" for one in found)


def test_a_rule_is_passed_over_in_one_container() -> None:
    apart = {"cpu": "500m", "memory": "1Gi"}
    one = pod(container(limits=GOOD), container("a", limits=apart), container("b", limits=apart))

    report = lint(one, ignore=["fractional-cpus@a"])

    assert [finding.container for finding in report.findings] == ["b"]
    assert report.ignored == ("fractional-cpus",)


ADVICE = [
    pod(container(limits=GOOD), init=[container("p", limits={"cpu": 1, "memory": "1Gi"}) | SIDECAR]),
    pod(container(limits={"cpu": "2500m", "memory": "1Gi", "v/x": 1})),
    pod(container(limits={"cpu": "500m", "memory": "1Gi", "v/x": 1}, requests={"cpu": "100m"})),
    pod(container(limits={"v/x": 1}, requests={"cpu": "1500m", "memory": "1Gi"})),
    pod(container(limits=GOOD), container("istio-proxy", limits=GOOD, requests={"cpu": "100m", "memory": "128Mi"})),
]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("one", ADVICE)
def test_no_two_pieces_of_advice_contradict_each_other(one: Pod, strict: bool) -> None:
    """For a field of a container there are never two amounts to set."""
    node = on("xeon-2s-snc4", IDEAL._replace(**FULL)) if strict else None
    told: dict[tuple[str, str], set[str]] = {}
    for finding in lint(one, node).findings:
        for field, amount in re.findall(r"set (limits\.\w+) to ([0-9a-zA-Z.]+)", finding.advice):
            told.setdefault((finding.container, field), set()).add(amount)
    assert {field: amounts for field, amounts in told.items() if len(amounts) > 1} == {}


def test_an_injected_container_is_advised_through_its_injector() -> None:
    found = lint(ADVICE[-1]).findings
    advice = [one.advice for one in found if one.container == "istio-proxy"]

    assert advice[0] == ('annotate the pod with sidecar.istio.io/proxyCPU: "2" and sidecar.istio.io/proxyCPULimit: "2"')


def test_a_helper_is_told_beside_the_first_container_with_cpus_of_its_own() -> None:
    helper = container("helper", limits={"cpu": "100m", "memory": "64Mi"})
    [found] = lint(pod(container("one", limits=GOOD), container("two", limits=GOOD), helper)).findings
    assert found.message == "helper runs in the shared pool (100m CPUs) beside one, which has exclusive CPUs"
    assert found.advice == "none needed if a helper may share CPUs; else set limits.cpu to 1"


@pytest.mark.parametrize(("cpus", "held"), [(1, "1 exclusive CPU"), (2, "2 exclusive CPUs")])
def test_a_sidecar_holds_so_many_cpus(cpus: int, held: str) -> None:
    sidecar = container("proxy", limits={**GOOD, "cpu": cpus}) | SIDECAR
    found = lint(pod(container(limits=GOOD), init=[sidecar])).findings
    finding = next(one for one in found if one.code == "sidecar-cpus")
    assert finding.message == f"the sidecar holds {held} for the life of the pod"


def test_the_manual_page_has_every_rule_word_for_word() -> None:
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    assert set(PAGES) == set(CODES)
    for code, (effects, found, why, instead) in PAGES.items():
        assert f"| `{code}` | {effects} | {found} | {why} | {instead} |" in page


def test_queue_proxy_is_advised_through_knatives_annotations() -> None:
    containers: list[dict[str, Any]] = [
        {"name": "user-container"},
        {"name": "queue-proxy", "resources": {"requests": {"cpu": "25m"}}},
    ]
    containers[0]["resources"] = {"limits": {"cpu": 2, "memory": "1Gi"}}
    found = lint(read_pod({"metadata": {"name": "p"}, "spec": {"containers": containers}})).findings

    advice = next(one.advice for one in found if one.container == "queue-proxy")
    assert "queue.sidecar.serving.knative.dev/cpu-resource-request" in advice
    assert "queue.sidecar.serving.knative.dev/memory-resource-limit" in advice
