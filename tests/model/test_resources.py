"""Names of resources: kinds, order and units."""

from __future__ import annotations

import pytest

from numalign.model.resources import hugepages, in_order, is_bytes, is_extended, is_memory, page_size, whole


@pytest.mark.parametrize(
    ("name", "extended"),
    [
        ("nvidia.com/gpu", True),
        ("gpu", False),
        ("kubernetes.io/x", False),
        ("requests.nvidia.com/gpu", False),
        ("a" * 253 + "/x", False),
        ("x.io/" + "a" * 64, False),
        ("X.io/a", False),
    ],
)
def test_extended_resources_have_a_domain_that_is_not_kubernetes(name: str, extended: bool) -> None:
    assert is_extended(name) is extended


def test_native_resources_come_first_in_the_kubelets_order() -> None:
    mixed = ["x.io/b", "hugepages-2Mi", "ephemeral-storage", "memory", "hugepages-1Gi", "cpu", "a.io/z"]

    assert in_order(mixed) == [
        "cpu",
        "memory",
        "ephemeral-storage",
        "a.io/z",
        "hugepages-1Gi",
        "hugepages-2Mi",
        "x.io/b",
    ]


def test_a_huge_page_resource_names_its_page() -> None:
    assert page_size(hugepages("2Mi")) == "2Mi"


@pytest.mark.parametrize(
    ("name", "memory", "counted_in_bytes"),
    [
        ("memory", True, True),
        ("hugepages-1Gi", True, True),
        ("ephemeral-storage", False, True),
        ("cpu", False, False),
        ("nvidia.com/gpu", False, False),
    ],
)
def test_memory_and_what_is_counted_in_bytes(name: str, memory: bool, counted_in_bytes: bool) -> None:
    assert (is_memory(name), is_bytes(name)) == (memory, counted_in_bytes)


@pytest.mark.parametrize(
    ("resource", "nano", "units"),
    [("cpu", 1, 1), ("cpu", 1_500_000_000, 1500), ("memory", 1, 1), ("memory", 2_000_000_001, 3)],
)
def test_amounts_are_rounded_up_to_milli_cpus_or_whole_units(resource: str, nano: int, units: int) -> None:
    assert whole(resource, nano) == units
