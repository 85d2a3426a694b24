"""The fixes of an explanation for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.model.cpuset import ids
from numalign.render.json import Data, warnings
from numalign.render.json.reasons import reason_json
from numalign.render.text.aligned_then import unaligned
from numalign.render.text.amounts import quantity_text
from numalign.render.text.changes import change_text, what_text
from numalign.render.text.reasons import stale_files
from numalign.render.text.words import reason_text

if TYPE_CHECKING:
    from numalign.analysis.reasons.steps import Reasoned
    from numalign.analysis.whatif.change import WayOut
    from numalign.analysis.whatif.past import Held
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.admit import PodResult
    from numalign.results.explain import ExplainedPod


def change_json(
    config: KubeletConfig,
    told: ExplainedPod,
    change: WayOut,
    after: PodResult | None,
    command: str | None,
    parts: Sequence[Reasoned],
) -> Data:
    """Write a change; `parts` are its parts, each with why it is needed."""
    return {
        "kind": change.kind,
        "text": change_text(change, config, after, told),
        "parts": [
            {
                "text": what_text(part.change, config, told.containers),
                "because": list(map(reason_text, reasons)),
                "facts": list(map(reason_json, reasons)),
                "holds": [_held(one) for one in part.held],
            }
            for part, reasons in parts
        ],
        "aligned": change.aligned,
        "notAligned": list(unaligned(change, after)),
        "pods": [pod.name for pod in change.pods],
        "fewest": change.fewest,
        "orPods": [pod.name for pod in change.or_pods],
        "requests": [_request(change, key) for key in change.amounts],
        "together": [
            {
                "resource": keys[0][1],
                "containers": [name for name, _ in keys],
                "ask": quantity_text(sum(map(change.ask, keys))),
            }
            for keys in change.together
        ],
        "settings": dict(change.flags),
        "anew": _anew(change),
        "deleteStateFiles": stale_files(change, config),
        "machine": change.machine or None,
        "hardware": [f"--{flag} {text}" for flag, text in change.hardware],
        "warnings": warnings(change.warnings),
        "command": command,
    }


def _request(change: WayOut, key: tuple[str, str]) -> Data:
    """Write what a container is to ask for of a resource, and what would do as well."""
    less = change.or_else.get(key)
    return {
        "container": key[0],
        "resource": key[1],
        "asked": quantity_text(change.asked[key]),
        "ask": quantity_text(change.amounts[key]),
        "orElse": quantity_text(less) if less else None,
        "orIn": [{"container": name, "keep": quantity_text(nano)} for name, nano in change.or_in.get(key, ())],
    }


def _anew(change: WayOut) -> dict[str, object] | None:
    """Say of a change of settings how the pods before fare under them."""
    return change.anew and {
        "admitted": [_held(one) for one in change.anew.newcomers],
        "admittedFirst": change.needs_newcomers,
        "keptOut": [_held(one) for one in change.anew.rivals],
        "elsewhere": list(change.anew.moved),
    }


def _held(one: Held) -> Data:
    """Write what a pod holds; a place is a set of NUMA nodes, an empty one where nobody knows it."""
    return {
        "pod": one.name,
        "holds": [
            {
                "resource": each.resource,
                "amount": each.amount,
                "places": [{"numaNodes": list(ids(mask)), "amount": amount} for mask, amount in each.places],
            }
            for each in one.amounts
        ],
    }
