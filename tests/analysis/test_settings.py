"""Settings one step away: which are tried, in which order, and what their flags say of options that stay."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.settings import apply, options_of, options_on, other_settings, switched, with_option
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
    ("an option that the release does not know stays", "mine", {
        "cpu_manager_policy_options": {"strict-cpu-reservation": "true"},
    }, ONE, False, [
        *(text.replace(f"{CPU}=", f"{CPU}=strict-cpu-reservation=true,") for text in OPTIONS),
        "single-numa-node", "restricted", "best-effort", "none",
    ]),
    ("to turn an option off takes no gate, and leaves its place to it", "mine", {
        "cpu_manager_policy_options": {"align-by-socket": "true", "full-pcpus-only": "true"},
    }, ONE, False, [
        f"{CPU}=align-by-socket=false,full-pcpus-only=true",
        f"{CPU}=align-by-socket=true,full-pcpus-only=false",
        f"{CPU}=align-by-socket=true,full-pcpus-only=true,distribute-cpus-across-numa=true {ALPHA}",
        OPTIONS[3], "single-numa-node", "restricted", "best-effort", "none",
    ]),
    ("one that is turned on comes last", "mine", {
        "cpu_manager_policy_options": {"full-pcpus-only": "false", "align-by-socket": "true"},
        "feature_gates": {"CPUManagerPolicyAlphaOptions": True},
    }, ONE, False, [
        f"{CPU}=full-pcpus-only=false,align-by-socket=false",
        f"{CPU}=full-pcpus-only=false,align-by-socket=true,distribute-cpus-across-numa=true",
        f"{CPU}=align-by-socket=true,full-pcpus-only=true",
        OPTIONS[3], "single-numa-node", "restricted", "best-effort", "none",
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


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"topology-manager-policy": "restricted"}, {"topology_manager_policy": "restricted"}),
        ({CPU: "a=1,b=2"}, {"cpu_manager_policy_options": {"a": "1", "b": "2"}}),
        ({TOPOLOGY: ""}, {"topology_manager_policy_options": {}}),
        ({"feature-gates": "A=true,B=false"}, {"feature_gates": {"A": True, "B": False}}),
    ],
    ids=["a text", "options", "no options", "gates"],
)
def test_a_flag_replaces_its_setting_as_a_whole(flags: dict[str, str], expected: dict[str, Any]) -> None:
    assert apply(SOME, flags) == SOME._replace(**expected)


def test_a_stable_option_takes_no_gate_and_one_with_a_number_is_not_on_or_off() -> None:
    late = kubelet((1, 34))
    assert late.options["full-pcpus-only"] == "Stable"
    assert with_option(Setup(machine("figure-1"), config("none"), "ideal", late), "full-pcpus-only", True) == {
        CPU: "full-pcpus-only=true"
    }
    assert "max-allowable-numa-nodes" in late.options
    assert "max-allowable-numa-nodes" not in options_of(late)
