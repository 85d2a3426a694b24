"""Which causes of docs/rules/scheduling.md 1.5 take a disagreement back, and which do not: one by one."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.kubelet.admission import Session
from numalign.model.pod import Pod
from numalign.scheduler.disagreement import Case
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.causes import causes, plugin_passes
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.request import read_request
from tests.conformance.sched import pod
from tests.scheduler.nrt.nodes import guaranteed
from tests.scheduler.test_causes import TOTAL, limits, node, sized, with_gpus_on_node_1
from tests.scheduler.test_filter import EIGHT_AND_FOUR

TAKES_BACK = {one.code: one.taken_back for one in causes(plugin_passes)}
EMPTY = node()
FULL = node(None, guaranteed("p", {"cpu": "7", "memory": "1Gi"}), guaranteed("q", {"cpu": "7", "memory": "1Gi"}))
NOW, OLD = (export(one, "n", ExportOptions(fingerprint=False)) for one in (EMPTY, FULL))
BEST_EFFORT = pod({"containers": [{}]}, "asked")
BURSTABLE = pod({"containers": [{"requests": {"cpu": "8500m", "memory": "1Gi"}}]}, "asked")


def case(asked: Pod, session: Session = EMPTY, **more: Any) -> Case:
    """The plugin refuses, and the kubelet admits; `more`: what is otherwise."""
    nrt = more.get("nrt", export(session, "n", ExportOptions(fingerprint=False)))
    on = ClusterNode("n", NodeTotals(TOTAL, {}, 0), session, more.pop("known", "exact"), nrt)
    found = Case(on, session, asked, read_request(asked), nrt, None, passes=False, admits=True)
    return found._replace(**more)


@pytest.mark.parametrize(
    ("distrust", "asked", "passes"),
    [
        pytest.param("", sized("4"), True, id="a zone has so many CPUs"),
        pytest.param("", sized("9"), False, id="none has"),
        pytest.param("foreign", sized("4"), False, id="the cache trusts nothing"),
        pytest.param("foreign", BEST_EFFORT, True, id="of a pod that passes unseen nothing is looked up"),
    ],
)
def test_the_plugin_passes(distrust: str, asked: Pod, passes: bool) -> None:
    found = case(asked, distrust=distrust)
    assert plugin_passes(found, found.nrt, found.request) is passes


APART, APART_ASKED = with_gpus_on_node_1("3", "8")
OF_THE_POD = tuple((name, "pod" if name.endswith("Scope") else text) for name, text in export(APART, "n").attributes)
RESTRICTED = node(topology_manager_policy="restricted")
PASSES = {"passes": True, "admits": False}
CASES: list[tuple[str, str, Case, bool]] = [
    ("X-1", "an old object", case(sized("4"), nrt=OLD), True),
    ("X-1", "of a node of which only the zones are known", case(sized("4"), nrt=OLD, known="zones"), False),
    ("X-1", "a new one would refuse, too", case(sized("9"), nrt=OLD), False),
    ("X-1", "it is new", case(sized("4"), nrt=NOW), False),
    ("X-1", "there is none", case(sized("4"), nrt=None), False),
    ("X-1", "it is new, and a pod is on its way", case(sized("4"), nrt=NOW, distrust="reserved"), True),
    ("X-1", "a pod is on its way, and it is too large", case(sized("9"), nrt=NOW, distrust="reserved"), False),
    ("X-1", "a pod of somebody else is there", case(sized("4"), nrt=OLD, distrust="foreign"), False),
    ("X-9", "a pod of somebody else is there", case(sized("4"), nrt=OLD, distrust="foreign"), True),
    ("X-9", "without it the plugin refuses, too", case(sized("9"), nrt=OLD, distrust="foreign"), False),
    ("X-9", "a pod is on its way", case(sized("4"), nrt=OLD, distrust="reserved"), False),
    ("X-9", "the cache trusts what it has", case(sized("4"), nrt=OLD), False),
    ("X-2", "a part of a CPU is not pinned", case(sized("8500m")), True),
    ("X-2", "whole CPUs are", case(sized("9")), False),
    ("X-2", "of a pod that is not Guaranteed nothing is", case(BURSTABLE, admits=False), False),
    ("X-4", "the kubelet takes another zone", case(APART_ASKED, APART, **PASSES), True),
    ("X-4", "no object tells of zones", case(APART_ASKED, APART, **PASSES, nrt=None), False),
    ("X-4", "the pod as a whole takes one zone", case(APART_ASKED, APART, **PASSES, nrt=export(APART, "n")._replace(
        attributes=OF_THE_POD
    )), False),
    ("X-4", "one container", case(sized("9")), False),
    ("X-4", "the large container first would fit", case(sized("4", "8"), nrt=EIGHT_AND_FOUR), True),
    ("X-4", "in no order", case(sized("8", "8"), nrt=EIGHT_AND_FOUR), False),
    ("X-4", "an init container fits nowhere", case(
        sized("4", "8", initContainers=[limits("9")]), nrt=EIGHT_AND_FOUR
    ), False),
    ("X-4", "the filter would not fail either", case(sized("3", "3"), **PASSES), False),
    ("X-6", "a policy that is never filtered", case(sized("4"), RESTRICTED, **PASSES), True),
    ("X-6", "the filter fails", case(sized("4"), RESTRICTED), False),
    ("X-6", "one that is", case(sized("4"), **PASSES), False),
    ("X-6", "no object", case(sized("4"), RESTRICTED, **PASSES, nrt=None), False),
    ("X-2", "memory of no whole bytes is counted", case(pod({"containers": [limits("2", "40.0000000001Gi")]})), False),
    ("X-8", "without overhead the plugin was asked the same", case(sized("4")), False),
    ("T-14", "a device that no zone lists is asked for", case(pod({"containers": [limits("2", fpga="1")]})), False),
    ("T-14", "all is listed", case(sized("9")), False),
    ("T-14", "without an object nothing is", case(sized("9"), nrt=None), True),
]  # fmt: skip


@pytest.mark.parametrize(("code", "of", "taken_back"), [(row[0], *row[2:]) for row in CASES], ids=[
    f"{row[0]}: {row[1]}" for row in CASES
])  # fmt: skip
def test_a_cause_takes_a_disagreement_back(code: str, of: Case, taken_back: bool) -> None:
    assert TAKES_BACK[code](of) is taken_back
