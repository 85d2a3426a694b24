"""A cluster that is watched: nothing lost, nothing doubled, whatever its API server does."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.scheduler.nrt.value import manifest
from numalign.sources.cluster import api, watch
from numalign.sources.cluster.api import APIError, Server, server_of
from numalign.sources.cluster.watch import Cluster
from tests.server.nodes import NODES
from tests.server.test_serve_process import certificate
from tests.sources.cluster.list_watch import TROUBLES, APIServer, Object, listening, node, pod

WAIT = 30
"""Seconds in which anything has to have happened, however busy the machine is."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pages of three objects, and no long pauses."""
    monkeypatch.setattr(watch, "PAGE", 3)
    monkeypatch.setattr(watch, "LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(watch, "MISSING_SECONDS", 0.05)
    monkeypatch.setattr(watch, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(api, "ANSWER_SECONDS", 0.5)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@contextmanager
def watching(server: APIServer) -> Iterator[tuple[Cluster, list[dict[str, object]]]]:
    said: list[dict[str, object]] = []
    with listening(server) as at:
        cluster = Cluster(at, said.append)
        try:
            cluster.start(WAIT)
            yield cluster, said
        finally:
            cluster.stop()


def known(cluster: Cluster) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Say what is known: node -> CPUs, and each pod with its node and CPUs."""
    dump = cluster.dump()
    pods = [
        (one.pod.full_name, node, str(one.pod.containers[0].limits["cpu"].nano // 10**9))
        for node, found in dump.pods.items()
        for one in found
    ]
    return {name: str(one.allocatable["cpu"] // 10**9) for name, one in dump.nodes.items()}, sorted(pods)


def truth(server: APIServer) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Say what is so."""
    nodes = {name: one["status"]["allocatable"]["cpu"] for (_, name), one in server.objects["Node"].items()}
    pods = [
        (f"d/{name}", one["spec"]["nodeName"], one["spec"]["containers"][0]["resources"]["limits"]["cpu"])
        for (_, name), one in server.objects["Pod"].items()
        if one["status"]["phase"] == "Running"
    ]
    return nodes, sorted(pods)


def filled(pods: int = 7) -> APIServer:
    server = APIServer()
    for name in ("a", "b"):
        server.put("Node", node(name))
    for place in range(pods):
        server.put("Pod", pod(f"p{place}"))
    return server


def test_all_pages_are_listed_and_changes_follow() -> None:
    server = filled()
    with watching(server) as (cluster, said):
        assert known(cluster) == truth(server)

        server.put("Node", node("c", 4))
        server.put("Node", node("a", 16))
        server.delete("Node", "b")
        server.delete("Pod", "p3", "d")
        server.put("Pod", pod("p4", phase="Succeeded"))
        server.put("Pod", pod("new", on="c", cpus=2))

        until(lambda: known(cluster) == truth(server))
        assert cluster.dump().ended == {"a": [("d", "p4")]}
        assert not said
    assert all(query["fieldSelector"] == "spec.nodeName!=" for path, query, _ in server.asked if path.endswith("/pods"))


def test_topology_objects_are_watched_where_the_cluster_has_them() -> None:
    server = filled()
    server.missing = {"NodeResourceTopology", "Numatopology"}
    nrt = NODES[0].nrt
    assert nrt is not None
    with watching(server) as (cluster, said):
        assert not cluster.dump().nrts
        server.put("NodeResourceTopology", manifest(nrt))
        server.missing = {"Numatopology"}

        until(lambda: set(cluster.dump().nrts) == {"a"})
        assert cluster.dump().nrts["a"].nrt == nrt
        assert not said  # a cluster without a kind is nothing to warn of


def test_a_heartbeat_changes_nothing_and_keeps_the_data_fresh() -> None:
    server = filled()
    with watching(server) as (cluster, _):
        before, alive = cluster.changes, cluster.alive
        server.put("Node", {**node("a"), "status": {**node("a")["status"], "conditions": [{"type": "Ready"}]}})

        until(lambda: cluster.alive > alive)  # all kinds: bookmarks
        until(lambda: cluster.dump().nodes["a"].name == "a" and server.history[-1][2] == "MODIFIED")
        assert cluster.changes == before


@pytest.mark.parametrize("trouble", [one for one in TROUBLES if one not in ("twice", "no end", "empty")])
def test_a_watch_that_goes_wrong_is_taken_up_again(trouble: str) -> None:
    """The first dozen go wrong; what happens meanwhile is known in the end."""
    server = filled()
    watches = count()
    server.trouble = lambda _path, query: trouble if query.get("watch") and next(watches) < 12 else ""
    with watching(server) as (cluster, _):
        for place in range(12):
            server.put("Pod", pod(f"q{place}", on="b"))
            server.put("Node", node("a", 8 + place))
            if place % 3 == 0:
                server.delete("Pod", f"q{place}", "d")
            time.sleep(0.02)
        until(lambda: next(watches) > 12)
        until(lambda: known(cluster) == truth(server))


@pytest.mark.parametrize("trouble", [one for one in TROUBLES if "event" not in one and one != "twice"])
def test_a_list_that_goes_wrong_leaves_what_was_known(trouble: str) -> None:
    server = filled()
    with watching(server) as (cluster, said):
        before = known(cluster)
        lists = 0

        def trouble_of(_: str, query: Mapping[str, str]) -> str:
            nonlocal lists
            lists += not query.get("watch")
            return "gone" if query.get("watch") else trouble

        server.trouble = trouble_of
        server.forget()  # which ends the watches that were accepted already
        until(lambda: lists > 6)
        assert known(cluster) == before
        assert said[-1]["event"] == "watch interrupted"
        server.trouble = lambda _path, _query: ""
        server.put("Pod", pod("new"))

        until(lambda: known(cluster) == truth(server))


@pytest.mark.parametrize("query", ["limit", "watch"])
def test_what_comes_twice_is_known_once(query: str) -> None:
    server = filled()
    server.trouble = lambda _path, asked: "twice" if query in asked else ""
    with watching(server) as (cluster, _):
        server.put("Pod", pod("new"))
        until(lambda: known(cluster) == truth(server))


def test_a_watch_goes_on_where_it_broke_off_without_a_new_list() -> None:
    server = filled()
    server.trouble = lambda _path, query: "cut" if query.get("watch") else ""
    with watching(server) as (cluster, _):
        lists = sum("watch" not in query for _, query, _ in server.asked)
        for place in range(5):
            server.put("Pod", pod(f"q{place}"))

        until(lambda: known(cluster) == truth(server))
        assert sum("watch" not in query for _, query, _ in server.asked) == lists


def test_a_forgotten_history_is_listed_anew() -> None:
    """A pod that was deleted while nobody watched is gone, too."""
    server = filled()
    with watching(server) as (cluster, _):
        server.delete("Pod", "p0", "d")
        server.put("Pod", pod("new"))
        server.forget()
        until(lambda: known(cluster) == truth(server))


def test_a_bug_ends_no_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    server = filled()
    with watching(server) as (cluster, said):
        take, calls = watch.Mirror._take, count()

        def broken(mirror: watch.Mirror, event: Mapping[str, object]) -> None:
            if next(calls) == 0:
                raise ZeroDivisionError
            take(mirror, event)

        monkeypatch.setattr(watch.Mirror, "_take", broken)
        server.put("Pod", pod("new"))
        until(lambda: "bug: ZeroDivisionError()" in [one["error"] for one in said])
        until(lambda: known(cluster) == truth(server))


def test_an_object_that_cannot_be_read_is_named_and_others_are_known() -> None:
    server = filled(2)
    broken: Object = {**node("broken"), "status": {"allocatable": {"cpu": "many"}}}
    server.put("Node", broken)
    with watching(server) as (cluster, _):
        dump = cluster.dump()
        assert set(dump.nodes) == {"a", "b"}
        (notice,) = dump.notices
        assert (notice.code, notice.path) == ("objects-passed-over", "/broken")
        assert notice.message.startswith("skipped a Node: ")

        server.put("Node", node("broken"))
        until(lambda: set(cluster.dump().nodes) == {"a", "b", "broken"})
        assert not cluster.dump().notices


def test_it_does_not_start_where_nobody_answers() -> None:
    server = filled()
    server.trouble = lambda _path, _query: "forbidden"
    with (
        listening(server) as at,
        pytest.raises(InputError, match="did not list /api/v1/nodes: /api/v1/nodes: HTTP status 403"),
    ):
        Cluster(at, lambda _: None).start(0.5)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("in-cluster", "not a pod of a cluster"),
        ("https://10.0.0.1", "expected in-cluster, or the URL"),
        ("http://", "expected in-cluster"),
        ("http://a:b", "expected in-cluster"),
        ("http://127.0.0.1:8001/api", "expected in-cluster"),
    ],
)
def test_what_is_no_server(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        server_of(name, str(tmp_path), {})


def test_the_proxy_of_kubectl_is_asked_without_a_token() -> None:
    assert server_of("http://127.0.0.1:8001/") == Server("127.0.0.1", 8001)


def test_a_pod_asks_over_tls_with_its_token_which_is_renewed(tmp_path: Path) -> None:
    authority = certificate(tmp_path, "ca")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate(tmp_path, "server", authority))
    (tmp_path / "token").write_text("first\n")
    server = filled()
    with listening(server, context) as at:
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(at.port)}
        account = server_of("in-cluster", str(tmp_path), environment)
        api.get(account, "/api/v1/nodes", {})
        (tmp_path / "token").write_text("second\n")
        api.get(account, "/api/v1/nodes", {})

        assert [token for _, _, token in server.asked] == ["Bearer first", "Bearer second"]
        with pytest.raises(APIError, match="SSL"):
            api.get(at._replace(context=ssl.create_default_context()), "/api/v1/nodes", {})


@pytest.mark.parametrize(
    ("seconds", "keep"), [(1.5, 30), pytest.param(600.0, 200, marks=pytest.mark.soak)], ids=["a moment", "ten minutes"]
)
def test_no_object_is_lost_or_doubled_whatever_breaks(
    seconds: float, keep: int, record_property: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects come, change and go; a fifth of all requests goes wrong, and the server forgets now and then."""
    monkeypatch.setattr(watch, "PAGE", 100)  # of very many pages one would always go wrong
    chance = random.Random(42)
    server = APIServer(keep)
    counted: dict[str, int] = {}

    def trouble_of(_: str, __: Mapping[str, str]) -> str:
        found = chance.choice(TROUBLES) if chance.random() < 0.2 else ""
        counted[found] = counted.get(found, 0) + 1
        return found

    checks = changes = 0
    for place in range(20):
        server.put("Node", node(f"n{place}"))
    with watching(server) as (cluster, said):
        server.trouble = trouble_of
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(chance.randint(1, 40)):
                _something(server, chance)
                changes += 1
            if chance.random() < 0.05:
                server.forget()
            time.sleep(chance.random() * 0.05)
            if chance.random() < 0.1:
                until(lambda: known(cluster) == truth(server))
                checks += 1
        until(lambda: known(cluster) == truth(server))
    record_property("changes", changes)
    record_property("comparisons", checks + 1)
    record_property("interruptions", len(said))
    record_property("requests", counted)
    assert changes > 20 * seconds
    assert said


def _something(server: APIServer, chance: random.Random) -> None:
    pods = list(server.objects["Pod"])
    which = chance.random()
    if which < 0.4 or not pods:
        server.put("Pod", pod(f"p{chance.randint(0, 400)}", on=f"n{chance.randint(0, 19)}", cpus=chance.randint(1, 8)))
    elif which < 0.7:
        namespace, name = chance.choice(pods)
        server.delete("Pod", name, namespace)
    elif which < 0.9:
        server.put("Pod", pod(chance.choice(pods)[1], phase=chance.choice(["Running", "Failed"])))
    else:
        server.put("Node", node(f"n{chance.randint(0, 19)}", chance.randint(8, 64)))
