"""What changed from release to release, row by row and as a whole (docs/rules/topology-manager.md 13)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import numalign
from numalign.errors import InputError, StartError
from numalign.kubelet import node
from numalign.kubelet.admission import admit_in_order, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.node import AdmitResult
from numalign.kubelet.releases import NEWEST, NEWEST_TEXT, OLDEST, PUBLISHED
from numalign.kubelet.releases.early_merge import EarlyMerge, as_given
from numalign.kubelet.releases.release import Change, version_text
from numalign.kubelet.releases.table import (
    all_changes,
    between,
    exact_kubelets,
    first_with_option,
    first_with_setting,
    head_text,
    is_history,
    known_kubelets,
    kubelet,
    parse_version,
    without,
)
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine, NUMANode, Unit
from tests.conftest import VECTORS

GIB = 1 << 30
ALL_OPTIONS = {"CPUManagerPolicyAlphaOptions": True, "TopologyManagerPolicyAlphaOptions": True}


def machine(nodes: int = 2, cpus: int = 4) -> Machine:
    """Nodes of four CPUs, two GPUs, a NIC and a disk each."""
    own = [((1 << cpus) - 1) << cpus * number for number in range(nodes)]
    return Machine(
        "m",
        tuple(NUMANode(number, own[number], 4 * GIB, distances=(10,) * nodes) for number in range(nodes)),
        tuple(Unit(number, own[number]) for number in range(nodes)),
        tuple(1 << cpu for cpu in range(cpus * nodes)),
        devices={
            "v/gpu": tuple(Device(f"g{number}", (number // 2,)) for number in range(2 * nodes)),
            "v/nic": tuple(Device(f"n{number}", (number,)) for number in range(nodes)),
            "v/disk": tuple(Device(f"d{number}", (number,)) for number in range(nodes)),
        },
    )


def config(policy: str = "restricted", **more: Any) -> KubeletConfig:
    return KubeletConfig(policy, cpu_manager_policy="static", eviction_hard={}, **more)


def admit(version: str, containers: list[dict[str, Any]], policy: str = "restricted", nodes: int = 2) -> AdmitResult:
    spec: dict[str, Any] = {"initContainers": [], "containers": []}
    for number, one in enumerate(containers):
        limits = {"cpu": "1", "memory": "1Mi", **{key: one[key] for key in one if key not in ("init", "sidecar")}}
        kind = "initContainers" if "init" in one or "sidecar" in one else "containers"
        restart = {"restartPolicy": "Always"} if "sidecar" in one else {}
        spec[kind].append({"name": f"c{number}", "resources": {"limits": limits}, **restart})
    pod = read_pod({"metadata": {"name": "p", "uid": "p"}, "spec": spec})
    setup = Setup(machine(nodes), config(policy), "ideal", kubelet(parse_version(version)))
    session = open_session(setup, fit_check=False)
    (outcome,) = admit_in_order(session, [pod])
    return outcome.result


def name(change: Change) -> str:
    return f"{change.topic} since {version_text(change.since)}"


class TestTable:
    def test_changes_stand_in_order(self) -> None:
        assert list(all_changes()) == sorted(all_changes(), key=lambda change: change.since)

    def test_all_changes_up_to_132_give_the_kubelet_that_the_rules_describe(self) -> None:
        assert without((1, 32), ()) == V1_32 == kubelet((1, 32))

    @pytest.mark.parametrize("change", all_changes(), ids=name)
    def test_a_change_makes_a_difference_at_its_release(self, change: Change) -> None:
        assert without(change.since, [change]) != kubelet(change.since)

    @pytest.mark.parametrize("change", all_changes(), ids=name)
    def test_before_its_release_a_change_makes_none(self, change: Change) -> None:
        before = (1, change.since[1] - 1)
        assert without(before, [change]) == kubelet(before)

    @pytest.mark.parametrize("minor", range(OLDEST[1], PUBLISHED[1] + 1))
    def test_a_kubelet_has_its_version(self, minor: int) -> None:
        assert kubelet((1, minor)).version == without((1, minor), ()).version == (1, minor)

    def test_exact_are_the_releases_that_were_recorded(self) -> None:
        """Those of `versions/` and 1.32, of which the other recordings are."""
        files = [path.name for path in (VECTORS / "versions").iterdir()]
        recorded = {(1, 32)} | {(1, int(found[1])) for name in files if (found := re.search(r"-1\.(3[2-6])\.", name))}

        assert [one.version for one in exact_kubelets()] == sorted(recorded)
        assert [one.version for one in known_kubelets()] == [*sorted(recorded), PUBLISHED]
        assert [is_history(version) for version in (OLDEST, (1, 31), (1, 32))] == [True, True, False]

    def test_what_was_not_recorded_is_said_to_be_concluded_or_read(self) -> None:
        assert {change.since for change in all_changes() if change.sure} == {PUBLISHED}
        assert [name(change) for change in between(NEWEST, PUBLISHED) if not change.sure] == []

    def test_whom_a_change_concerns_is_said_since_133(self) -> None:
        assert {change.since for change in all_changes() if change.concerns == "anybody"} == {
            (1, minor) for minor in range(17, 33) if minor != 30
        }

    def test_who_is_worse_off_is_told_what_to_do(self) -> None:
        assert [name(change) for change in all_changes() if change.remedy] == [
            "CPUs from an uncore cache since 1.34",
            "gate PodLevelResources since 1.34",
            "pinning of pods with pod-level resources since 1.34",
            "restart policies of containers since 1.35",
            "setting failCgroupV1 since 1.35",
            "device hints since 1.36",
            "pinning with PodLevelResources off since 1.36",
            "distribute-cpus-across-numa with align-by-socket since 1.37",
            "pod-level defaults since 1.37",
            "feature gates that need others since 1.37",
        ]

    def test_a_release_is_written(self) -> None:
        assert version_text(NEWEST) == NEWEST_TEXT
        assert head_text(NEWEST) == NEWEST_TEXT
        assert head_text(PUBLISHED) == f"{version_text(PUBLISHED)} (from published changes, not recorded)"

    def test_a_setting_has_a_first_release(self) -> None:
        firsts = {name: first_with_setting(name) for name in kubelet(PUBLISHED).settings}
        assert {*firsts.values()} <= {OLDEST, *(change.since for change in all_changes())}
        for setting, first in firsts.items():
            having = [minor for minor in range(16, 38) if setting in kubelet((1, minor)).settings]
            assert having == list(range(first[1], 38))

    def test_an_upgrade_brings_the_changes_between(self) -> None:
        assert [change.topic for change in between((1, 23), (1, 24))] == ["preferred hints"]
        assert not between((1, 24), (1, 24))

    def test_an_option_has_a_first_release(self) -> None:
        assert first_with_option("strict-cpu-reservation") == (1, 32)
        assert first_with_option("full-pcpus-only") == (1, 22)
        assert first_with_option("full-cpus-only") is None

    @pytest.mark.parametrize("text", ["1.23", "v1.23", "v1.23.17", " 1.23 "])
    def test_versions_are_read(self, text: str) -> None:
        assert parse_version(text) == (1, 23)

    @pytest.mark.parametrize("text", ["1.15", "23", "1.x", "", "2.20", "1.23-rc", "1.٢٣"])
    def test_other_versions_are_refused(self, text: str) -> None:
        with pytest.raises(InputError, match=rf"expected a version from 1\.16 to 1\.{PUBLISHED[1]}"):
            parse_version(text)

    def test_a_release_that_is_only_announced_is_refused_with_those_that_are_exact(self) -> None:
        next_one = f"1.{PUBLISHED[1] + 1}"
        with pytest.raises(InputError, match=f"kubelet {next_one} is not known yet; allowed"):
            parse_version(next_one)

    def test_the_newest_release_stands_in_one_place(self) -> None:
        """Rules say since when they hold; nothing but the package says up to when, or which release is the newest."""
        said = re.compile(rf"\b(to|or) {re.escape(NEWEST_TEXT)}\b|in {re.escape(NEWEST_TEXT)}\)|NEWEST\w*:? .*= ")
        folder = Path(numalign.__file__).parent
        named = {
            f"{path.relative_to(folder)}:{number}: {line.strip()}"
            for path in folder.rglob("*.py")
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if said.search(line) and path.parent.name != "releases"
        }
        assert named == set()


NEEDS_GATE = (
    "topology manager policy options map[prefer-closest-numa-nodes:true] require feature gates "
    '"TopologyManagerPolicyOptions" enabled'
)


class TestStart:
    CASES = (
        ("1.19", config(topology_manager_scope="pod"), "kubelet 1.19 has no topologyManagerScope: it came with 1.20"),
        ("1.20", config(memory_manager_policy="Static"), "kubelet 1.20 has no memoryManagerPolicy: it came with 1.21"),
        (
            "1.21",
            config(cpu_manager_policy_options={"full-pcpus-only": "true"}),
            "kubelet 1.21 has no cpuManagerPolicyOptions: it came with 1.22",
        ),
        (
            "1.25",
            config(topology_manager_policy_options={"prefer-closest-numa-nodes": "true"}),
            "kubelet 1.25 has no topologyManagerPolicyOptions: it came with 1.26",
        ),
        (
            "1.27",
            config(topology_manager_policy_options={"prefer-closest-numa-nodes": "true"}),
            NEEDS_GATE,
        ),
        (
            "1.30",
            config(topology_manager_policy_options={"max-allowable-numa-nodes": "16"}),
            'unknown Topology Manager Policy option: "max-allowable-numa-nodes"',
        ),
        (
            "1.31",
            config(cpu_manager_policy_options={"strict-cpu-reservation": "true"}, feature_gates=ALL_OPTIONS),
            'new static policy error: unknown CPU Manager Policy option: "strict-cpu-reservation"',
        ),
    )

    @pytest.mark.parametrize(("version", "given", "text"), CASES, ids=[f"{case[0]}: {case[2]}" for case in CASES])
    def test_refuses(self, version: str, given: KubeletConfig, text: str) -> None:
        with pytest.raises(StartError) as error:
            node.start(Setup(machine(), given, "ideal", kubelet(parse_version(version))))
        assert error.value.message == text

    def test_eight_nodes_are_the_limit_until_an_option_raises_it(self) -> None:
        raised = config(topology_manager_policy_options={"max-allowable-numa-nodes": "16"})

        for given, version in ((config(), "1.30"), (config(), "1.32")):
            with pytest.raises(StartError, match="unsupported on machines with more than 8 NUMA Nodes"):
                node.start(Setup(machine(9, 1), given, "ideal", kubelet(parse_version(version))))
        node.start(Setup(machine(9, 1), raised, "ideal", kubelet((1, 31))))


class TestAdmission:
    """One pod for each difference that an admission can show."""

    def test_124_no_longer_mixes_masks(self) -> None:
        """Six CPUs need two nodes of four, one GPU needs one: rule 17, example 4."""
        old, new = (admit(version, [{"cpu": "6", "v/gpu": "1"}]) for version in ("1.23", "1.24"))

        assert (old.admit, new.admit) == (True, False)
        assert new.reason == "TopologyAffinityError"

    def test_118_allocates_before_it_asks_for_the_next_container(self) -> None:
        """Each container fits a node alone, the third only where the first two are not."""
        three = [{"cpu": "3"}, {"cpu": "3"}, {"cpu": "2"}]
        old, new = (admit(version, three) for version in ("1.17", "1.18"))

        assert [str(hint.numa_affinity) for hint in old.hints.values()] == ["1", "1", "1"], "all on the same state"
        assert (old.admit, new.admit, new.container) == (True, False, "c2")

    def test_before_118_an_allocation_that_fails_comes_after_all_hints(self) -> None:
        found = admit("1.17", [{"v/gpu": "1"}, {"v/gpu": "9"}], "best-effort")

        assert (found.stage, found.container, list(found.hints)) == ("allocate", "c1", ["c0", "c1"])
        assert [one.container for one in found.decisions] == ["c0", "c1"]

    def test_before_118_a_kubelet_that_hangs_stores_nothing(self) -> None:
        """Four resources with a hint for each set of eight nodes: 255^4 combinations."""
        found = admit("1.17", [{"v/gpu": "1", "v/nic": "1", "v/disk": "1"}], "best-effort", nodes=8)

        assert (found.stage, found.container, found.hints, found.decisions) == ("hang", None, {}, ())

    def test_118_gives_the_refusal_its_words(self) -> None:
        old, new = (
            admit(version, [{"v/gpu": "3", "cpu": "1"}] * 2, "single-numa-node") for version in ("1.17", "1.18")
        )

        assert (old.reason, old.message) == (
            "Topology Affinity Error",
            "Resources cannot be allocated with Topology Locality",
        )
        assert (new.reason, new.message) == (
            "TopologyAffinityError",
            "Resources cannot be allocated with Topology locality",
        )
        assert not old.hints

    def test_119_counts_what_init_containers_leave(self) -> None:
        """Both GPUs of each node go to init containers; a hint without them has nothing to offer."""
        containers = [{"v/gpu": "4", "init": ""}, {"v/gpu": "4"}]
        old, new = (admit(version, containers, "best-effort") for version in ("1.18", "1.19"))

        assert [str(hint.preferred) for hint in old.hints.values()] == ["True", "False"]
        assert [str(hint.preferred) for hint in new.hints.values()] == ["True", "True"]

    def test_128_knows_sidecars(self) -> None:
        containers = [{"v/gpu": "1", "sidecar": ""}, {"v/gpu": "4"}]
        old, new = (admit(version, containers, "best-effort") for version in ("1.27", "1.28"))

        assert (old.admit, new.admit) == (True, False)

    @pytest.mark.parametrize(("version", "admitted"), [("1.16", True), ("1.17", False)])
    def test_the_first_alpha_asks_for_guaranteed_pods_only(self, version: str, admitted: bool) -> None:
        """A BestEffort pod whose GPU and NIC have no common node passes without a hint."""
        apart = machine()._replace(devices={"v/gpu": (Device("g0", (0,)),), "v/nic": (Device("n0", (1,)),)})
        limits = {"limits": {"v/gpu": "1", "v/nic": "1"}}
        pod = read_pod(
            {"metadata": {"name": "p", "uid": "p"}, "spec": {"containers": [{"name": "c", "resources": limits}]}}
        )
        setup = Setup(apart, config(), "ideal", kubelet(parse_version(version)))
        (outcome,) = admit_in_order(open_session(setup, fit_check=False), [pod])
        assert outcome.admit is admitted
        assert bool(outcome.result.decisions) is not admitted

    def test_the_first_alpha_merges_devices_by_itself(self) -> None:
        """GPU and NIC without a common node: inside the Device Manager nothing is left, so it cannot fit.

        As separate lists they would merge to a preferred hint of no node, which the first alpha admits.
        """
        apart = machine()._replace(devices={"v/gpu": (Device("g0", (0,)),), "v/nic": (Device("n0", (1,)),)})
        limits = {"limits": {"cpu": "1", "memory": "1Mi", "v/gpu": "1", "v/nic": "1"}}
        pod = read_pod(
            {"metadata": {"name": "p", "uid": "p"}, "spec": {"containers": [{"name": "c", "resources": limits}]}}
        )
        first = kubelet((1, 16))
        assert isinstance(first.merging.merge, EarlyMerge)
        separate = first.merging._replace(merge=replace(first.merging.merge, gather=as_given))
        admitted = {}
        for merged, of in ((True, first), (False, first._replace(merging=separate))):
            session = open_session(Setup(apart, config(), "ideal", of), fit_check=False)
            (outcome,) = admit_in_order(session, [pod])
            admitted[merged] = outcome.admit

        assert admitted == {True: False, False: True}
