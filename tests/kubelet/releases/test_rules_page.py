"""The rules of 1.32 to 1.36, read as a page: each table row, each text and each number of it holds."""

from __future__ import annotations

import gzip
import re
from functools import cache
from typing import Any

import pytest

from numalign.errors import StartError
from numalign.kubelet import node
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.fit import allocatable
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from tests.cli.running import ROOT
from tests.conftest import VECTORS
from tests.kubelet.regular import GI, regular

PAGE = (ROOT / "docs" / "rules" / "kubelet-versions.md").read_text(encoding="utf-8")
RELEASES = (32, 33, 34, 35, 36)


def section(number: int) -> str:
    """Return the text of a numbered section."""
    return PAGE.partition(f"\n## {number}. ")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of a table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.replace("**", "").strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def filled(cells: list[str]) -> list[str]:
    """Put what `=` stands for."""
    result: list[str] = []
    for cell in cells:
        result.append(result[-1] if cell == "=" else cell)
    return result


OPTIONS = [(name, row[1:]) for row in rows(section(1)) for name in re.findall(r"`([a-z-]+)`", row[0]) if "-" in name]
GATES = [(row[0].strip("`"), row[1:]) for row in rows(section(2)) if len(row) == 6]


@pytest.mark.parametrize(("option", "cells"), OPTIONS, ids=[name for name, _ in OPTIONS])
def test_an_option_has_its_stage_in_each_release(option: str, cells: list[str]) -> None:
    found = [kubelet((1, minor)).options[option] for minor in RELEASES]

    assert found == [cell.capitalize() for cell in filled(cells)]


@pytest.mark.parametrize(("name", "cells"), GATES, ids=[name for name, _ in GATES])
def test_a_gate_has_its_default_and_stage_in_each_release(name: str, cells: list[str]) -> None:
    for minor, cell in zip(RELEASES, cells, strict=True):
        gate = kubelet((1, minor)).gates.get(name)
        word, _, stage = cell.partition(", ")
        if word == "–":
            assert gate is None, minor
            continue
        assert gate is not None, minor
        assert (gate.default, gate.locked) == (word.startswith("on"), word.endswith("*")), minor
        if stage:
            assert gate.stage == stage, minor


def test_the_tables_are_whole() -> None:
    assert len(OPTIONS) == 8
    assert len(GATES) == 19


NEEDS = {
    "PodLevelResourceManagers": ("PodLevelResources",),
    "InPlacePodLevelResourcesVerticalScaling": (
        "InPlacePodVerticalScaling",
        "PodLevelResources",
        "NodeDeclaredFeatures",
    ),
    "DRAExtendedResource": ("DynamicResourceAllocation",),
    "InPlacePodVerticalScalingExclusiveCPUs": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling",),
}


@pytest.mark.parametrize("gate", NEEDS)
def test_a_gate_needs_others(gate: str) -> None:
    found = kubelet((1, 36)).needs[gate]

    assert set(found) == set(NEEDS[gate])


def test_in_135_exclusive_memory_needs_the_memory_manager_too() -> None:
    needs = kubelet((1, 35)).needs["InPlacePodVerticalScalingExclusiveMemory"]

    assert set(needs) == {"InPlacePodVerticalScaling", "MemoryManager"}


def refused(minor: int, *, machine: Machine | None = None, **settings: Any) -> str:
    """Return the words with which a kubelet does not start; empty: it starts."""
    config = KubeletConfig("restricted", cpu_manager_policy="static", **settings)
    try:
        node.start(Setup(machine or regular(nodes=1, cores=2), config, "ideal", kubelet((1, minor))))
    except StartError as error:
        return error.message
    return ""


AT_FAULT = "failed to merge global and in-flight KubeletConfiguration while setting defaults, error: "
NOT_ENABLED = (
    "new static policy error: CPU Manager Policy Beta-level Options not enabled, "
    'but option "strict-cpu-reservation" provided'
)
START: tuple[tuple[str, int, dict[str, Any], str], ...] = (
    (
        "2: a locked gate may be set to its default",
        34,
        {"feature_gates": {"CPUManagerPolicyOptions": True}},
        "",
    ),
    (
        "2: PodLevelResources off alone crashes 1.36",
        36,
        {"feature_gates": {"PodLevelResources": False}},
        AT_FAULT
        + "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: "
        + "[PodLevelResources]",
    ),
    (
        "2: both off start",
        36,
        {"feature_gates": {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False}},
        "",
    ),
    (
        "3.1: strict-cpu-reservation is stable in 1.35",
        35,
        {
            "cpu_manager_policy_options": {"strict-cpu-reservation": "true"},
            "feature_gates": {"CPUManagerPolicyBetaOptions": False},
        },
        "",
    ),
    (
        "3.1: and needs its gate before",
        34,
        {
            "cpu_manager_policy_options": {"strict-cpu-reservation": "true"},
            "feature_gates": {"CPUManagerPolicyBetaOptions": False},
        },
        NOT_ENABLED,
    ),
    (
        "3.1: full-pcpus-only is stable from 1.33",
        33,
        {
            "cpu_manager_policy_options": {"full-pcpus-only": "true"},
            "feature_gates": {"CPUManagerPolicyBetaOptions": False},
        },
        "",
    ),
    (
        "1: the text of an option whose stage is off, in 1.32",
        32,
        {
            "topology_manager_policy_options": {"max-allowable-numa-nodes": "9"},
            "feature_gates": {"TopologyManagerPolicyBetaOptions": False},
        },
        'Topology Manager Policy Beta-level Options not enabled, but option "max-allowable-numa-nodes" provided',
    ),
    (
        "3.3: the same in 1.33",
        33,
        {
            "topology_manager_policy_options": {"max-allowable-numa-nodes": "9"},
            "feature_gates": {"TopologyManagerPolicyBetaOptions": False},
        },
        'topology manager policy beta-level options not enabled, but option "max-allowable-numa-nodes" provided',
    ),
    (
        "3.3: no option is alpha or beta in 1.35",
        35,
        {
            "topology_manager_policy_options": {"max-allowable-numa-nodes": "9"},
            "feature_gates": {"TopologyManagerPolicyBetaOptions": False},
        },
        "",
    ),
)


@pytest.mark.parametrize(("minor", "settings", "text"), [case[1:] for case in START], ids=[case[0] for case in START])
def test_a_kubelet_starts_or_says_why_not(minor: int, settings: dict[str, Any], text: str) -> None:
    assert refused(minor, **settings) == text


CGROUP_V1 = (
    "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be "
    "removed in a future release"
)


@pytest.mark.parametrize(("minor", "own", "refuses"), [(34, None, False), (35, None, True), (36, None, True)])
def test_hosts_with_cgroup_v1_are_refused_from_135(minor: int, own: bool | None, refuses: bool) -> None:
    machine = regular(nodes=1, cores=2)._replace(cgroup_v1=True)

    assert refused(minor, machine=machine, fail_cgroup_v1=own) == (CGROUP_V1 if refuses else "")
    assert refused(minor, machine=machine, fail_cgroup_v1=False) == ""
    assert refused(minor, machine=machine, fail_cgroup_v1=True) == CGROUP_V1


def test_an_eviction_setting_that_is_merged_reserves_100_mi() -> None:
    """3.5: `evictionHard: {}` with mergeDefaultEvictionSettings reserves 100Mi of memory, from 1.33."""
    for merged, kept in ((True, 100 << 20), (False, 0)):
        config = KubeletConfig(eviction_hard={}, merge_default_eviction_settings=merged)
        machine = regular(nodes=1, cores=2, memory=GI)
        started, _ = node.start(Setup(machine, config, "kubelet", kubelet((1, 33))))
        left = allocatable(started.config, machine, started.reservation)["memory"]
        assert left.nano == (GI - kept) * 10**9


SENTENCE = 3
"""Blanks that a text has at least."""


def texts() -> list[str]:
    """Return what the page quotes of the kubelet's words."""
    body = PAGE.partition("\n## 9.")[0].replace("\n   ", " ").split("```")
    quoted = re.findall(r"`([^`\n]+)`", "".join(body[::2]))
    return [text for text in dict.fromkeys(quoted) if text.count(" ") >= SENTENCE and "{" not in text]


HELD_ABOVE = (CGROUP_V1, "Topology Manager Policy Beta-level Options …")
NEVER = ('topology manager policy alpha-level options not enabled, but option "x" provided',)
"""From 1.33, which has this text, no option of the Topology Manager is alpha."""


@cache
def recorded() -> str:
    """Return every text of some words in the recorded answers once, between quotation marks."""
    found: set[str] = set()
    for path in sorted((VECTORS / "versions").glob("*.gz")):
        strings = gzip.decompress(path.read_bytes()).decode().replace('\\"', "\0").split('"')
        found.update(string for string in strings if string.count(" ") >= SENTENCE)
    return '"'.join(sorted(found)).replace("\0", '"')


@pytest.mark.parametrize("text", [text for text in texts() if text not in (*HELD_ABOVE, *NEVER)])
def test_a_text_of_the_rules_stands_in_a_recorded_answer(text: str) -> None:
    """Those answers are matched word for word by the conformance test."""
    form = re.escape(text.strip("…")).replace('"x"', '"[a-z-]+"').replace("…", ".*")
    for placeholder in ("NAMES", "NAME", "CAUSE", r"\bR\b"):
        form = re.sub(placeholder, '[^"]+?', form)
    assert re.search(form, recorded()), text


def test_no_option_of_the_topology_manager_is_alpha_where_the_text_for_it_is_new() -> None:
    for minor in RELEASES[1:]:
        assert "alpha" not in kubelet((1, minor)).levels("topology").values()
