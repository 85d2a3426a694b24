"""Selectors of classes and requests, asked of the devices of a node (docs/rules/dra.md D-3a, D-6, D-20a)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.dra.features import features
from numalign.dra.pools import Pool
from numalign.dra.reading import read_slice
from numalign.dra.selection import AllocationError, Candidate, GaveUpError, RequestKey, Selection, candidates, tolerated
from numalign.dra.values import DeviceClass, DeviceRequest, Node, Toleration
from numalign.errors import InputError
from numalign.model.machine import Taint
from tests.dra.objects import device, resource_slice

NODE, KEY = Node("n1"), RequestKey(0, 0)
INDEX = "device.attributes['d'].index"


def pool(*devices: dict[str, Any], **spec: Any) -> Pool:
    slice_ = read_slice(resource_slice("d", devices, **spec))
    return Pool("d", "p", (slice_,), ())


def one(number: int = 1, **spec: Any) -> Candidate:
    [found] = candidates(pool(device("a", index=number), **spec))
    return found


def selects(
    candidate: Candidate, class_: str | None = "true", *own: str | None, release: str = "1.36", **gates: bool
) -> bool:
    selection = Selection(NODE, features(release, gates))
    return selection.selects(candidate, KEY, DeviceRequest("r", "c", own), DeviceClass("c", (class_,)), "ns/x")


def test_candidates_stand_in_the_order_of_slices_and_devices() -> None:
    found = candidates(pool(device("b"), device("a")))

    assert [str(each.identity) for each in found] == ["d/p/b", "d/p/a"]
    assert [each.device.name for each in found] == ["b", "a"]


def test_class_and_request_have_to_hold() -> None:
    assert selects(one(), "true", "true", f"{INDEX} == 1")
    assert not selects(one(), "false", "true")
    assert not selects(one(), "true", "true", "false")


def test_a_device_that_cannot_be_asked_costs_nothing() -> None:
    selection = Selection(NODE, features())
    [odd] = candidates(pool({"name": "a", "attributes": {"v": {"version": "x"}}}))
    with pytest.raises(AllocationError):
        selection.selects(odd, KEY, DeviceRequest("r", "c"), DeviceClass("c", ("true",)), "ns/x")
    assert selection.cost == 0


def test_the_class_s_selectors_run_first() -> None:
    assert not selects(one(), "false", f"{INDEX}.nope == 1 / 0")
    with pytest.raises(AllocationError, match="class c: selector #0: CEL runtime error"):
        selects(one(), "1 / 0 == 1", "false")


def test_a_device_of_another_node_is_not_selected() -> None:
    placed = {"perDeviceNodeSelection": True, "nodeName": None}
    [mine], [other] = (candidates(pool({**device("a", index=1), "nodeName": name}, **placed)) for name in ("n1", "n2"))

    assert selects(mine)
    assert not selects(other)
    with pytest.raises(AllocationError):
        selects(other, "1 / 0 == 1")


def test_errors_say_whose_selector_it_is_and_where() -> None:
    with pytest.raises(AllocationError) as caught:
        selects(one(), "true", "true", "true &&\n nope")
    assert str(caught.value) == (
        "claim ns/x: selector #1: CEL compile error: compilation failed: ERROR: <input>:2:2: undeclared reference to "
        "'nope' (in container '')"
    )
    with pytest.raises(InputError) as refused:
        selects(one(), "format.named('x') == 1")
    assert refused.value.where == "class c: selector #0"


def test_an_attribute_that_is_a_list_is_an_error_of_every_selector_until_lists_are_on() -> None:
    [listed] = candidates(pool({"name": "a", "attributes": {"index": {"ints": [1, 2]}}}))

    with pytest.raises(AllocationError, match="unsupported attribute value"):
        selects(listed)
    assert selects(listed, f"{INDEX}[1] == 2", DRAListTypeAttributes=True)
    assert selects(listed, f"{INDEX}.includes(2)", DRAListTypeAttributes=True)


def test_includes_is_there_from_1_36_on() -> None:
    assert selects(one(), f"{INDEX}.includes(1)")
    for release in ("1.34", "1.35"):
        with pytest.raises(AllocationError, match="compile error"):
            selects(one(), f"{INDEX}.includes(1)", release=release)


def test_an_answer_is_remembered_for_each_device_and_request() -> None:
    selection = Selection(NODE, features())
    request, class_ = DeviceRequest("r", "c"), DeviceClass("c", (f"{INDEX} == 1",))

    assert selection.selects(one(), KEY, request, class_, "x")
    cost = selection.cost
    assert cost > 0
    assert selection.selects(one(), KEY, request, class_, "x")
    assert selection.cost == cost
    assert not selection.selects(one(), KEY._replace(request=1), request, DeviceClass("c", (f"{INDEX} == 2",)), "x")
    assert selection.cost > cost


def test_selectors_end_where_they_have_cost_too_much() -> None:
    selection = Selection(NODE, features(), 10)
    request = DeviceRequest("r", "c", (f"{INDEX} + {INDEX} + {INDEX} > 0",) * 9)

    with pytest.raises(GaveUpError):
        selection.selects(one(), KEY, request, DeviceClass("c"), "x")
    assert 10 < selection.cost < 40


def test_selectors_may_cost_all_that_they_may() -> None:
    alone = Selection(NODE, features())
    assert alone.selects(one(), KEY, DeviceRequest("r", "c", (f"{INDEX} > 0",)), DeviceClass("c"), "x")
    selection, second = Selection(NODE, features(), alone.cost), DeviceRequest("r", "c", (f"{INDEX} > 0", "true"))

    assert selection.selects(one(), KEY, second, DeviceClass("c"), "x")


def test_what_failed_has_cost_something_too() -> None:
    selection = Selection(NODE, features())
    with pytest.raises(AllocationError):
        selection.selects(one(), KEY, DeviceRequest("r", "c"), DeviceClass("c", (f"{INDEX} / 0 == 1",)), "x")
    assert selection.cost > 0


TAINT = Taint("broken", "fan", "NoSchedule")

CASES = [
    ("no taint needs nothing", [], [], True),
    ("a taint needs a toleration", [TAINT], [], False),
    ("of NoExecute too", [TAINT._replace(effect="NoExecute")], [], False),
    ("another effect keeps nobody away", [TAINT._replace(effect="None")], [], True),
    ("the same key and value", [TAINT], [Toleration("broken", "Equal", "fan")], True),
    ("another value", [TAINT], [Toleration("broken", "Equal", "disk")], False),
    ("any value", [TAINT], [Toleration("broken", "Exists", "disk")], True),
    ("another key", [TAINT], [Toleration("old", "Exists")], False),
    ("any key", [TAINT], [Toleration("", "Exists")], True),
    ("any key with the same value", [TAINT], [Toleration("", "Equal", "fan")], True),
    ("the same effect", [TAINT], [Toleration("broken", "Exists", effect="NoSchedule")], True),
    ("another effect", [TAINT], [Toleration("broken", "Exists", effect="NoExecute")], False),
    ("an operator that is none", [TAINT], [Toleration("broken", "Like", "fan")], False),
    ("one of several tolerations is enough", [TAINT], [Toleration("old"), Toleration("broken", "Exists")], True),
    ("each taint needs one", [TAINT, Taint("old", "", "NoSchedule")], [Toleration("broken", "Exists")], False),
    ("a toleration says Equal by itself", [TAINT], [Toleration("broken", value="fan")], True),
]


@pytest.mark.parametrize(
    ("taints", "tolerations", "all_right"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_taints_are_tolerated(taints: list[Taint], tolerations: list[Toleration], all_right: bool) -> None:
    assert tolerated(taints, tolerations) is all_right
