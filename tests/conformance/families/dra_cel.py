"""Family `dra_cel`: selectors on one device: match or not, an error while running, an error of compiling."""

from __future__ import annotations

from typing import Any

from numalign.dra.cel.device import compile_selector, device_value
from numalign.dra.cel.errors import CompileError, EvaluationError
from numalign.dra.reading import read_slice


def decide(case: dict[str, Any]) -> dict[str, Any]:
    return {"results": [_decide(case, recorded) for recorded in case["results"]]}


def expect(case: dict[str, Any]) -> dict[str, Any]:
    """Texts of errors are cel-go's; their class is compared."""
    outcomes = [one["outcome"] if "outcome" in one else one["anyOf"][0] for one in case["results"]]
    return {"results": [one["match"] if "match" in one else next(iter(one)) for one in outcomes]}


def _decide(case: dict[str, Any], recorded: dict[str, Any]) -> bool | str:
    lists = "DRAListTypeAttributes" in recorded["features"]
    spec = {"driver": case["device"]["driver"], "pool": {"name": "p"}, "devices": [{"name": "d", **case["device"]}]}
    device = read_slice({"spec": spec}).devices[0]
    try:
        selector = compile_selector(case["expression"], lists=lists, includes=recorded["release"] == "1.36")
    except CompileError:
        return "compileError"
    try:
        return selector.matches(device_value(device, case["device"]["driver"], lists=lists))[0]
    except EvaluationError:
        return "error"
