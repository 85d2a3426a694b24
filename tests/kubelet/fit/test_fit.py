"""The check after the managers (docs/rules/admission-fit.md); its worked examples are section 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.fit import ActivePods, allocatable
from numalign.kubelet.fit.check import FitResult, NodeView, check_node_fit, exceeded, forecast, forecaster, lacks, view
from numalign.kubelet.start.reservation import reserve
from numalign.model import quantity
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, NodeObject, Taint
from numalign.model.pod import Pod
from tests.dice import Dice, draws, rolled
from tests.kubelet.regular import GI, regular

GPU = "nvidia.com/gpu"
NODE_A = regular(
    nodes=1,
    cores=8,
    memory=64 * GI,
    hugepages={"2Mi": GI},
    storage=100 * GI,
    devices={GPU: tuple(Device(str(number), healthy=number < 3) for number in range(4))},
    node=NodeObject("node", {"zone": "a", "size": "08"}),
)
SETTINGS_A = KubeletConfig(kube_reserved={"cpu": "500m", "memory": "1Gi"})
A = view(SETTINGS_A, NODE_A, reserve(SETTINGS_A, NODE_A, 0))


def pod(name: str = "p", requests: dict[str, str] | None = None, **spec: Any) -> Pod:
    container = {"name": "c", "resources": {"requests": requests or {}, "limits": _devices_of(requests or {})}}
    metadata = {"name": name, "labels": spec.pop("labels", {}), "annotations": spec.pop("annotations", {})}
    return read_pod({"metadata": metadata, "spec": {"containers": [container], **spec}})


def _devices_of(requests: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in requests.items() if "/" in name or name.startswith("hugepages-")}


def checked(one: Pod, others: Sequence[Pod], on: NodeView, **devices: Any) -> FitResult:
    return check_node_fit(one, ActivePods(others), on, **devices)


def node(**amounts: str) -> NodeView:
    given = {name: quantity.parse(text) for name, text in {"pods": "110", **amounts}.items()}
    return NodeView(given, "node", {})


def told(result: FitResult) -> str:
    return "admitted" if result.admit else f"{result.reason}: {result.message}"


def short(resource: str, requested: int, used: int, capacity: int) -> str:
    return (
        f"OutOf{resource}: Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, "
        f"capacity: {capacity}"
    )


def test_allocatable_of_node_a() -> None:
    amounts = {name: quantity.canonical(amount) for name, amount in A.allocatable.items()}
    assert amounts == {
        "cpu": "15500m",
        "memory": "63388Mi",
        "hugepages-2Mi": "1Gi",
        "ephemeral-storage": "96636764000",
        "pods": "110",
        GPU: "3",
    }


def test_pods_per_core_lowers_pods() -> None:
    config = KubeletConfig(pods_per_core=2)
    assert allocatable(config, NODE_A, reserve(config, NODE_A, 0))["pods"].nano == 32 * quantity.NANO


X15 = [pod("x", {"cpu": "15"})]
GREEDY = {"cpu": "1", "memory": "70Gi", "hugepages-2Mi": "2Gi"}
EXAMPLES: dict[str, tuple[Pod, list[Pod], str]] = {
    "7.1 exactly full": (pod(requests={"cpu": "500m"}), X15, "admitted"),
    "7.1 one over": (pod(requests={"cpu": "501m"}), X15, short("cpu", 501, 15000, 15500)),
    "7.2 the first of several is told": (
        pod(requests=GREEDY, nodeSelector={"zone": "b"}),
        X15,
        short("cpu", 1000, 15000, 15500),
    ),
    "7.2 a critical pod fails for the selector": (
        pod(requests=GREEDY, nodeSelector={"zone": "b"}, priority=2_000_000_000),
        X15,
        "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ),
    "7.4 a resource the node does not know is passed over": (pod(requests={"amd.com/gpu": "1"}), [], "admitted"),
    "7.4 huge pages are not": (
        pod(requests={"hugepages-1Gi": "1Gi"}),
        [],
        short("hugepages-1Gi", GI, 0, 0),
    ),
    "what is no resource of a node is ignored": (pod(requests={"storage": "1Gi", "gpu": "1"}), [], "admitted"),
    "two half bytes are one": (pod(requests={"memory": "500m"}), [], "admitted"),
    "a label for another system": (
        pod(labels={"kubernetes.io/os": "windows"}),
        [],
        (
            "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match "
            "node label"
        ),
    ),
    "a field for another system": (
        pod(os={"name": "windows"}),
        [],
        "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ),
    "the kubelet's own system stands for the label": (pod(nodeSelector={"kubernetes.io/os": "linux"}), [], "admitted"),
    "of two that do not hang on amounts the first is told": (
        pod(nodeSelector={"zone": "b"}, nodeName="other"),
        [],
        "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ),
    "another node's name": (
        pod(nodeName="other"),
        [],
        "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    ),
}


@pytest.mark.parametrize(("one", "others", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_worked_example(one: Pod, others: list[Pod], expected: str) -> None:
    assert told(checked(one, others, A)) == expected


def test_all_failures_are_kept() -> None:
    failures = checked(pod(requests=GREEDY, nodeSelector={"zone": "b"}), X15, A).failures
    assert [one.refusal.reason if hasattr(one, "refusal") else one.reason for one in failures] == [
        "OutOfcpu",
        "OutOfmemory",
        "OutOfhugepages-2Mi",
        "NodeAffinity",
    ]


def test_an_unknown_device_is_passed_over() -> None:
    assert checked(pod(requests={"amd.com/gpu": "1"}), [], A) == FitResult(True)


def test_init_containers_sidecars_and_overhead() -> None:
    """Example 7.3: sidecar 1, init 10, app 2, overhead 250m make 11.25."""

    def container(name: str, cpu: str, **more: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}

    one = read_pod(
        {
            "metadata": {"name": "p"},
            "spec": {
                "initContainers": [container("s", "1", restartPolicy="Always"), container("i", "10")],
                "containers": [container("a", "2")],
                "overhead": {"cpu": "250m"},
            },
        }
    )
    assert checked(one, [pod("x", {"cpu": "4"})], A).admit
    assert told(checked(one, [pod("x", {"cpu": "4300m"})], A)) == short("cpu", 11250, 4300, 15500)


def test_plugin_gone() -> None:
    """Example 7.4: an entry of 0 is an entry."""
    one = pod(requests={"amd.com/gpu": "1"})
    assert told(checked(one, [], node(**{"amd.com/gpu": "0"}))) == short("amd.com/gpu", 1, 0, 0)


def test_devices_lost_after_they_were_given_out() -> None:
    """Example 7.5."""
    two = node(**{GPU: "2", "cpu": "16"})
    x = [pod("x", {GPU: "3"})]
    assert checked(pod(requests={"cpu": "1"}), x, two).admit
    assert checked(pod(requests={GPU: "1"}), x, two, allocated={GPU: 4}).admit
    assert told(checked(pod(requests={GPU: "1"}), x, two)) == short(GPU, 1, 3, 2)


def test_zero_request_on_an_overcommitted_node() -> None:
    """Example 7.6."""
    two, x = node(cpu="2"), [pod("x", {"cpu": "3"})]
    assert checked(pod(), x, two).admit
    assert told(checked(pod(requests={"cpu": "1m"}), x, two)) == short("cpu", 1, 3000, 2000)


def test_pods_is_a_resource() -> None:
    assert told(checked(pod(), [pod("x")], node(pods="1"))) == short("pods", 1, 1, 1)
    assert told(checked(pod(), [], NodeView({}, "node", {}))) == short("pods", 1, 0, 0)


def _guaranteed(name: str, cpu: str) -> Pod:
    amounts = {"cpu": cpu, "memory": "1"}
    resources = {"requests": amounts, "limits": amounts}
    spec = {"containers": [{"name": "c", "resources": resources}]}
    return read_pod({"metadata": {"name": name}, "spec": spec})


def test_what_pods_together_request_too_much_of() -> None:
    pods = ActivePods([pod("a", {"cpu": "3"}), pod("b", {"cpu": "3"})])
    found = [(one.resource, one.requested, one.used, one.capacity) for one in exceeded(pods, node(cpu="4", pods="1"))]
    assert found == [("pods", 0, 2, 1), ("cpu", 0, 6000, 4000)]
    assert not list(exceeded(pods, node(cpu="6", pods="2")))


def test_preemption() -> None:
    """Example 7.7: v is closest to what is missing; and a need nobody can meet."""
    four = node(cpu="4", memory="1Gi")
    others = [pod("u", {"cpu": "1"}), pod("v", {"cpu": "2"}), _guaranteed("w", "1")]
    result = checked(pod(requests={"cpu": "1500m"}, priority=2_000_000_000), others, four)
    assert (result.admit, [one.name for one in result.preempted]) == (True, ["v"])
    result = checked(pod(requests={"cpu": "5"}, priorityClassName="system-node-critical"), others, four)
    assert result.reason == "UnexpectedAdmissionError"
    assert result.message.endswith("to reclaim resources: [(res: cpu, q: 1000), ]")


def _term(**expression: Any) -> dict[str, Any]:
    terms = [{"matchExpressions": [expression]}]
    return _affinity(terms)


def _affinity(terms: list[dict[str, Any]]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


AFFINITIES: dict[str, tuple[dict[str, Any], bool]] = {
    "In": (_term(key="zone", operator="In", values=["b", "a"]), True),
    "NotIn, label missing": (_term(key="none", operator="NotIn", values=["a"]), True),
    "NotIn": (_term(key="zone", operator="NotIn", values=["a"]), False),
    "Exists": (_term(key="zone", operator="Exists"), True),
    "DoesNotExist": (_term(key="zone", operator="DoesNotExist"), False),
    "Gt reads 08 as 8": (_term(key="size", operator="Gt", values=["7"]), True),
    "Lt": (_term(key="size", operator="Lt", values=["8"]), False),
    "Gt of no number": (_term(key="zone", operator="Gt", values=["7"]), False),
    "an unknown operator": (_term(key="zone", operator="Has"), False),
    "no terms": (_affinity([]), False),
    "a term with nothing in it": (_affinity([{}]), False),
    "one good term is enough": (
        _affinity([{}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node"]}]}]),
        True,
    ),
    "a field other than the name": (
        _affinity([{"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["node"]}]}]),
        False,
    ),
    "not this name": (
        _affinity([{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["node"]}]}]),
        False,
    ),
}


@pytest.mark.parametrize(("affinity", "admit"), AFFINITIES.values(), ids=AFFINITIES)
def test_node_affinity(affinity: dict[str, Any], admit: bool) -> None:
    assert checked(pod(affinity=affinity), [], A).admit is admit


def test_what_the_machine_does_not_say_is_not_judged() -> None:
    silent = A._replace(name=None, labels=None, unjudged=frozenset({"ephemeral-storage"}))
    one = pod(requests={"ephemeral-storage": "1Ti"}, nodeSelector={"zone": "b"}, nodeName="other")
    result = checked(one, [], silent)
    assert result.admit
    assert [note.partition(":")[0] for note in result.notes] == [
        "ephemeral-storage",
        "node selector and node affinity",
        "node name",
    ]
    assert checked(pod(nodeName=A.name), [], A).notes == ()
    assert checked(pod(requests={"ephemeral-storage": "0"}), [], silent).notes == ()


LABELS_UNKNOWN = "node selector and node affinity: not judged, the machine does not say which labels the node has"
NAME_UNKNOWN = "node name: not judged, the machine does not say what the node is called"
NAMED = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node"]}]}
OTHER = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}
# What a pod asks for; what a node of unknown labels, of unknown name, and one of which both are known say of it.
UNKNOWN: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("nothing", {}, "", "", ""),
    ("labels", {"nodeSelector": {"zone": "a"}}, LABELS_UNKNOWN, "", ""),
    ("other labels", {"nodeSelector": {"zone": "b"}}, LABELS_UNKNOWN, "NodeAffinity", "NodeAffinity"),
    ("a node of its name", {"affinity": _affinity([NAMED])}, "", NAME_UNKNOWN, ""),
    ("one of another name", {"affinity": _affinity([OTHER])}, "NodeAffinity", NAME_UNKNOWN, "NodeAffinity"),
    ("this node", {"nodeName": "node"}, "", NAME_UNKNOWN, ""),
    ("another node", {"nodeName": "other"}, "NodeName", NAME_UNKNOWN, "NodeName"),
    ("no node yet", {"nodeName": ""}, "", "", ""),
]


@pytest.mark.parametrize(
    ("asked", "no_labels", "no_name", "known"), [row[1:] for row in UNKNOWN], ids=[row[0] for row in UNKNOWN]
)
def test_what_is_known_of_a_node_is_judged(asked: dict[str, Any], no_labels: str, no_name: str, known: str) -> None:
    """docs/rules/admission-fit.md 6.5: the rest is noted."""
    for on, expected in ((A._replace(labels=None), no_labels), (A._replace(name=None), no_name), (A, known)):
        found = checked(pod(**asked), [], on)
        notes = (expected,) if " " in expected else ()
        reason = "" if notes else expected
        assert (found.admit, found.reason, found.notes) == (not reason, reason, notes)


def test_an_unknown_name_is_noted_once_where_labels_differ() -> None:
    both = {"nodeSelector": {"zone": "b"}, "affinity": _affinity([NAMED])}
    assert checked(pod(**both), [], A._replace(name=None)).notes == (NAME_UNKNOWN,)
    assert checked(pod(**both), [], A._replace(labels=None)).notes == (LABELS_UNKNOWN,)
    assert checked(pod(**both), [], A._replace(labels=None, name=None)).notes == (LABELS_UNKNOWN, NAME_UNKNOWN)


def _with_port(name: str, **port: Any) -> Pod:
    spec = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80, **port}]}]}
    return read_pod({"metadata": {"name": name}, "spec": spec})


PORTS = {
    "the same": ({}, {}, False),
    "the lowest": ({"hostPort": 1}, {"hostPort": 1}, False),
    "none": ({"hostPort": 0}, {"hostPort": 0}, True),
    "another protocol": ({}, {"protocol": "UDP"}, True),
    "another number": ({}, {"hostPort": 81}, True),
    "one address and all": ({"hostIP": "10.0.0.1"}, {}, False),
    "two addresses": ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}, True),
}


@pytest.mark.parametrize(("mine", "other", "admit"), PORTS.values(), ids=PORTS)
def test_host_ports(mine: dict[str, Any], other: dict[str, Any], admit: bool) -> None:
    assert checked(_with_port("p", **mine), [_with_port("x", **other)], A).admit is admit


TOLERATIONS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "none": ([], False),
    "everything": ([{"operator": "Exists"}], True),
    "key and value": ([{"key": "gpu", "value": "a", "effect": "NoExecute"}], True),
    "another value": ([{"key": "gpu", "value": "b"}], False),
    "another effect": ([{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}], False),
    "for no time": ([{"key": "gpu", "operator": "Exists", "tolerationSeconds": 0}], True),
}


@pytest.mark.parametrize(("tolerations", "admit"), TOLERATIONS.values(), ids=TOLERATIONS)
def test_tolerations(tolerations: list[dict[str, Any]], admit: bool) -> None:
    tainted = A._replace(taints=(Taint("gpu", "a", "NoExecute"), Taint("off", "", "NoSchedule")))
    assert checked(pod(tolerations=tolerations), [], tainted).admit is admit


def test_static_pods_are_not_asked_about_taints() -> None:
    tainted = A._replace(taints=(Taint("gpu", "", "NoExecute"),))
    assert checked(pod(annotations={"kubernetes.io/config.source": "file"}), [], tainted).admit
    assert not checked(pod(annotations={"kubernetes.io/config.source": "api"}), [], tainted).admit


@given(st.lists(st.integers(0, 4000), max_size=6), st.integers(0, 4000), st.integers(1, 8))
def test_more_room_never_refuses(used: list[int], wanted: int, cpus: int) -> None:
    """A pod that fits a node fits a larger one; and a refusal says by how much."""
    others = [pod(f"x{place}", {"cpu": f"{milli}m"}) for place, milli in enumerate(used)]
    one = pod(requests={"cpu": f"{wanted}m"})
    result = checked(one, others, node(cpu=str(cpus)))
    assert result.admit == (wanted == 0 or wanted <= cpus * 1000 - sum(used))
    if result.admit:
        assert checked(one, others, node(cpu=str(cpus + 1))).admit


def _case(dice: Dice) -> tuple[Pod, ActivePods, NodeView, dict[str, int], dict[str, int], bool]:
    """A pod, others, a node, the most devices that can be given out, what is given out, and whether to the pod."""
    names = ("cpu", "memory", GPU, "amd.com/gpu")

    def amounts(one: Dice) -> dict[str, str]:
        return {name: str(one.below(5)) for name in names if one.flag()}

    spec = {"priority": 2_000_000_000} if dice.below(6) == 5 else {}
    spec |= {"nodeSelector": {"zone": "a"}} if dice.below(6) == 5 else {}
    spec |= {"overhead": {"cpu": "1"}} if dice.below(4) == 3 else {}
    wanted = pod(requests=amounts(dice), **spec)
    others = ActivePods([pod(f"x{number}", amounts(dice)) for number in range(dice.below(4))])
    of_node = node(**{name: str(dice.below(12)) for name in names if dice.below(4)}, pods=str(dice.between(1, 4)))
    most = {GPU: dice.below(12), "amd.com/gpu": dice.below(12)}
    return wanted, others, of_node, most, {name: dice.below(many + 1) for name, many in most.items()}, dice.flag()


@draws(160)
@given(rolled(_case, 80))
def test_a_forecast_is_never_wrong(
    case: tuple[Pod, ActivePods, NodeView, dict[str, int], dict[str, int], bool],
) -> None:
    """Whatever devices are given out the check decides as forecast; a refusal holds beside more pods, too."""
    one, others, of_node, most, given_out, holds = case
    expected = forecast(one, others, of_node, most)
    allocated = given_out if holds else {}
    decided = check_node_fit(one, others, of_node, allocated=allocated).admit

    assert expected in (None, decided)
    if expected is False:
        more = others.plus(pod("more", {"cpu": "1", GPU: "1"}))
        assert not check_node_fit(one, more, of_node, allocated=allocated).admit
    ahead = forecaster(one, others, of_node, most)
    [only] = one.containers
    for share in range(5):
        asked = {name: quantity.parse(str(share)) for place, name in enumerate(only.requests) if share or place}
        other = one._replace(containers=(only._replace(requests=asked),))
        assert ahead(other) == forecast(other, others, of_node, most)


# A pod, the most devices that can be given out, and what is certain.
CERTAIN: list[tuple[str, Pod, dict[str, int], bool | None]] = [
    ("what is there", pod(requests={"cpu": "1"}), {GPU: 4}, True),
    ("more than there is", pod(requests={"cpu": "16"}), {}, False),
    ("a device that the node tells of", pod(requests={GPU: "3"}), {GPU: 3}, True),
    ("one more, which can be given out", pod(requests={GPU: "4"}), {GPU: 4}, None),
    ("more than can be given out", pod(requests={GPU: "5"}), {GPU: 4}, False),
    ("a device that the node does not tell of", pod(requests={"v/d": "1"}), {"v/d": 4}, None),
    ("no device of these", pod(requests={"cpu": "1"}), {"v/d": 4}, True),
    ("another system", pod(os={"name": "windows"}), {}, False),
    ("another node", pod(nodeName="other"), {}, False),
    ("whatever there is, as it evicts others", pod(requests={"cpu": "16"}, priority=2_000_000_000), {}, None),
]


@pytest.mark.parametrize(("one", "most", "expected"), [row[1:] for row in CERTAIN], ids=[row[0] for row in CERTAIN])
def test_what_is_certain_of_a_pod_that_asks_for(one: Pod, most: dict[str, int], expected: bool | None) -> None:
    assert forecast(one, ActivePods(()), A, most) is expected


LACKING = [
    ("nothing", pod("p", {"cpu": "1"}), {}, []),
    ("CPU", pod("p", {"cpu": "16"}), {}, ["cpu"]),
    ("two things", pod("p", {"cpu": "16", "memory": "100Gi"}), {}, ["cpu", "memory"]),
    ("devices that can be given out", pod("p", {GPU: "4"}), {GPU: 4}, []),
    ("more devices than that", pod("p", {GPU: "5"}), {GPU: 4}, [GPU]),
    ("a critical pod evicts others", pod("p", {"cpu": "16"}, priority=2_000_000_000), {}, []),
]


@pytest.mark.parametrize(("one", "most", "short_of"), [row[1:] for row in LACKING], ids=[row[0] for row in LACKING])
def test_what_the_node_lacks_whatever_is_given_out(one: Pod, most: dict[str, int], short_of: list[str]) -> None:
    assert [each.resource for each in lacks(one, ActivePods(()), A, most)] == short_of


@pytest.mark.parametrize(
    ("storage", "isolation", "unjudged"), [(None, True, True), (GI, True, False), (None, False, False)]
)
def test_storage_that_the_machine_does_not_tell_is_not_judged(
    storage: int | None, isolation: bool, unjudged: bool
) -> None:
    settings = SETTINGS_A._replace(local_storage_capacity_isolation=isolation)
    machine = NODE_A._replace(storage=storage)
    assert bool(view(settings, machine, reserve(settings, machine, 0)).unjudged) is unjudged
