"""What kube-scheduler asks of the pods that are there: ports, affinity, spreading (docs/rules/scheduling.md 2.5)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Taint
from numalign.model.pod import Pod
from numalign.scheduler.neighbours import (
    AFFINITY,
    ANTI_AFFINITY,
    NO_DOMAIN,
    PORTS,
    SPREAD,
    THEIRS,
    checks,
    concerns,
    gates,
    not_judged,
    required,
)
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.verdict import Verdict

ZONE = "topology.kubernetes.io/zone"


def pod(name: str = "p", app: str = "", namespace: str = "default", **spec: Any) -> Pod:
    labels = {"app": app} if app else {}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return read_pod({"metadata": metadata, "spec": {"containers": [{"name": "c"}], **spec}})


def node(name: str, *pods: Pod, zone: str = "", taints: tuple[Taint, ...] = ()) -> ClusterNode:
    return ClusterNode(
        name, NodeTotals({}, {}, len(pods)), labels={ZONE: zone} if zone else {}, taints=taints, unplaced=pods
    )


def answers(wanted: Pod, *nodes: ClusterNode) -> list[Verdict | None]:
    """What each node fails at; None: nothing."""
    avoiding = [(one, on) for on in nodes for one in on.pods if required(one, "podAntiAffinity")]
    made = checks(wanted, [(one, one.pods) for one in nodes], avoiding)
    found: list[Verdict | None] = []
    for one in nodes:
        verdicts = [check(one) for check in (*made.ports, *made.others)]
        found.append(next((verdict for verdict in verdicts if not verdict.passed), None))
        assert made.verdict(one).passed == (found[-1] is None)
    return found


def term(app: str, **more: Any) -> dict[str, Any]:
    return {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}, **more}


def affinity(kind: str, *terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def with_port(number: int, kind: str = "containers", **more: Any) -> dict[str, Any]:
    port = {"containerPort": 80, "hostPort": number, **more}
    listed: dict[str, Any] = {"containers": [{"name": "c"}]}
    sidecar = {"restartPolicy": "Always"} if kind == "sidecar" else {}
    group = "containers" if kind == "containers" else "initContainers"
    listed[group] = [{"name": "x", "ports": [port], **sidecar}]
    return listed


@pytest.mark.parametrize(
    ("there", "wanted", "clash"),
    [
        (with_port(80), with_port(80), True),
        (with_port(80), with_port(81), False),
        (with_port(80, protocol="UDP"), with_port(80), False),
        (with_port(80, hostIP="10.0.0.1"), with_port(80), True),
        (with_port(80, hostIP="10.0.0.1"), with_port(80, hostIP="10.0.0.2"), False),
        (with_port(80, "sidecar"), with_port(80), True),
        (with_port(80, "init"), with_port(80), False),
    ],
)
def test_a_host_port_is_given_once(there: dict[str, Any], wanted: dict[str, Any], clash: bool) -> None:
    assert answers(pod(**wanted), node("n", pod("q", **there)), node("m")) == [PORTS if clash else None, None]


def test_a_pod_goes_where_those_are_that_it_wants() -> None:
    wanted = pod(**affinity("podAffinity", term("db")))
    nodes = (node("a", pod("q", "db"), zone="x"), node("b", zone="x"), node("c", zone="y"), node("d"))
    assert answers(wanted, *nodes) == [None, None, AFFINITY, AFFINITY]


def test_the_first_of_a_kind_may_go_anywhere_that_has_the_key() -> None:
    wanted = pod(app="db", **affinity("podAffinity", term("db")))
    assert answers(wanted, node("a", zone="x"), node("b")) == [None, AFFINITY]
    other = pod(app="web", **affinity("podAffinity", term("db")))
    assert answers(other, node("a", zone="x")) == [AFFINITY]
    assert answers(wanted, node("a", pod("q", "db"), zone="x"), node("b", zone="y")) == [None, AFFINITY]  # no first
    both = pod(app="db", **affinity("podAffinity", term("db"), term("web")))
    assert answers(both, node("a", zone="x")) == [AFFINITY]  # it is the first of one kind of two


def test_a_pod_keeps_away_from_others_and_they_from_it() -> None:
    away = affinity("podAntiAffinity", term("web"))
    here, there = node("a", pod("q", "web"), zone="x"), node("b", zone="y")
    assert answers(pod(**away), here, there) == [ANTI_AFFINITY, None]
    shy = node("a", pod("q", "db", **away), zone="x")
    assert answers(pod(app="web"), shy, there) == [THEIRS, None]
    assert answers(pod(app="db"), shy, there) == [None, None]
    assert answers(pod(app="web"), node("c", pod("q", "db", **away))) == [None]  # it has no zone to keep away from
    assert answers(pod(**away), node("c", pod("q", "web"))) == [None]


@pytest.mark.parametrize(
    ("more", "meant"),
    [
        ({}, False),
        ({"namespaces": ["other"]}, True),
        ({"namespaceSelector": {}}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, False),
        ({"namespaces": ["third"]}, False),
    ],
)
def test_a_term_is_about_its_own_namespace_or_those_it_names(more: dict[str, Any], meant: bool) -> None:
    wanted = pod(**affinity("podAntiAffinity", term("web", **more)))
    there = node("a", pod("q", "web", "other"), zone="x")
    assert answers(wanted, there) == [ANTI_AFFINITY if meant else None]


def test_a_term_may_take_values_from_its_owner() -> None:
    for field, meant in (("matchLabelKeys", ANTI_AFFINITY), ("mismatchLabelKeys", None)):
        term_ = {"topologyKey": ZONE, "labelSelector": {}, field: ["app", "one that it has not"]}
        wanted = pod(app="web", **affinity("podAntiAffinity", term_))
        assert answers(wanted, node("a", pod("q", "web"), zone="x")) == [meant]


def spread(**more: Any) -> dict[str, Any]:
    one = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**one, "labelSelector": {"matchLabels": {"app": "web"}}, **more}]}


WEB = [pod(f"w{number}", "web") for number in range(3)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [SPREAD, None, NO_DOMAIN]),
        ({"maxSkew": 2}, [None, None, NO_DOMAIN]),
        ({"maxSkew": 2, "minDomains": 3}, [SPREAD, None, NO_DOMAIN]),
        ({"whenUnsatisfiable": "ScheduleAnyway"}, [None, None, None]),
        ({"whenUnsatisfiable": None}, [SPREAD, None, NO_DOMAIN]),
        ({"labelSelector": {"matchLabels": {"app": "db"}}}, [None, None, NO_DOMAIN]),
    ],
)
def test_pods_are_spread(more: dict[str, Any], expected: list[Verdict | None]) -> None:
    nodes = (node("a", *WEB[:2], zone="x"), node("b", WEB[2], zone="y"), node("c"))
    assert answers(pod(app="web", **spread(**more)), *nodes) == expected


def test_only_pods_of_its_namespace_that_are_selected_count_for_spreading() -> None:
    others = (pod("q", "web", "other"), pod("r", "web", "other"), pod("s", "db"), pod("t", "db"))
    assert answers(pod(app="web", **spread()), node("a", *others, zone="x"), node("b", zone="y")) == [None, None]
    assert answers(pod(app="web", **spread()), node("c", *WEB)) == [NO_DOMAIN]


SELECTORS = [
    ("no selector selects nobody", None, None),
    ("an empty one everybody", {}, ANTI_AFFINITY),
    ("a label that it has not", {"matchLabels": {"app": "web", "tier": "x"}}, None),
    ("an expression", {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, ANTI_AFFINITY),
    ("another one", {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, None),
]


@pytest.mark.parametrize(("selector", "answer"), [row[1:] for row in SELECTORS], ids=[row[0] for row in SELECTORS])
def test_whom_a_selector_selects(selector: dict[str, Any] | None, answer: Verdict | None) -> None:
    away = affinity("podAntiAffinity", term("", labelSelector=selector))
    assert answers(pod(**away), node("a", pod("q", "web"), zone="x")) == [answer]


def test_only_nodes_that_the_pod_selects_count_for_spreading() -> None:
    nodes = (node("a", *WEB[:2], zone="x"), node("b", zone="y"), node("c", WEB[2], zone="z"))
    chosen = {"nodeSelector": {ZONE: "x"}}
    assert answers(pod(app="web", **spread(), **chosen), *nodes)[0] is None
    assert answers(pod(app="web", **spread(nodeAffinityPolicy="Ignore"), **chosen), *nodes)[0] == SPREAD
    tainted = (nodes[0], node("b", zone="y", taints=(Taint("k", "", "NoSchedule"),)))
    assert answers(pod(app="web", **spread()), *tainted)[0] == SPREAD
    assert answers(pod(app="web", **spread(nodeTaintsPolicy="Honor")), *tainted)[0] is None
    closed = (nodes[0], node("b", zone="y")._replace(unschedulable=True))
    assert answers(pod(app="web", **spread(nodeTaintsPolicy="Honor")), *closed)[0] is None
    for empty, key in ((tainted, "k"), (closed, "node.kubernetes.io/unschedulable")):
        tolerated = [{"key": key, "operator": "Exists"}]
        tolerant = pod(app="web", **spread(nodeTaintsPolicy="Honor"), tolerations=tolerated)
        assert answers(tolerant, *empty)[0] == SPREAD


CONCERNED = [
    ("a plain pod", {}, False),
    ("a host port", with_port(80), True),
    ("those it wants", affinity("podAffinity", term("db")), True),
    ("those it avoids", affinity("podAntiAffinity", term("db")), True),
    ("spreading", spread(), True),
    ("spreading if possible", spread(whenUnsatisfiable="ScheduleAnyway"), False),
]


@pytest.mark.parametrize(("spec", "asks"), [row[1:] for row in CONCERNED], ids=[row[0] for row in CONCERNED])
def test_what_a_pod_asks_of_those_that_are_there(spec: dict[str, Any], asks: bool) -> None:
    assert concerns(pod(**spec)) is asks


def test_all_terms_must_hold_in_their_own_domains() -> None:
    """One term is about zones, one about racks: the pod that both select is in this zone, and in another rack."""
    terms = (term("db"), {**term("db"), "topologyKey": "rack"})
    racks = [("a", "x", "1"), ("b", "x", "2"), ("c", "y", "1")]
    nodes = [
        ClusterNode(
            name,
            NodeTotals({}, {}, 0),
            labels={ZONE: zone, "rack": rack},
            unplaced=(pod("q", "db"),) if name == "a" else (),
        )
        for name, zone, rack in racks
    ]
    assert answers(pod(**affinity("podAffinity", *terms)), *nodes) == [None, AFFINITY, AFFINITY]
    assert answers(pod(**affinity("podAntiAffinity", *terms)), *nodes) == [ANTI_AFFINITY] * 3


def test_a_plain_pod_asks_nothing() -> None:
    assert not checks(pod(), [(node("a"), ())], [])
    for asking in (with_port(80), affinity("podAffinity", term("db"))):
        assert checks(pod(**asking), [(node("a"), ())], [])
    assert required(pod(affinity={"podAffinity": {}}), "podAffinity") == ()


def test_what_is_not_judged_and_what_holds_a_pod_back() -> None:
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "db"}}
    made = {"name": "scratch", "ephemeral": {}}
    volumes = [claim, made, {"name": "tmp", "emptyDir": {}}]
    assert list(not_judged(pod(volumes=volumes))) == [
        "volume data (PersistentVolumeClaim db)",
        "volume scratch (PersistentVolumeClaim p-scratch)",
    ]
    assert list(not_judged(pod())) == []
    assert gates(pod(schedulingGates=[{"name": "a.b/c"}])) == ("a.b/c",)
    assert gates(pod()) == ()
