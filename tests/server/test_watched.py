"""The extender of a cluster that is watched: what changed counts, what is wrong or old is said."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from numalign.errors import InputError
from numalign.scheduler.extender import Extender
from numalign.scheduler.node import Fleet
from numalign.scheduler.nrt.value import manifest
from numalign.server.watched import WatchedNodes
from numalign.sources.cluster.dump import Dump
from numalign.sources.cluster.watch import Cluster
from numalign.tasks.cluster import ClusterRequest, load_objects
from tests.cli.running import in_process
from tests.server.nodes import NODES, POD
from tests.server.test_serve_process import CLUSTER, WAIT, Server, serving
from tests.sources.cluster.list_watch import APIServer, listening, node


class Clock:
    """A cluster whose changes and whose age a test says."""

    def __init__(self) -> None:
        self.changes = 0
        self.alive = time.monotonic()
        self.names = ["a"]

    def dump(self) -> Dump:
        from numalign.sources.cluster.objects import read_node

        if "broken" in self.names:
            raise InputError("is broken", "broken")
        return Dump({name: read_node(node(name)) for name in self.names})


def watched(clock: Clock, max_age: float | None = None) -> WatchedNodes:
    def fleet_of(dump: Dump) -> Fleet:
        return load_objects(dump, ClusterRequest(())).fleet

    cluster: Cluster = clock  # type: ignore[assignment]  # it has all that is asked of one
    nodes = WatchedNodes(cluster, fleet_of, lambda fleet: Extender(fleet.nodes), max_age)
    nodes._not_before = 0.0
    return nodes


def test_the_extender_is_made_anew_only_when_something_changed() -> None:
    clock = Clock()
    nodes = watched(clock)
    first = nodes.extender
    assert not nodes.reload().changed
    assert nodes.extender is first

    clock.changes, clock.names = 1, ["a", "b"]
    assert nodes.reload().changed
    assert len(nodes.extender) == 2


def test_changes_that_come_all_the_time_do_not_take_all_the_time() -> None:
    clock = Clock()
    nodes = watched(clock)
    clock.changes = 1
    nodes._not_before = time.monotonic() + 60

    assert not nodes.reload().changed
    nodes._not_before = 0.0
    assert nodes.reload().changed


def test_an_object_that_cannot_be_used_leaves_the_old_state_in_force_which_gets_older() -> None:
    clock = Clock()
    nodes = watched(clock, max_age=50)
    clock.alive -= 100
    assert nodes.stale == {"a"}
    clock.alive += 100
    assert nodes.stale == frozenset()

    nodes._true_at -= 100
    clock.changes, clock.names = 1, ["a", "broken"]
    answer = nodes.reload()

    assert answer.error == "broken: is broken"
    assert not nodes.reload().error  # told once
    assert nodes.age >= 100
    assert nodes.stale == {"a"}
    clock.changes, clock.names = 2, ["b"]
    assert nodes.reload().changed
    assert nodes.stale == frozenset()


def nrt(place: int) -> dict[str, object]:
    found = NODES[place].nrt
    assert found is not None
    return manifest(found)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_the_server_watches_a_cluster() -> None:
    """Node `a` has 20 free CPUs on a NUMA node, `b` has 3: a pod of 6 CPUs fits `a`, and later no more."""
    api = APIServer()
    for place, name in enumerate("ab"):
        api.put("Node", node(name, 48))
        api.put("NodeResourceTopology", nrt(place))
    call = json.dumps({"Pod": POD, "Nodes": None, "NodeNames": ["a", "b"]}).encode()

    def passed(server: Server) -> list[str]:
        found: list[str] = json.loads(server.ask("/v1/filter", call)[1])["NodeNames"]
        return found

    with listening(api) as at, serving(None, "--watch", f"http://127.0.0.1:{at.port}", "--max-age", "30") as server:
        assert passed(server) == ["a"]
        api.put("NodeResourceTopology", {**nrt(1), "metadata": {"name": "a"}})
        until(lambda: passed(server) == [])
        api.delete("NodeResourceTopology", "a")
        api.delete("Node", "a")
        until(lambda: passed(server) == ["a"])  # a node that nobody knows passes
        assert b"numalign_nodes 1\n" in server.ask("/metrics")[1]


def test_a_variable_for_the_exporter_s_watch_is_not_the_server_s() -> None:
    done = in_process("serve", "--cluster", CLUSTER, "--stdio", env={"NUMALIGN_WATCH": "1"}, stdin=b'{"nodes": true}\n')
    assert done.json == {"nodes": ["node-0", "node-1"]}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "expected --cluster FILE, or --watch for HTTP"),
        (("--cluster", str(CLUSTER), "--watch", "in-cluster"), "expected --cluster FILE, or --watch for HTTP"),
        (("--stdio", "--watch", "in-cluster"), "expected --cluster FILE, or --watch for HTTP"),
        (("--watch", "in-cluster"), "this is not a pod of a cluster"),
        (("--watch", "https://x"), "expected in-cluster, or the URL of kubectl proxy"),
    ],
    ids=str,
)
def test_what_cannot_be_watched(flags: tuple[str, ...], said: str) -> None:
    done = in_process("serve", *flags)
    assert done.status == 2
    assert said in " ".join(done.err.split())
