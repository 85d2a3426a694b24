"""From configuration to reservation (docs/rules/kubelet-files.md 33-35, 38)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.start.reservation import (
    Amount,
    Reservation,
    add,
    check_capacity,
    inner_form,
    readable_reservation,
    reserve,
)
from numalign.model import cpuset, quantity
from numalign.model.gotext import ConversionError, parse_bool, parse_int, quote
from numalign.model.machine import Machine
from tests.kubelet.regular import GI, regular

MACHINE = regular(nodes=2, cores=4, threads=2, memory=32 * GI)
"""16 CPUs, 64Gi: the machine of the rule's examples."""

EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "nothing set": ({}, {"memory": "100Mi"}),
    "kube reserved": ({"kube_reserved": {"cpu": "1500m", "memory": "1948Mi"}}, {"cpu": "1500m", "memory": "2Gi"}),
    "an explicit set replaces cpu": (
        {"kube_reserved": {"cpu": "4"}, "reserved_system_cpus": "0,8"},
        {"cpu": "2", "memory": "100Mi"},
    ),
    "evictionHard replaces the defaults": (
        {"kube_reserved": {"memory": "1Gi"}, "eviction_hard": {"nodefs.available": "10%"}},
        {"memory": "1Gi"},
    ),
    "a percentage in 32-bit float": (
        {"kube_reserved": {"memory": "2Gi"}, "eviction_hard": {"memory.available": "5%"}},
        {"memory": "5583457536"},
    ),
    "a decimal addend first": (
        {"system_reserved": {"memory": "500M"}, "kube_reserved": {"memory": "500M"}},
        {"memory": "1104857600"},
    ),
    "5% of 64Gi": ({"eviction_hard": {"memory.available": "5%"}}, {"memory": "3435973888"}),
    "the least threshold": ({"eviction_hard": {"memory.available": "1n"}}, {"memory": "1n"}),
    "0% is no threshold": ({"eviction_hard": {"memory.available": "0%"}}, {}),
    "100% is no threshold": ({"eviction_hard": {"memory.available": "100%"}}, {}),
    "0.0% is a threshold of nothing": ({"eviction_hard": {"memory.available": "0.0%"}}, {}),
    "100.0% is a threshold of all": ({"eviction_hard": {"memory.available": "100.0%"}}, {"memory": "64Gi"}),
    "what is no number is the least one": ({"eviction_hard": {"memory.available": "nan%"}}, {"memory": "-8Ei"}),
    "1e1% is 10%": ({"eviction_hard": {"memory.available": "1e1%"}}, {"memory": "6871947776"}),
    "empty evictionHard": ({"eviction_hard": {}}, {}),
    "storage is not reserved on an unknown disk": (
        {"kube_reserved": {"ephemeral-storage": "1Gi"}},
        {"memory": "100Mi"},
    ),
}


def reserved(config: KubeletConfig, machine: Machine) -> Reservation:
    return reserve(config, machine, cpuset.parse(config.reserved_system_cpus))


@pytest.mark.parametrize(("given_settings", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_reservation(given_settings: dict[str, Any], expected: dict[str, str]) -> None:
    total = reserved(KubeletConfig(**given_settings), MACHINE).total
    assert {resource: quantity.canonical(amount.quantity) for resource, amount in total.items()} == expected


REGEX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "huge pages": (
        {"system_reserved": {"hugepages-2Mi": "1Gi"}},
        '--system-reserved value failed to parse: cannot reserve "hugepages-2Mi" resource',
    ),
    "negative": (
        {"kube_reserved": {"cpu": "-1"}},
        '--kube-reserved value failed to parse: resource quantity for "cpu" cannot be negative: -1',
    ),
    "negative, the least": (
        {"kube_reserved": {"cpu": "-1n"}},
        '--kube-reserved value failed to parse: resource quantity for "cpu" cannot be negative: -1n',
    ),
    "unreadable": (
        {"system_reserved": {"cpu": "abc"}},
        f'--system-reserved value failed to parse: failed to parse quantity "abc" for "cpu" resource: {REGEX}',
    ),
    "kube before system": (
        {"system_reserved": {"gpu": "1"}, "kube_reserved": {"nic": "1"}},
        '--kube-reserved value failed to parse: cannot reserve "nic" resource',
    ),
    "the first by its name": (
        {"kube_reserved": {"nic": "1", "gpu": "1"}},
        '--kube-reserved value failed to parse: cannot reserve "gpu" resource',
    ),
    "the first signal by its name": (
        {"eviction_hard": {"nodefs.total": "1", "foo": "1"}},
        "unsupported eviction signal foo",
    ),
    "an unknown signal": ({"eviction_hard": {"foo": "1"}}, "unsupported eviction signal foo"),
    "a threshold of zero": (
        {"eviction_hard": {"memory.available": "0"}},
        "eviction threshold memory.available must be positive: 0",
    ),
    "a negative threshold, canonical": (
        {"eviction_hard": {"pid.available": "-1024"}},
        "eviction threshold pid.available must be positive: -1024",
    ),
    "an unreadable threshold": ({"eviction_hard": {"memory.available": "x"}}, REGEX),
    "a blank before the percent sign": (
        {"eviction_hard": {"memory.available": "5 %"}},
        'strconv.ParseFloat: parsing "5 ": invalid syntax',
    ),
    "a percentage too big to read": (
        {"eviction_hard": {"memory.available": "1e40%"}},
        'strconv.ParseFloat: parsing "1e40": value out of range',
    ),
    "more than all": (
        {"eviction_hard": {"memory.available": "101%"}},
        "eviction percentage threshold memory.available must be <= 100%: 101%",
    ),
    "less than nothing": (
        {"eviction_hard": {"imagefs.available": "-1%"}},
        "eviction percentage threshold imagefs.available must be >= 0%: -1%",
    ),
}


@pytest.mark.parametrize(("given_settings", "text"), REFUSED.values(), ids=REFUSED)
def test_refused_reservation(given_settings: dict[str, Any], text: str) -> None:
    with pytest.raises(StartError) as caught:
        reserved(KubeletConfig(**given_settings), MACHINE)
    assert caught.value.message == text


BEYOND = {
    "67 CPUs": ({"cpu": "67"}, {}, "cpu", "{{67 0} {<nil>}  DecimalSI}", "{{16000 -3} {<nil>}  DecimalSI}"),
    "20500m": ({"cpu": "20500m"}, {}, "cpu", "{{20500 -3} {<nil>}  DecimalSI}", "{{16000 -3} {<nil>}  DecimalSI}"),
    "the finest addend": (
        {"cpu": "15"},
        {"cpu": "1.0005"},
        "cpu",
        "{{160005 -4} {<nil>}  DecimalSI}",
        "{{16000 -3} {<nil>}  DecimalSI}",
    ),
    "a decimal fraction": (
        {"memory": "100.25G"},
        {},
        "memory",
        "{{10025 7} {<nil>}  DecimalSI}",
        "{{68719476736 0} {<nil>}  BinarySI}",
    ),
}


@pytest.mark.parametrize(("kube", "system", "resource", "wanted", "have"), BEYOND.values(), ids=BEYOND)
def test_reservation_beyond_capacity(
    kube: dict[str, str], system: dict[str, str], resource: str, wanted: str, have: str
) -> None:
    config = KubeletConfig(kube_reserved=kube, system_reserved=system, eviction_hard={})
    with pytest.raises(StartError) as caught:
        check_capacity(reserved(config, MACHINE))
    assert caught.value.message == (
        f'invalid Node Allocatable configuration. Resource "{resource}" has a reservation of {wanted} but capacity of '
        f"{have}. Expected capacity >= reservation."
    )


@pytest.mark.parametrize("storage", ["10Gi", "10737418241"])
def test_all_that_a_machine_has_can_be_reserved(storage: str) -> None:
    """And no byte of storage beyond it."""
    machine = MACHINE._replace(storage=10 * GI)
    given = {"cpu": "16", "memory": "64Gi", "ephemeral-storage": storage}
    part = reserved(KubeletConfig(kube_reserved=given, eviction_hard={}), machine)
    with nullcontext() if storage == "10Gi" else pytest.raises(StartError, match='"ephemeral-storage" has a reserv'):
        check_capacity(part)


def test_thresholds_of_what_cannot_be_reserved_and_of_nothing_are_no_part() -> None:
    given = {"pid.available": "10", "imagefs.available": "5%", "memory.available": "0%", "nodefs.available": "10%"}
    assert reserved(KubeletConfig(eviction_hard=given), MACHINE).eviction == {}


def test_eviction_counts_in_the_inner_form() -> None:
    """100Gi + 100Mi on 8Gi."""
    small = regular(nodes=1, memory=8 * GI)
    total = reserved(KubeletConfig(kube_reserved={"memory": "100Gi"}), small).total
    assert inner_form(total["memory"]) == "{{107479040000 0} {<nil>}  BinarySI}"


def test_long_form_hides_its_address() -> None:
    total = reserved(KubeletConfig(kube_reserved={"memory": "100.5Gi"}), MACHINE).total
    assert inner_form(total["memory"]) == "{{0 0} {0x…}  BinarySI}"
    assert inner_form(add([Amount(quantity.parse("1"), 0), total["memory"]])) == "{{0 0} {0x…}  DecimalSI}"


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_parts_add_up(kube: int, system: int) -> None:
    """The reservation is the exact sum of its parts."""
    config = KubeletConfig(kube_reserved={"memory": f"{kube}Ki"}, system_reserved={"memory": f"{system}k"})
    expected = kube * 1024 + system * 1000 + 100 * 2**20
    assert reserved(config, MACHINE).nano("memory") == expected * quantity.NANO


@pytest.mark.parametrize(("text", "value"), [("t", True), ("TRUE", True), ("0", False), ("False", False)])
def test_boolean_texts(text: str, value: bool) -> None:
    assert parse_bool(text) is value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yes", 'strconv.Atoi: parsing "yes": invalid syntax'),
        ("9223372036854775808", 'strconv.Atoi: parsing "9223372036854775808": value out of range'),
        ("", 'strconv.Atoi: parsing "": invalid syntax'),
    ],
)
def test_no_integers(text: str, message: str) -> None:
    with pytest.raises(ConversionError) as caught:
        parse_int(text)
    assert str(caught.value) == message


def test_quoting() -> None:
    """Control characters, quotes and backslashes are escaped; other text stays."""
    assert quote('a"b\\\n\x01é') == '"a\\"b\\\\\\n\\x01é"'


def test_what_a_configuration_reserves_that_nobody_has_checked() -> None:
    given = KubeletConfig(kube_reserved={"cpu": "1"}, reserved_system_cpus="0-2", eviction_hard={})
    found = readable_reservation(given, MACHINE)
    assert found is not None
    assert found.nano("cpu") == 3 * 10**9
    for bad in (given._replace(reserved_system_cpus="x"), given._replace(kube_reserved={"memory": "1x"})):
        assert readable_reservation(bad, MACHINE) is None


def test_local_storage_is_counted_unless_it_is_switched_off() -> None:
    stored = MACHINE._replace(storage=5)
    counted, not_counted = (
        reserved(KubeletConfig(local_storage_capacity_isolation=isolation), stored).capacity.keys()
        for isolation in (True, False)
    )
    assert counted - not_counted == {"ephemeral-storage"}
