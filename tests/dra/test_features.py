"""Which allocator a release with its gates takes, and what it may use (docs/rules/dra.md 2)."""

from __future__ import annotations

import pytest

from numalign.dra.features import GATES, RELEASES, Features, asked_features, features, newest_of
from numalign.dra.values import Node
from numalign.errors import InputError
from numalign.kubelet.releases import NEWEST_TEXT

ALPHA = {"DRAConsumableCapacity": True}
COPIES = [
    ("1.34 counts the status as a feature of its own", "1.34", {}, "experimental"),
    ("1.34 without the status", "1.34", {"DRAResourceClaimDeviceStatus": False}, "incubating"),
    (
        "1.34 without the status, with capacity",
        "1.34",
        {"DRAResourceClaimDeviceStatus": False, **ALPHA},
        "experimental",
    ),
    (
        "1.34 without the status, with binding conditions",
        "1.34",
        {"DRAResourceClaimDeviceStatus": False, "DRADeviceBindingConditions": True},
        "experimental",
    ),
    ("1.35 by itself", "1.35", {}, "incubating"),
    ("1.35 with capacity", "1.35", ALPHA, "experimental"),
    ("1.35 with binding conditions", "1.35", {"DRADeviceBindingConditions": True}, "experimental"),
    (
        "1.35 with binding conditions that the status does not carry",
        "1.35",
        {"DRADeviceBindingConditions": True, "DRAResourceClaimDeviceStatus": False},
        "incubating",
    ),
    ("1.36 by itself", "1.36", {}, "incubating"),
    ("1.36 with lists in selectors", "1.36", {"DRAListTypeAttributes": True}, "incubating"),
    ("1.36 without capacity", "1.36", {"DRAConsumableCapacity": False}, "incubating"),
    ("1.36 without binding conditions", "1.36", {"DRADeviceBindingConditions": False}, "incubating"),
    (
        "1.36 without both",
        "1.36",
        {"DRADeviceBindingConditions": False, "DRAConsumableCapacity": False},
        "stable",
    ),
    (
        "1.36 without capacity and the status, which binding conditions need",
        "1.36",
        {"DRAResourceClaimDeviceStatus": False, "DRAConsumableCapacity": False},
        "stable",
    ),
]


@pytest.mark.parametrize(("release", "gates", "copy"), [row[1:] for row in COPIES], ids=[row[0] for row in COPIES])
def test_a_release_takes_a_copy_of_the_allocator(release: str, gates: dict[str, bool], copy: str) -> None:
    found = features(release, gates)

    assert found.copy == copy
    assert found.is_ordered == (release == "1.36" and copy != "stable")


def test_lists_in_constraints_are_for_the_experimental_allocator_of_the_newest_release() -> None:
    assert Features(list_constraints=True).copy == "experimental"
    assert Features(list_constraints=True).is_ordered


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("release", RELEASES)
def test_a_gate_turns_its_feature_on_and_off(release: str, gate: str) -> None:
    field = GATES[gate]

    assert getattr(features(release, {gate: True}), field) is True
    assert getattr(features(release, {gate: False}), field) is False


ON = [
    ("1.34", {"admin_access", "prioritized_list", "status"}),
    ("1.35", {"admin_access", "prioritized_list", "status"}),
    (
        "1.36",
        {"admin_access", "prioritized_list", "partitionable", "taints", "binding", "status", "consumable", "extended"},
    ),
]


@pytest.mark.parametrize(("release", "on"), ON, ids=[row[0] for row in ON])
def test_what_is_on_by_default(release: str, on: set[str]) -> None:
    found = features(release)

    assert {field for field in GATES.values() if getattr(found, field)} == on
    assert found.release == release
    assert not found.list_constraints


def test_a_gate_of_something_else_changes_nothing() -> None:
    assert features("1.36", {"MemoryQoS": True}) == features()


def test_a_release_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError):
        features("1.33")


def test_a_release_is_asked_for_or_the_newest() -> None:
    assert asked_features("1.34", "") == features("1.34", {})
    assert asked_features(None, "") == features(NEWEST_TEXT, {})


def test_gates_are_read_as_a_scheduler_reads_them() -> None:
    asked = asked_features("1.34", "DRAConsumableCapacity=true, DRAAdminAccess=false,,MemoryQoS=true")
    assert asked == features("1.34", {"DRAConsumableCapacity": True, "DRAAdminAccess": False})


@pytest.mark.parametrize(
    ("release", "gates", "said"),
    [
        ("1.33", "", "--kubelet-version: expected a scheduler of 1.34, 1.35, 1.36"),
        (None, "DRAAdminAccess=yes", '--feature-gates: expected NAME=true or NAME=false, got "DRAAdminAccess=yes"'),
        (None, "DRAAdminAccess", "--feature-gates: expected NAME=true or NAME=false"),
    ],
)
def test_what_a_scheduler_does_not_know_is_an_error(release: str | None, gates: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        asked_features(release, gates)
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("named", "newest"),
    [
        (["v1.34.2", "v1.35.0"], "1.35"),
        (["v1.35.0", "v1.34.2"], "1.35"),
        (["v1.34.2-gke.100", ""], "1.34"),
        (["v1.99.0", "1.34"], "1.34"),
        (["v1.99.0", "latest"], None),
        ([], None),
    ],
)
def test_a_scheduler_is_as_new_as_the_newest_kubelet_that_is_known(named: list[str], newest: str | None) -> None:
    assert newest_of([Node(f"n{place}", release=release) for place, release in enumerate(named)]) == newest
