"""What claims hold already (docs/rules/dra.md D-6, D-10a, D-13)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.features import features
from numalign.dra.pools import Pool
from numalign.dra.selection import AllocationError
from numalign.dra.usage import Counters, added, consumed, fits, taken_of, usage, violates
from numalign.dra.values import Capacity, Claim, CounterUse, Device, DeviceID, RequestPolicy, Slice, Taken
from numalign.model.quantity import canonical, from_int, parse

ONE, TWO, THREE, FOUR = (DeviceID("d", "p", name) for name in ("a", "b", "c", "d"))


def holding(*taken: Taken) -> Claim:
    return Claim("c", allocation=taken)


def test_devices_are_held_whole_or_by_shares_which_add_up() -> None:
    shares = [Taken(TWO, share=name, consumed={"m": parse(amount)}) for name, amount in (("x", "2"), ("y", "3"))]
    found = usage([holding(Taken(THREE, admin=True), Taken(ONE)), Claim("free"), *(holding(one) for one in shares)])

    assert found.whole == {ONE}
    assert found.shared == {TWO}
    assert found.amounts == {TWO: {"m": parse("5").nano}}
    assert [found.holds(one) for one in (ONE, TWO, THREE, FOUR)] == [True, True, False, False]


TEN = parse("10")


def policy(
    default: str = "", values: str = "", least: str = "", most: str = "", step: str = "", *, ranged: bool = False
) -> RequestPolicy:
    """A policy by its amounts; one with a bound or a step is a range."""
    return RequestPolicy(
        default=parse(default) if default else None,
        valid_values=tuple(parse(one) for one in values.split()),
        has_range=ranged or bool(least or most or step),
        minimum=parse(least) if least else None,
        maximum=parse(most) if most else None,
        step=parse(step) if step else None,
    )


ROUNDED = [
    ("without a policy it is what is asked for", "3", None, "3"),
    ("without a policy nothing asked is the whole device", "", None, "10"),
    ("nothing asked is the default", "", policy(default="2"), "2"),
    ("nothing asked is the whole device where there is no default", "", policy(least="1"), "10"),
    ("below the least it is the least", "1", policy(least="2", step="3"), "2"),
    ("the least is itself", "2", policy(least="2", step="3"), "2"),
    ("the least is written as the policy has it", "2048", policy(least="2Ki", step="1Ki"), "2Ki"),
    ("between two steps it is the next one", "3", policy(least="2", step="3"), "5"),
    ("on a step it stays", "5", policy(least="2", step="3"), "5"),
    ("just behind a step it is the one after", "6", policy(least="2", step="3"), "8"),
    ("a range without a step keeps what is above the least", "3", policy(least="2", most="4"), "3"),
    ("a step of nothing rounds nothing", "3", policy(least="2", step="0"), "3"),
    ("a range without a least never rounds", "3", policy(step="2", most="9"), "3"),
    ("steps are whole numbers: a part of one counts as one", "2500m", policy(least="2", step="3"), "5"),
    ("not a listed value: the next larger one", "3", policy(values="8 2 4"), "4"),
    ("a listed value stays", "4", policy(values="2 4 8"), "4"),
    ("above all listed values it stays, and will be refused", "9", policy(values="2 4 8"), "9"),
]


@pytest.mark.parametrize(("asked", "by", "taken"), [row[1:] for row in ROUNDED], ids=[row[0] for row in ROUNDED])
def test_what_is_asked_for_is_rounded(asked: str, by: RequestPolicy | None, taken: str) -> None:
    amount = consumed(parse(asked) if asked else None, Capacity(TEN, by))

    assert canonical(amount) == taken


REFUSED = [
    ("no policy refuses nothing", "99", None, False),
    ("the most is allowed", "9", policy(most="9"), False),
    ("more than the most is not", "10", policy(most="9"), True),
    ("on a step", "8", policy(least="2", step="3"), False),
    ("on no step", "7", policy(least="2", step="3"), True),
    ("on no step, above the most as well", "11", policy(least="2", step="3", most="10"), True),
    ("a step without a least is not looked at", "7", policy(step="3"), False),
    ("a step of nothing is not looked at", "7", policy(least="2", step="0"), False),
    ("a listed value", "4", policy(values="2 4"), False),
    ("a value that is not listed", "3", policy(values="2 4"), True),
    ("an empty list refuses nothing", "3", policy(), False),
    ("a range makes a list not count", "3", policy(values="2 4", most="5"), False),
    ("the default is exempt from the most", "12", policy(default="12", most="9"), False),
    ("the default is exempt from the list", "12", policy(default="12", values="2"), False),
    ("another amount is not", "13", policy(default="12", values="2"), True),
]


@pytest.mark.parametrize(("amount", "by", "refused"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_policy_refuses_an_amount(amount: str, by: RequestPolicy | None, refused: bool) -> None:
    assert violates(parse(amount), by) is refused


def test_an_amount_that_was_rounded_stands_for_itself() -> None:
    """Not for the text of the step."""
    by = policy(least="500m", step="1")
    assert consumed(parse("1100m"), Capacity(TEN, by), features("1.37")) == parse("1500m")


HALVES = policy(least="500m", step="500m")
IN_THOUSANDTHS = [
    ("on a step", "1500m", HALVES, False),
    ("on no step", "750m", HALVES, True),
    ("between thousandths", "500500u", HALVES, True),
    ("beyond what is counted in thousandths", "1e16", HALVES, True),
    ("on a step of fractions that is none of whole numbers", "3", policy(least="500m", step="2500m"), False),
    ("an end that is no thousandth: whole numbers count", "2500m", policy(least="1", step="1000000100n"), False),
    ("more than the most", "2", policy(least="500m", most="1500m"), True),
]


@pytest.mark.parametrize(
    ("amount", "by", "refused"), [row[1:] for row in IN_THOUSANDTHS], ids=[row[0] for row in IN_THOUSANDTHS]
)
def test_a_policy_of_fractions_refuses_an_amount(amount: str, by: RequestPolicy, refused: bool) -> None:
    """From 1.37 on (docs/rules/kubelet-1.37.md 11)."""
    assert violates(parse(amount), by, features("1.37")) is refused


def test_the_largest_amount_that_is_counted() -> None:
    by, largest = policy(least="1m", step="1m"), 2**63 - 1
    assert consumed(parse(f"{largest}m"), Capacity(TEN, by), features("1.37")).nano == largest * 10**6
    with pytest.raises(AllocationError, match="is not a representable milli value"):
        consumed(parse(f"{largest + 1}m"), Capacity(TEN, by), features("1.37"))


SHARED = Device("d", capacity={"m": Capacity(TEN, policy(values="2 4")), "n": Capacity(parse("3"))}, shared=True)
WHOLE = SHARED._replace(shared=False)
TAKEN = [
    ("each capacity is taken, asked for or not", SHARED, {"m": "3"}, {"m": "4", "n": "3"}),
    ("a capacity that the device lacks", SHARED, {"x": "1"}, None),
    ("one it has beside one that it lacks", SHARED, {"m": "2", "x": "1"}, None),
    ("an amount that its policy refuses", SHARED, {"m": "5"}, None),
    ("a device that serves one request gives all it has", WHOLE, {"m": "3", "n": "3"}, {}),
    ("of it nothing has to be asked for", WHOLE, {}, {}),
    ("more than such a device has", WHOLE, {"n": "4"}, None),
    ("a little more than such a device has", WHOLE, {"n": "3000000001n"}, None),
    ("an amount that the policy of such a device refuses", WHOLE, {"m": "5"}, None),
    ("a capacity that such a device lacks", WHOLE, {"x": "1"}, None),
]


@pytest.mark.parametrize(("device", "asked", "taken"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_what_is_taken_of_a_device(device: Device, asked: dict[str, str], taken: dict[str, str] | None) -> None:
    found = taken_of(device, {name: parse(text) for name, text in asked.items()})

    assert (None if found is None else {name: canonical(amount) for name, amount in found.items()}) == taken


def test_a_request_that_says_nothing_of_capacity_takes_the_whole_of_a_shared_device() -> None:
    found = taken_of(SHARED._replace(capacity={"n": Capacity(parse("3"))}), None)
    assert found == {"n": parse("3")}


@given(st.integers(0, 12), st.integers(0, 12))
def test_what_is_taken_fits_beside_what_is_used_up_to_the_last_bit(used: int, taken: int) -> None:
    amount = from_int(taken)
    before = {"m": from_int(used).nano, "other": 1}

    assert fits(SHARED, {"m": amount}, before) == (used + taken <= 10)
    assert fits(SHARED, {"m": amount}, {}) == (taken <= 10)
    after = added(before, {"m": amount, "new": amount})
    assert after == {"m": from_int(used + taken).nano, "new": amount.nano, "other": 1}
    assert added(after, {"m": amount}, -1) == {**before, "new": amount.nano}


@given(st.integers(0, 60), st.integers(0, 20), st.integers(1, 9), st.integers(0, 40))
def test_what_was_rounded_to_a_step_is_refused_only_above_the_most(
    asked: int, least: int, step: int, more: int
) -> None:
    """And it is never less than was asked for, and by less than a step more."""
    by = RequestPolicy(has_range=True, minimum=from_int(least), step=from_int(step), maximum=from_int(least + more))
    amount = consumed(from_int(asked), Capacity(from_int(1000), by))

    assert max(asked, least) * 10**9 <= amount.nano < (max(asked, least) + step) * 10**9
    assert violates(amount, by) == (amount.nano > (least + more) * 10**9)


def part(name: str, **uses: int) -> Device:
    """A device that uses counters of the set `gpu`."""
    return Device(name, consumes=(CounterUse("gpu", {key: from_int(amount) for key, amount in uses.items()}),))


def slice_of(*devices: Device, **counters: int) -> Slice:
    sets = (("gpu", {key: from_int(amount) for key, amount in counters.items()}),) if counters else ()
    return Slice("s", "drv", "p", 1, 1, devices=devices, counters=sets)


def pool(*slices: Slice, elsewhere: tuple[Slice, ...] = (), driver: str = "drv") -> Pool:
    return Pool(driver, "p", slices, elsewhere)


def ident(name: str, driver: str = "drv") -> DeviceID:
    return DeviceID(driver, "p", name)


def counting(*pools: Pool, in_use: tuple[str, ...] = ()) -> Counters:
    return Counters(pools, lambda identity: identity.device in in_use)


HALF, REST = part("half", slices=4), part("rest", slices=3)


def test_devices_are_taken_until_a_counter_would_fall_below_nothing() -> None:
    counters = counting(pool(slice_of(slices=7)))

    assert counters.take(HALF, ident("half"))
    assert not counters.take(HALF, ident("other"))
    assert counters.take(REST, ident("rest")), "what was refused has taken nothing"
    counters.give_back(HALF, ident("half"))
    assert counters.take(HALF, ident("other"))
    assert not counters.take(part("one", slices=1), ident("one"))


@pytest.mark.parametrize("where", ["on this node", "on another one"])
def test_what_is_allocated_already_counts(where: str) -> None:
    used = slice_of(HALF, part("idle", slices=2))
    here = pool(slice_of(slices=7), used) if where == "on this node" else pool(slice_of(slices=7), elsewhere=(used,))
    counters = counting(here, in_use=("half",))

    assert not counters.take(part("new", slices=4), ident("new"))
    assert counters.take(REST, ident("rest"))


def test_counters_that_are_not_there_limit_nothing() -> None:
    counters = counting(pool(slice_of(slices=7)))

    assert counters.take(part("odd", memory=99), ident("odd"))
    assert counters.take(Device("none"), ident("none"))


def test_a_pool_without_counters_limits_nothing() -> None:
    assert counting(pool(slice_of())).take(HALF, ident("half"))


def test_all_counters_of_the_pool_count_also_those_that_the_device_does_not_use() -> None:
    counters = counting(pool(slice_of(slices=7, memory=1), slice_of(part("big", memory=2))), in_use=("big",))

    assert not counters.take(HALF, ident("half"))


def test_the_first_driver_of_a_pool_s_name_gives_the_sets() -> None:
    counters = counting(pool(slice_of(slices=4)), pool(slice_of(slices=9), driver="second"))

    assert counters.take(HALF, ident("half"))
    assert not counters.take(HALF, ident("half", "second"))


def test_pools_of_other_names_count_by_themselves() -> None:
    other = Pool("drv", "q", (slice_of(slices=4),), ())
    counters = counting(pool(slice_of(slices=4)), other)

    assert counters.take(HALF, ident("half"))
    assert counters.take(HALF, DeviceID("drv", "q", "half"))


_AMOUNTS: st.SearchStrategy[Mapping[str, int]] = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 4))


@given(st.lists(_AMOUNTS, max_size=6), st.integers(0, 9), st.integers(0, 9))
def test_what_was_taken_in_any_order_is_never_more_than_there_is(uses: list[dict[str, int]], a: int, b: int) -> None:
    counters = counting(pool(slice_of(a=a, b=b)))
    left = {"a": a, "b": b}
    for index, use in enumerate(uses):
        fits = all(left[key] >= amount for key, amount in use.items())
        assert counters.take(part(str(index), **use), ident(str(index))) is fits
        left = {key: left[key] - (use.get(key, 0) if fits else 0) for key in left}
