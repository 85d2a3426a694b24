"""The extender's exchanges, word for word; bodies, deadlines and metrics."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from numalign.scheduler.extender import Extender
from numalign.scheduler.node import Fleet
from numalign.server.app import App, Limits
from numalign.server.nodes import KnownNodes
from tests.server.nodes import NODES, POD


class Reply(NamedTuple):
    status: int
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


WAIT = 20
"""Seconds in which anything has to have happened, however busy the machine is."""


def app(limits: Limits | None = None) -> App:
    return App(known(), limits=limits)


def known(max_age: float | None = None) -> KnownNodes:
    """The nodes of the worked example, as if a file had told them."""
    return KnownNodes(
        lambda _: Fleet(NODES), lambda _: (), lambda fleet: Extender(fleet.nodes), ("/etc/hostname",), max_age
    )


def ask(to: App, path: str, body: object = b"", method: str = "POST", chunks: int = 1, delay: float = 0) -> Reply:
    """Send one request, the body in parts."""
    return asyncio.run(send(to, path, body, method, chunks, delay))


async def send(to: App, path: str, body: object, method: str, chunks: int = 1, delay: float = 0) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = max(-(-len(data) // chunks), 1)
    parts = [data[start : start + size] for start in range(0, len(data), size)] or [b""]
    sent: list[Mapping[str, object]] = []

    async def receive() -> dict[str, object]:
        await asyncio.sleep(delay)
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def collect(message: Mapping[str, object]) -> None:
        sent.append(message)

    headers = [(b"content-length", str(len(data)).encode())] if chunks == 1 else []
    await to({"type": "http", "method": method, "path": path, "headers": headers}, receive, collect)
    status, content = sent[0]["status"], sent[1]["body"]
    assert isinstance(status, int)
    assert isinstance(content, bytes)
    return Reply(status, content)


CALL = {"Pod": POD, "Nodes": None, "NodeNames": ["a", "b", "c"]}
ANSWER = {
    "Nodes": None,
    "NodeNames": ["a"],
    "FailedNodes": {"b": "cannot align container: c: cpu 6, best zone 1 has 3"},
    "FailedAndUnresolvableNodes": {"c": "cannot align container: c: cpu 6, the largest zone has 4"},
    "Error": "",
}


class TestFilter:
    def test_the_worked_example(self) -> None:
        """docs/rules/scheduling.md 7.7."""
        assert ask(app(), "/v1/filter", CALL) == Reply(200, json.dumps(ANSWER, separators=(",", ":")).encode())

    @pytest.mark.parametrize("chunks", [2, 50])
    def test_a_body_may_come_in_parts(self, chunks: int) -> None:
        assert ask(app(), "/v1/filter", CALL, chunks=chunks).data == ANSWER

    def test_names_of_fields_are_read_whatever_their_case(self) -> None:
        assert ask(app(), "/v1/filter", {"pod": POD, "nodenames": ["a", "b", "c"]}).data == ANSWER

    def test_whole_nodes_are_answered_with_whole_nodes(self) -> None:
        """E-1: the reply has what the request had."""
        items = [{"metadata": {"name": name, "labels": {"x": name}}, "status": {}} for name in "abc"]

        reply = ask(app(), "/v1/filter", {"Pod": POD, "Nodes": {"items": items}, "NodeNames": None})

        assert reply.data == {**ANSWER, "Nodes": {"metadata": {}, "items": [items[0]]}, "NodeNames": None}

    def test_a_node_that_nobody_knows_passes(self) -> None:
        reply = ask(app(), "/v1/filter", {"Pod": POD, "NodeNames": ["stranger"]})

        assert reply.data == {**ANSWER, "NodeNames": ["stranger"], "FailedNodes": {}, "FailedAndUnresolvableNodes": {}}

    def test_no_node_left_is_an_empty_list(self) -> None:
        """E-2: a reply without a list would mean the same, but an empty one is clear."""
        reply = ask(app(), "/v1/filter", {"Pod": POD, "NodeNames": ["b"]}).data

        assert reply["NodeNames"] == []

    def test_no_name_is_made_up(self) -> None:
        """E-3: a name that was not asked for would fail the whole call."""
        reply = ask(app(), "/v1/filter", {"Pod": POD, "NodeNames": []}).data

        assert reply == {**ANSWER, "NodeNames": [], "FailedNodes": {}, "FailedAndUnresolvableNodes": {}}

    def test_data_that_are_too_old_are_not_trusted(self) -> None:
        reply = ask(App(known(max_age=0)), "/v1/filter", CALL).data

        assert reply["FailedNodes"] == dict.fromkeys("abc", "invalid node topology data")

    def test_a_pod_that_asks_none_of_a_managed_resource_is_answered_like_any(self) -> None:
        """E-9: kube-scheduler calls for a zero amount, too; it fits where the rest of the pod does."""
        resources = {"requests": {"cpu": "6", "memory": "1Gi", "vendor.io/gpu": "0"}}
        none = {**resources, "limits": resources["requests"]}
        pod = {"metadata": POD["metadata"], "spec": {"containers": [{"name": "c", "resources": none}]}}

        assert ask(app(), "/v1/filter", {**CALL, "Pod": pod}).data == ANSWER

    def test_a_pod_is_tried_again_and_answered_by_what_is_known_then(self, tmp_path: Path) -> None:
        """E-11: the same call, after its node has got room."""
        file = tmp_path / "nodes.json"

        def load(_: str) -> Fleet:
            return Fleet(NODES[:1] if "room" in file.read_text() else (NODES[1]._replace(name="a"),))

        file.write_text("full")
        nodes = KnownNodes(load, lambda _: (), lambda fleet: Extender(fleet.nodes), (str(file),))
        call = {"Pod": POD, "NodeNames": ["a"]}
        assert not ask(App(nodes), "/v1/filter", call).data["NodeNames"]

        file.write_text("with room")
        assert nodes.reload().changed

        assert ask(App(nodes), "/v1/filter", call).data["NodeNames"] == ["a"]


class TestPrioritize:
    def test_a_bare_list_of_scores_from_0_to_10(self) -> None:
        reply = ask(app(), "/v1/prioritize", {"Pod": POD, "NodeNames": ["a", "stranger"]})

        assert reply.data == [{"Host": "a", "Score": 4}, {"Host": "stranger", "Score": 0}]


NAMELESS = {"Pod": POD, "Nodes": {"items": [{}]}}
BAD_POD = {"Pod": {"spec": {"containers": 1}}, "NodeNames": []}
ODD_SIGNS = {"limits": {"cpu": "\ud800\x1b[2J"}}
ODD_POD = {"Pod": {"spec": {"containers": [{"name": "c", "resources": ODD_SIGNS}]}}, "NodeNames": []}


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("path", "body", "method", "status", "text"),
        [
            pytest.param("/v1/filter", b"{", "POST", 400, "the body is not JSON: ", id="half a body"),
            pytest.param("/v1/filter", b"[" * 100_000, "POST", 400, "the body is not JSON: ", id="deep nesting"),
            pytest.param("/v1/filter", b"[1e400]", "POST", 400, "1e400 is too large for a number", id="infinity"),
            pytest.param("/v1/filter", [], "POST", 400, "expected a JSON object", id="a list"),
            pytest.param("/v1/filter", {"Pod": None}, "POST", 400, "Pod: expected an object", id="no pod"),
            pytest.param("/v1/filter", {"Pod": POD}, "POST", 400, "expected NodeNames or Nodes", id="no nodes"),
            pytest.param("/v1/filter", {"Pod": POD, "NodeNames": [1]}, "POST", 400, "NodeNames: ", id="no names"),
            pytest.param("/v1/filter", NAMELESS, "POST", 400, "no metadata.name", id="no name"),
            pytest.param("/v1/filter", BAD_POD, "POST", 400, "Pod: ", id="a bad pod"),
            pytest.param("/v1/filter", ODD_POD, "POST", 400, r"\ud800\x1b[2J", id="signs that nobody can see"),
            pytest.param("/v1/filter", CALL, "GET", 405, "expected POST", id="GET"),
            pytest.param("/v1/preempt", CALL, "POST", 404, "unknown path; allowed", id="preempt is not offered"),
            pytest.param("/v1/bind", CALL, "POST", 404, "unknown path; allowed", id="bind is not offered"),
            pytest.param("/filter", CALL, "POST", 404, "unknown path; allowed", id="without the prefix"),
        ],
    )  # fmt: skip
    def test_is_told_in_a_line(self, path: str, body: object, method: str, status: int, text: str) -> None:
        reply = ask(app(), path, body, method)

        assert reply.status == status
        assert text in reply.body.decode()

    def test_a_body_over_the_limit_is_refused_before_it_is_read(self) -> None:
        assert ask(app(Limits(body=100)), "/v1/filter", CALL).status == 413

    def test_so_is_one_that_does_not_say_how_long_it_is(self) -> None:
        assert ask(app(Limits(body=100)), "/v1/filter", CALL, chunks=20).status == 413

    def test_a_body_that_drips_is_ended(self) -> None:
        assert ask(app(Limits(body_seconds=0.05)), "/v1/filter", CALL, chunks=50, delay=0.01).status == 408

    def test_bodies_wait_their_turn_where_there_is_no_room(self) -> None:
        async def both() -> list[Reply]:
            small = app(Limits(in_flight=10))
            return await asyncio.gather(*(send(small, "/v1/filter", CALL, "POST", delay=0.01) for _ in range(5)))

        assert [reply.status for reply in asyncio.run(both())] == [200] * 5

    def test_a_promise_takes_no_room(self) -> None:
        """Whoever promises a body and sends none holds nothing that others wait for."""

        async def silent_and_one() -> Reply:
            asked = app(Limits(in_flight=len(json.dumps(CALL)), body_seconds=WAIT))
            never = asyncio.Event()

            async def receive() -> dict[str, object]:
                await never.wait()
                return {"type": "http.disconnect"}

            async def nowhere(_: object) -> None:
                pass

            headers = [(b"content-length", b"134217728")]
            scope = {"type": "http", "method": "POST", "path": "/v1/filter", "headers": headers}
            silent = [asyncio.create_task(asked(scope, receive, nowhere)) for _ in range(5)]
            await asyncio.sleep(0)
            reply = await asyncio.wait_for(send(asked, "/v1/filter", CALL, "POST"), WAIT)
            never.set()
            await asyncio.gather(*silent)
            return reply

        assert asyncio.run(silent_and_one()).status == 200

    def test_bodies_in_chunks_are_held_within_the_bound(self) -> None:
        """Each part waits for room, but those of the first body: all come to their end, and the bound holds."""
        limit = 300
        asked = app(Limits(in_flight=limit + len(json.dumps(CALL)), body=len(json.dumps(CALL))))
        held: list[int] = []

        async def chunked() -> Reply:
            held.append(asked.held)
            return await send(asked, "/v1/filter", CALL, "POST", chunks=40, delay=0.001)

        async def all_of_them() -> list[Reply]:
            async def look() -> None:
                while True:
                    held.append(asked.held)
                    await asyncio.sleep(0)

            looking = asyncio.create_task(look())
            replies = await asyncio.gather(*(chunked() for _ in range(3)))
            looking.cancel()
            return replies

        size = len(json.dumps(CALL))
        assert [reply.status for reply in asyncio.run(all_of_them())] == [200] * 3
        assert 0 < max(held) <= limit + size
        assert asked.held == 0

    def test_values_in_a_body_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("numalign.server.wire.MAX_SIGNS", 1000)

        reply = ask(app(), "/v1/filter", b'{"a": [' + b"[]," * 500 + b"[]]}")

        assert (reply.status, reply.body) == (400, b"the body holds too many values\n")


class TestAboutItself:
    def test_probes(self) -> None:
        asked = app()

        assert ask(asked, "/healthz", method="GET") == Reply(200, b"ok\n")
        assert ask(asked, "/readyz", method="GET") == Reply(200, b"ok\n")
        asked.ready = False
        assert ask(asked, "/readyz", method="GET").status == 503

    def test_metrics_count_and_name_no_node(self) -> None:
        asked = app()
        ask(asked, "/v1/filter", CALL)
        ask(asked, "/v1/filter", b"{")

        text = ask(asked, "/metrics", method="GET").body.decode()

        assert 'numalign_extender_requests_total{verb="filter",code="200"} 1\n' in text
        assert 'numalign_extender_requests_total{verb="filter",code="400"} 1\n' in text
        assert 'numalign_extender_nodes_judged_total{verb="filter",answer="unresolvable"} 1\n' in text
        assert 'numalign_extender_request_duration_seconds_count{verb="filter"} 2\n' in text
        assert "numalign_topology_manager_admission_requests_total 3\n" in text
        assert "numalign_topology_manager_admission_errors_total 2\n" in text
        assert "numalign_nodes 3\n" in text
        assert '"a"' not in text

    def test_how_old_the_data_are_is_in_the_metrics(self, tmp_path: Path) -> None:
        file = tmp_path / "nodes.json"
        file.write_text("{}")
        os.utime(file, (0, 0))
        nodes = KnownNodes(lambda _: Fleet(NODES), lambda _: (), lambda fleet: Extender(fleet.nodes), (str(file),), 9)

        text = ask(App(nodes), "/metrics", method="GET").body.decode()

        assert "numalign_nodes_stale 3\n" in text
        (age,) = [line.split()[1] for line in text.splitlines() if line.startswith("numalign_node_data_age_seconds")]
        assert float(age) > 10**9

    def test_the_log_has_a_line_a_request_and_no_secret(self, capsys: pytest.CaptureFixture[str]) -> None:
        ask(app(), "/v1/filter", CALL)

        line = json.loads(capsys.readouterr().err)
        assert (line["verb"], line["status"], line["nodes"], line["passed"]) == ("filter", 200, 3, 1)
        assert "hunter2" not in json.dumps(line)
