"""What a machine would have to have: the least that admits the pod, said as flags that change the machine so."""

from __future__ import annotations

import pytest

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.tasks.explain import explain
from tests.analysis.support import GPU, STATIC, config, machine, pod


@pytest.mark.parametrize(
    ("settings", "asked", "expected"),
    [
        pytest.param(config("none"), pod("p", 1, gpu=3), ("device", f"{GPU}@0=2"), id="one more in all"),
        pytest.param(
            config("single-numa-node"), pod("p", 1, gpu=3), ("device", f"{GPU}@0=3"), id="all of them on one node"
        ),
        pytest.param(
            config("none", **STATIC),
            pod("p", 1, "1Gi", pages="3Gi"),
            ("hugepages", f"2Mi@0={2 << 30}"),
            id="huge pages that the machine lacks in all",
        ),
    ],
)
def test_the_least_that_would_do_is_named(settings: KubeletConfig, asked: Pod, expected: tuple[str, str]) -> None:
    [told] = explain(Setup(machine("figure-1"), settings, "ideal"), [asked]).pods
    assert [change.hardware for change in told.changes if change.hardware] == [(expected,)]


def test_where_something_else_helps_nothing_is_added() -> None:
    [told] = explain(Setup(machine("figure-1"), config("single-numa-node"), "ideal"), [pod("p", 6)]).pods
    assert not [change for change in told.changes if change.hardware]
