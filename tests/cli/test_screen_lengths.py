"""The screens that people come for stay as short as they were designed: lines on a terminal of 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import copies
from tests.cli.test_terminals import on_a_terminal
from tests.node.fake_root import FakeContainer
from tests.node.test_verify import GI, UIDS, running

pytestmark = copies.TOGETHER

VLLM = ("explain", "docs/examples/vllm.yaml", "--machine", "hgx-h100", "--policy")
BOTH = """
apiVersion: v1
kind: Pod
metadata: {name: both}
spec:
  containers:
  - {name: app, image: x, resources: {limits: {cpu: "160", memory: 8Gi, nvidia.com/gpu: "8"}}}
"""
CLUSTER = "docs/examples/cluster/cluster.yaml"
FORWARDER = "docs/examples/cluster/forwarder.yaml"
WRONG = (
    *("config", "check", "--machine", "figure-1", "--policy", "restricted", "--memory-manager-policy", "Static"),
    *("--kube-reserved", "memory=1Gi", "--reserved-memory", "0:memory=512Mi"),
    *("--cpu-manager-policy-options", "full-pcpu-only=true"),
)
SCREENS = {
    "admit": (("admit", "pods/announcement.yaml", "--machine", "figure-1", "--policy", "single-numa-node"), 21),
    "explain: one resource": ((*VLLM, "single-numa-node"), 24),
    "explain: two resources that do not match": ((*VLLM, "restricted"), 28),
    "explain: a fix of two changes": (
        ("explain", "{here}/both.yaml", "--machine", "hgx-h100", "--policy", "single-numa-node"),
        27,
    ),
    "explain: admitted but not aligned, with fixes": ((*VLLM, "best-effort"), 20),
    "compare": (("compare", "pods/guaranteed-4cpu-1gpu.yaml", "--machine", "hgx-h100", "--policy", "restricted"), 13),
    "lint": (("lint", "pods/burstable.yaml", "pods/sidecar.yaml", "pods/dra-claim.yaml"), 21),
    "config check": (WRONG, 14),
    "config suggest": (("config", "suggest", "--machine", "figure-1"), 27),
    "status": (("status", "--node", "docs/examples/node.json"), 22),
    "verify": (("verify", "--node", "{here}/vroot"), 23),
    "schedule": (("schedule", FORWARDER, "--cluster", CLUSTER, "--scheduler", "unaware"), 12),
    "admit --help": (("admit", "--help"), 35),
    "a wrong file": (("admit", "pods/announcement.yaml", "--machine", "{here}/lscpu.txt"), 4),
}
"""Screen -> its command, and how many lines it may have."""


def test_all_together_have_as_many_lines_as_the_design() -> None:
    assert sum(lines for _, lines in SCREENS.values()) <= 291  # 287, and four lines that long paths break


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_has_no_more_lines(name: str, tmp_path: Path) -> None:
    arguments, most = SCREENS[name]
    (tmp_path / "both.yaml").write_text(BOTH)
    (tmp_path / "lscpu.txt").write_text("Architecture: x86_64\nCPU(s): 8\n")
    if name == "verify":
        (tmp_path / "vroot").mkdir()
        running(tmp_path / "vroot", FakeContainer(UIDS["db"], "server", "0-3", "0", memory={0: GI}))
    shown = "\n".join(on_a_terminal(80, *(one.replace("{here}", str(tmp_path)) for one in arguments)))
    lines = shown.rstrip("\n").split("\n")
    assert len(lines) <= most, shown
