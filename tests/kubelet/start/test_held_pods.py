"""Pods of which only their holdings are known: what they must have asked for, at the least."""

from __future__ import annotations

import pytest

from numalign.kubelet.admission import admit, open_session
from numalign.kubelet.node import NodeState
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.held_pods import held_pod, holders
from numalign.model.cpuset import parse
from numalign.model.pod import Pod
from numalign.model.quantity import canonical
from tests.analysis.support import GPU, STATIC, config, limits, machine, pod_of

EMPTY = open_session(Setup(machine("figure-1"), config("none", **STATIC), "ideal"))


def after(*pods: Pod) -> NodeState:
    session = EMPTY
    for one in pods:
        session = admit(session, one).then
    return session.state


def asked(pod: Pod) -> list[tuple[str, str, dict[str, str]]]:
    """(container, kind, limits) in the pod's order."""
    return [
        (one.name, one.kind, {name: canonical(amount) for name, amount in one.limits.items()}) for one in pod.containers
    ]


def test_a_pod_asks_for_what_it_holds() -> None:
    state = after(pod_of("p", a=limits(2, "1Gi", gpu=1), b=limits(1, "2Gi")))
    [uid] = holders(state)
    found = held_pod(state, uid, "p", "ns")

    assert (found.name, found.namespace, found.uid, found.qos) == ("p", "ns", uid, "Guaranteed")
    assert asked(found) == [
        ("a", "app", {"cpu": "2", "memory": str(1 << 30), GPU: "1"}),
        ("b", "app", {"cpu": "1", "memory": str(2 << 30)}),
    ]


def test_a_pod_that_holds_devices_alone_may_be_of_any_class() -> None:
    state = after(pod_of("p", a={GPU: "1"}))
    [uid] = holders(state)

    assert asked(held_pod(state, uid, "p", "")) == [("a", "app", {GPU: "1"})]
    assert held_pod(state, uid, "p", "").qos != "Guaranteed"


def test_exclusive_cpus_or_memory_alone_make_it_guaranteed() -> None:
    state = after(pod_of("p", a=limits(2, "1Gi")))
    [uid] = holders(state)
    device, cpu, memory = EMPTY.state.states
    for own in ((device, state.cpu, memory), (device, cpu, state.memory)):
        found = held_pod(state._replace(states=own), uid, "p", "")
        assert found.qos == "Guaranteed"
        assert found.status is not None
        assert found.status.qos == "Guaranteed"


def test_a_pod_that_holds_nothing_has_a_container() -> None:
    assert asked(held_pod(EMPTY.state, "u", "p", "")) == [("unknown", "app", {})]


def with_cpus(**cpus: str) -> NodeState:
    """Containers of the pod `u` with these CPUs."""
    cpu = EMPTY.state.cpu._replace(assignments={"u": {name: parse(text) for name, text in cpus.items()}})
    return EMPTY.state._replace(states=(EMPTY.state.device, cpu, EMPTY.state.memory))


ENDED = [
    ("CPUs of their own", {"a": "0-1", "b": "2"}, {"a": "app", "b": "app"}),
    ("the smaller of two has ended", {"a": "0-1", "b": "0-2"}, {"a": "init", "b": "app"}),
    ("of two equal ones the second", {"a": "0-1", "b": "0-1"}, {"a": "app", "b": "init"}),
    ("both that share with a third", {"a": "0", "b": "1", "c": "0-2"}, {"a": "init", "b": "init", "c": "app"}),
]


@pytest.mark.parametrize(("cpus", "kinds"), [row[1:] for row in ENDED], ids=[row[0] for row in ENDED])
def test_containers_that_share_cpus_with_later_ones_have_ended(cpus: dict[str, str], kinds: dict[str, str]) -> None:
    assert {one.name: one.kind for one in held_pod(with_cpus(**cpus), "u", "p", "").containers} == kinds


def test_of_two_that_share_the_one_without_memory_has_ended() -> None:
    state = after(pod_of("p", init=limits(3, "1Gi"), a=limits(2, "1Gi")))
    [uid] = holders(state)
    entries = {uid: {"a": state.memory.entries[uid]["a"]}}
    state = state._replace(states=(state.device, state.cpu, state.memory._replace(entries=entries)))

    assert {one.name: one.kind for one in held_pod(state, uid, "p", "").containers} == {"init": "init", "a": "app"}


def test_what_was_granted_counts_before_what_is_held() -> None:
    granted = {"a": {"limits": {"cpu": "4"}}, "c": {"requests": {"cpu": "100m"}}}
    found = held_pod(with_cpus(a="0-1", b="0-1"), "u", "p", "", granted)

    assert asked(found) == [("b", "init", {"cpu": "2"}), ("a", "app", {"cpu": "4"}), ("c", "app", {})]


GRANTED = {"limits": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("cpus", "granted", "listed", "kinds"),
    [
        ({"a": "0", "b": "1", "i": "1-2"}, "ab", None, {"a": "sidecar", "i": "init", "b": "init"}),
        ({"a": "0", "b": "1-2", "i": "1-2"}, "ab", None, {"i": "init", "a": "app", "b": "app"}),
        ({"a": "0", "b": "1", "i": "1-2"}, "abi", "ab", {"a": "sidecar", "i": "init", "b": "app"}),
        ({"a": "0", "b": "1", "i": "1-2"}, "abi", "abi", {"a": "app", "b": "app", "i": "app"}),
    ],
    ids=["that took none of what is left", "where nothing is left", "as the file says", "where all are listed"],
)
def test_a_container_from_before_the_init_containers_is_a_sidecar(
    cpus: dict[str, str], granted: str, listed: str | None, kinds: dict[str, str]
) -> None:
    found = held_pod(with_cpus(**cpus), "u", "p", "", dict.fromkeys(granted, GRANTED), listed and [*listed])
    assert {one.name: one.kind for one in found.containers} == kinds


def test_such_a_sidecar_comes_before_all_init_containers() -> None:
    state = with_cpus(z="0", b="1", i="1-2", j="1-2")
    found = held_pod(state, "u", "p", "", dict.fromkeys("zb", GRANTED))
    assert [(one.name, one.kind) for one in found.containers] == [
        ("z", "sidecar"), ("b", "init"), ("i", "init"), ("j", "init"),
    ]  # fmt: skip


@pytest.mark.parametrize(("uid", "static"), [("0123456789abcdef" * 2, True), ("0123456789abcdef" * 2 + "0", False),
                                             ("01234567-89ab-cdef-0123-456789abcdef", False)])  # fmt: skip
def test_a_pod_of_a_file_is_known_by_its_uid(uid: str, static: bool) -> None:
    found = held_pod(EMPTY.state, uid, "p", "")
    assert (found.is_static, found.namespace) == (static, "default")


def test_each_pod_that_holds_anything_is_listed_once() -> None:
    state = after(pod_of("p", a=limits(2, "1Gi", gpu=1)), pod_of("q", a={GPU: "1"}))
    assert len(holders(state)) == 2
    assert list(holders(EMPTY.state)) == []
