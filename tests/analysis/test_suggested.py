"""Options that a machine file suggests: beside those that are set, which count; as text and as flags."""

from __future__ import annotations

import pytest

from numalign.analysis.suggested import suggested, suggested_flags, suggestion
from numalign.kubelet.setup import Setup
from tests.analysis.support import config, machine

CPU, TOPOLOGY = {"full-pcpus-only": "true"}, {"max-allowable-numa-nodes": "16"}
CASES = [
    ("none", {}, None, None, "", ""),
    (
        "of the CPU Manager",
        {"cpuManagerPolicyOptions": CPU},
        {"full-pcpus-only": "true", "align-by-socket": "true"},
        None,
        "full-pcpus-only=true",
        "--cpu-manager-policy-options full-pcpus-only=true",
    ),
    (
        "of the Topology Manager",
        {"topologyManagerPolicyOptions": TOPOLOGY},
        None,
        TOPOLOGY,
        "max-allowable-numa-nodes=16",
        "--topology-manager-policy-options max-allowable-numa-nodes=16",
    ),
]


@pytest.mark.parametrize(
    ("options", "cpu", "topology", "text", "flags"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_options_that_a_machine_suggests(
    options: dict[str, dict[str, str]],
    cpu: dict[str, str] | None,
    topology: dict[str, str] | None,
    text: str,
    flags: str,
) -> None:
    on = machine("figure-1")._replace(suggests=options)
    given = {"align-by-socket": "true"} if cpu else None
    found = suggested(Setup(on, config("none", cpu_manager_policy_options=given), "ideal"))
    assert (found.cpu_manager_policy_options, found.topology_manager_policy_options) == (cpu, topology)
    assert (suggestion(on), suggested_flags(on)) == (text, flags)


def test_what_is_set_counts_more() -> None:
    set_cpu, set_topology = {"full-pcpus-only": "false"}, {"max-allowable-numa-nodes": "9"}
    on = machine("figure-1")._replace(
        suggests={"cpuManagerPolicyOptions": CPU, "topologyManagerPolicyOptions": TOPOLOGY}
    )
    given = config("none", cpu_manager_policy_options=set_cpu, topology_manager_policy_options=set_topology)
    found = suggested(Setup(on, given, "ideal"))
    assert (found.cpu_manager_policy_options, found.topology_manager_policy_options) == (set_cpu, set_topology)
