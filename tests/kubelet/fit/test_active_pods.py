"""What the pods of a node request together, kept from pod to pod, is what adding all of them up gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.fit import ActivePods, requested
from numalign.model.pod import Container, Pod
from numalign.model.quantity import parse

AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]),
    st.sampled_from(["1", "100u", "1500m", "3"]).map(parse),
)
PODS = st.builds(
    lambda uid, requests, overhead: Pod(
        uid, uid, "Burstable", (Container("c", "app", requests, {}),), overhead=overhead
    ),
    st.sampled_from("abcd"),
    AMOUNTS,
    AMOUNTS,
)


def added_up(pods: list[Pod]) -> dict[str, int]:
    total: dict[str, int] = {}
    for pod in pods:
        for name, amount in requested(pod):
            total[name] = total.get(name, 0) + amount
    return {name: amount for name, amount in total.items() if amount}


@given(st.lists(PODS | st.sampled_from("abcd")), st.booleans())
def test_the_sums_are_those_of_the_pods_that_are_left(events: list[Pod | str], asked_before: bool) -> None:
    active, left = ActivePods(), list[Pod]()
    for event in events:
        if asked_before:
            assert active.used is active.used
        if isinstance(event, str):
            active, left = active.without((event,)), [pod for pod in left if pod.uid != event]
        else:
            active, left = active.plus(event), [*left, event]
    assert list(active) == left
    assert {name: amount for name, amount in active.used.items() if amount} == added_up(left)
