"""What `lint` advises about claims is tried: a claim that follows the advice gets its devices where drivers publish."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from numalign.dra import lint
from numalign.dra.attempt import Attempt
from numalign.dra.cel.device import most_cost
from numalign.dra.features import features
from numalign.dra.lint import lint_claim
from numalign.dra.pools import published
from numalign.dra.publish.slices import Options, publish
from numalign.dra.reading import read_claim
from numalign.dra.usage import Usage
from numalign.dra.values import Claim, Node
from numalign.dra.writing import written_class, written_slice
from numalign.sources.machine.loading import load_machine
from tests.cli.running import in_process
from tests.dra.objects import NUMA, claim, request

HGX = load_machine("hgx-h100").machine
DRIVERS: dict[str, tuple[str, ...]] = {
    "dra.cpu": (),
    "dra.memory": (),
    "dra.net": ("mellanox.com/ib",),
    "gpu.nvidia.com": ("nvidia.com/gpu",),
}
CASES = [
    ("four GPUs", [("gpu.nvidia.com", 4)], "dra.net/numaNode"),
    ("four GPUs and a NUMA node's CPUs", [("gpu.nvidia.com", 4), ("dra.cpu", 1)], "dra.net/numaNode"),
    ("GPUs, CPUs and a root", [("gpu.nvidia.com", 2), ("dra.cpu", 1)], "resource.kubernetes.io/pcieRoot"),
    ("CPUs and a NIC", [("dra.cpu", 1), ("dra.net", 1)], "dra.cpu/numaNodeID"),
    ("memory and CPUs", [("dra.memory", 1), ("dra.cpu", 1)], "dra.memory/numaNode"),
]


def matching(asked: list[tuple[str, int]], name: str) -> Claim:
    requests = [request(f"r{place}", class_, count) for place, (class_, count) in enumerate(asked)]
    return read_claim(claim("c", *requests, match=name))


AMD = load_machine("mi355x").machine


def test_without_a_common_name_selectors_in_each_request_choose_one_numa_node() -> None:
    made = publish(AMD, {"dra.cpu": (), "gpu.amd.com": ("amd.com/gpu",)}, Options())
    classes = {one.name: one for one in made.classes}
    attempt = Attempt(
        published(made.slices), classes, Usage(), features(), Node(made.slices[0].placement.node_name or "")
    )
    asked = [("gpu.amd.com", 1), ("dra.cpu", 1)]
    [finding] = lint_claim(matching(asked, "dra.net/numaNode"), classes)
    assert finding.advice.startswith("select devices with a selector in each request")
    assert not attempt.allocate([matching(asked, "dra.net/numaNode")]).allocated
    for numa in range(2):
        chosen = {"gpu.amd.com": f"['gpu.amd.com'].numaNode == {numa}", "dra.cpu": f"['dra.cpu'].numaNodeID == {numa}"}
        requests = [
            request(f"r{place}", class_, selectors=[{"cel": {"expression": f"device.attributes{chosen[class_]}"}}])
            for place, (class_, _) in enumerate(asked)
        ]
        assert attempt.allocate([read_claim(claim("c", *requests))]).allocated


def selecting(expression: str) -> Claim:
    return read_claim(claim("c", request("r", "gpu.nvidia.com", selectors=[{"cel": {"expression": expression}}])))


NAME = "device.attributes['gpu.nvidia.com'].productName"


def test_a_selector_that_follows_the_advice_is_cheap_enough() -> None:
    """`claim-selector`: ==, startsWith, contains, and the attribute itself in place of a pattern over a default."""
    costly = "device.attributes['gpu.nvidia.com'][?'productName'].orValue('').matches('(a|b)*c{1,40}')"
    [finding] = lint_claim(selecting(costly), {})
    assert finding.code == "claim-selector"
    for advised in (f"{NAME} == 'x'", f"{NAME}.startsWith('x')", f"{NAME}.contains('x')"):
        assert list(lint_claim(selecting(advised), {})) == []


def test_what_costs_the_limit_is_cheap_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = most_cost(f"{NAME} == 'x'")
    for limit, codes in ((costs, []), (costs - 1, ["claim-selector"])):
        monkeypatch.setattr(lint, "COST_LIMIT", limit)
        assert [one.code for one in lint_claim(selecting(f"{NAME} == 'x'"), {})] == codes


API = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}


def of_cpus(name: str, cpus: int, class_: str = "dra.cpu") -> dict[str, Any]:
    capacity = {"requests": {"dra.cpu/cpu": str(cpus)}}
    return {**API, **claim(name, request("r", class_, capacity=capacity))}


def claimant(*containers: tuple[str, str | None, str], entries: tuple[str, ...] = ("a",)) -> dict[str, Any]:
    """A pod of (container, CPUs, entry of its claims)."""
    listed: list[dict[str, Any]] = []
    for name, cpus, entry in containers:
        amounts = {} if cpus is None else {"cpu": cpus, "memory": "1Gi"}
        listed.append({"name": name, "resources": {"limits": amounts, "claims": [{"name": entry}]}})
    spec = {"containers": listed, "resourceClaims": [{"name": one, "resourceClaimName": one} for one in entries]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def linted(folder: Path, *objects: object, slices: bool = False) -> dict[str, str]:
    """Code -> advice."""
    (folder / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    made = publish(HGX, DRIVERS, Options())
    written = [*map(written_slice, made.slices), *map(written_class, made.classes)]
    (folder / "slices.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": written}))
    more = ("--slices", str(folder / "slices.json")) if slices else ()
    pods = in_process("lint", str(folder / "all.json"), "-o", "json", *more).json["pods"]
    return {one["code"]: one["advice"] for each in pods for one in each["findings"]}


FOLLOWED: list[tuple[str, str, list[dict[str, Any]], list[dict[str, Any]]]] = [
    (
        "claim-cpus",
        "set requests.cpu and limits.cpu to 8",
        [of_cpus("a", 8), claimant(("c", None, "a"))],
        [of_cpus("a", 8), claimant(("c", "8", "a"))],
    ),
    (
        "claim-cpus",
        "one claim for each container",
        [of_cpus("a", 8), claimant(("c", "8", "a"), ("d", "8", "a"))],
        [of_cpus("a", 8), of_cpus("b", 8), claimant(("c", "8", "a"), ("d", "8", "b"), entries=("a", "b"))],
    ),
    (
        "claim-class",
        "similar: dra.cpu",
        [of_cpus("a", 8, "dra.cpus"), claimant(("c", "8", "a"))],
        [of_cpus("a", 8), claimant(("c", "8", "a"))],
    ),
    (
        "claim-absent",
        "create it",
        [claimant(("c", "8", "a"))],
        [of_cpus("a", 8), claimant(("c", "8", "a"))],
    ),
]


@pytest.mark.parametrize(("code", "advice", "before", "after"), FOLLOWED, ids=[row[1] for row in FOLLOWED])
def test_a_finding_is_gone_where_its_advice_is_followed(
    tmp_path: Path, code: str, advice: str, before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    assert linted(tmp_path, *before, slices=True)[code].startswith(advice)
    assert code not in linted(tmp_path, *after, slices=True)


def test_cpus_of_a_claim_are_beside_its_devices_where_the_advice_for_claims_is_followed(tmp_path: Path) -> None:
    """`dra-claim`: claim the CPUs too, with matchAttribute; admit --slices says that both are together."""
    gpu = request("gpu", "gpu.nvidia.com", 2)
    alone = {**API, **claim("a", gpu)}
    capacity = {"requests": {"dra.cpu/cpu": "8"}}
    both = {**API, **claim("a", gpu, request("cpus", "dra.cpu", capacity=capacity), match=NUMA)}
    assert linted(tmp_path, alone, claimant(("c", "8", "a")), slices=True)["dra-claim"].startswith("claim the CPUs too")

    linted(tmp_path, both, claimant(("c", "8", "a")), slices=True)
    arguments = (str(tmp_path / "all.json"), "-m", "hgx-h100", "--slices", str(tmp_path / "slices.json"))
    done = in_process("admit", *arguments, "--cpu-manager-policy", "none", "-o", "json")
    [held] = done.json["claims"]["pods"]
    assert [one["verdict"] for one in held["containers"]] == ["aligned"]


@pytest.mark.parametrize(("asked", "wrong"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_claim_that_follows_the_advice_gets_its_devices(asked: list[tuple[str, int]], wrong: str) -> None:
    made = publish(HGX, DRIVERS, Options())
    classes = {one.name: one for one in made.classes}
    node = Node(made.slices[0].placement.node_name or "")
    attempt = Attempt(published(made.slices), classes, Usage(), features(), node)
    [finding] = lint_claim(matching(asked, wrong), classes)
    assert not attempt.allocate([matching(asked, wrong)]).allocated
    advised = re.match(r"match (\S+), ", finding.advice)
    assert advised is not None
    assert attempt.allocate([matching(asked, advised[1])]).allocated
