"""Settings one step away: which are tried, in which order, and what their flags say of options that stay."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.settings import options_on, other_settings, switched
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from tests.analysis.support import STATIC, config, limits, machine, pod, pod_of

ONE, TWO = pod("p"), pod_of("p", a=limits(), b=limits())
CPU, TOPOLOGY = "cpu-manager-policy-options", "topology-manager-policy-options"
ALPHA = "feature-gates=CPUManagerPolicyAlphaOptions=true"
OPTIONS = [
    f"{CPU}=align-by-socket=true {ALPHA}",
    f"{CPU}=distribute-cpus-across-numa=true {ALPHA}",
    f"{CPU}=full-pcpus-only=true",
    f"{TOPOLOGY}=prefer-closest-numa-nodes=true",
]
"""Those of 1.30, of which none is on."""
CASES: list[tuple[str, str, dict[str, Any], Pod, bool, list[str]]] = [
    ("laxer policies first", "restricted", {}, ONE, False, [*OPTIONS, "best-effort", "none", "single-numa-node"]),
    ("to align, strict ones", "restricted", {}, ONE, True, [*OPTIONS, "single-numa-node", "best-effort", "none"]),
    ("a scope for several containers", "best-effort", {}, TWO, True, [
        "topology-manager-scope=pod", *OPTIONS, "single-numa-node", "restricted", "none",
    ]),
    ("which is nothing to no policy", "none", {}, TWO, False, [
        *OPTIONS, "single-numa-node", "restricted", "best-effort",
    ]),
    ("a policy of one's own", "mine", {}, ONE, False, [
        *OPTIONS, "single-numa-node", "restricted", "best-effort", "none",
    ]),
    ("memory that is pinned", "none", STATIC, ONE, False, [
        *OPTIONS, "memory-manager-policy=None", "single-numa-node", "restricted", "best-effort",
    ]),
    ("an option that is on", "none", {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}, ONE, False, [
        f"{CPU}=full-pcpus-only=false",
        f"{CPU}=full-pcpus-only=true,align-by-socket=true {ALPHA}",
        f"{CPU}=full-pcpus-only=true,distribute-cpus-across-numa=true {ALPHA}",
        OPTIONS[3], "single-numa-node", "restricted", "best-effort",
    ]),
    ("a gate that is open", "none", {"feature_gates": {"CPUManagerPolicyAlphaOptions": True}}, ONE, False, [
        f"{CPU}=align-by-socket=true", f"{CPU}=distribute-cpus-across-numa=true", *OPTIONS[2:],
        "single-numa-node", "restricted", "best-effort",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "more", "asked", "aligning", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_settings_one_step_away(
    policy: str, more: dict[str, Any], asked: Pod, aligning: bool, expected: list[str]
) -> None:
    setup = Setup(machine("figure-1"), config(policy, **more), "ideal", kubelet((1, 30)))
    found = other_settings(setup, asked, aligning=aligning)
    texts = [" ".join(f"{flag}={text}" for flag, text in flags.items()) for flags in found]
    assert [text.removeprefix("topology-manager-policy=") for text in texts] == expected


SOME = config(
    "none",
    cpu_manager_policy_options={"full-pcpus-only": "T", "align-by-socket": "false"},
    topology_manager_policy_options={"prefer-closest-numa-nodes": "1"},
)


def test_options_that_are_on() -> None:
    assert options_on(SOME) == ("full-pcpus-only", "prefer-closest-numa-nodes")
    assert options_on(config("none")) == ()


@pytest.mark.parametrize(
    ("flag", "text", "changed"),
    [
        ("topology-manager-policy", "restricted", [("topology-manager-policy", "restricted")]),
        (CPU, "full-pcpus-only=T,align-by-socket=true", [("align-by-socket", "true")]),
        (TOPOLOGY, "prefer-closest-numa-nodes=1,max-allowable-numa-nodes=9", [("max-allowable-numa-nodes", "9")]),
    ],
)
def test_what_a_flag_changes(flag: str, text: str, changed: list[tuple[str, str]]) -> None:
    assert switched(flag, text, SOME) == changed
    assert switched(CPU, "full-pcpus-only=true", config("none")) == [("full-pcpus-only", "true")]
