"""Recorded exchanges, sent to a real server and read as strictly as Go's types allow (docs/rules/scheduling.md 5).

The client is Python's own HTTP client and `jsonschema`; none of it is numalign's. The schema is written from the field
names of 5.2: every field is there, none is made up, absent lists are null, scores are whole numbers.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from numalign.scheduler.nrt.value import manifest
from tests.server.nodes import NODES
from tests.server.test_serve_process import WAIT, Server, serving

EXCHANGES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERED = [one for one in EXCHANGES if one["status"] == 200]

TEXTS = {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}
FILTER_RESULT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"],
    "properties": {
        "Nodes": {
            "type": ["object", "null"],
            "additionalProperties": False,
            "required": ["metadata", "items"],
            "properties": {"metadata": {"type": "object"}, "items": {"type": "array", "items": {"type": "object"}}},
        },
        "NodeNames": {"type": ["array", "null"], "items": {"type": "string"}},
        "FailedNodes": TEXTS,
        "FailedAndUnresolvableNodes": TEXTS,
        "Error": {"const": ""},
    },
}
PRIORITIES = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["Host", "Score"],
        "properties": {"Host": {"type": "string"}, "Score": {"type": "integer", "minimum": 0, "maximum": 10}},
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The nodes of 7.7, as an exporter published them."""
    file = tmp_path_factory.mktemp("nodes") / "nrts.json"
    file.write_text(json.dumps({"kind": "List", "items": [manifest(one.nrt) for one in NODES if one.nrt]}))
    with serving(file) as one:
        yield one


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object of which no key comes twice."""
    result = dict(pairs)
    assert len(result) == len(pairs)
    return result


def send(server: Server, exchange: Mapping[str, Any]) -> tuple[int, str | None, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)) as connection:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/v1/{exchange['verb']}", json.dumps(exchange["request"]), headers)
        with connection.getresponse() as response:
            return response.status, response.getheader("Content-Type"), response.read()


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda one: str(one["name"]))
def test_a_recorded_exchange(exchange: Mapping[str, Any], server: Server) -> None:
    status, kind, body = send(server, exchange)

    assert status == exchange["status"]
    if status == 200:
        assert kind == "application/json"
        reply = json.loads(body, object_pairs_hook=once)
        jsonschema.validate(reply, FILTER_RESULT if exchange["verb"] == "filter" else PRIORITIES)
        assert reply == exchange["reply"]


def asked_names(request: Mapping[str, Any]) -> list[str]:
    fields = {name.lower(): value for name, value in request.items()}
    names: list[str] | None = fields.get("nodenames")
    return [one["metadata"]["name"] for one in fields["nodes"]["items"]] if names is None else names


@pytest.mark.parametrize(
    "exchange", [one for one in ANSWERED if one["verb"] == "filter"], ids=lambda one: str(one["name"])
)
def test_what_was_recorded_keeps_the_rules_of_filter(exchange: Mapping[str, Any]) -> None:
    """E-1 to E-3, E-7: one list, every node answered once, and no name that was not asked for."""
    reply, asked = exchange["reply"], asked_names(exchange["request"])
    by_name = reply["Nodes"] is None

    assert by_name is (reply["NodeNames"] is not None)
    passed = reply["NodeNames"] if by_name else [one["metadata"]["name"] for one in reply["Nodes"]["items"]]
    assert sorted([*passed, *reply["FailedNodes"], *reply["FailedAndUnresolvableNodes"]]) == sorted(asked)


@pytest.mark.parametrize(
    "exchange", [one for one in ANSWERED if one["verb"] == "prioritize"], ids=lambda one: str(one["name"])
)
def test_what_was_recorded_keeps_the_rules_of_prioritize(exchange: Mapping[str, Any]) -> None:
    assert [one["Host"] for one in exchange["reply"]] == asked_names(exchange["request"])
