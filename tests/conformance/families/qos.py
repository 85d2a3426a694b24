"""Family `qos`: QoS classes, as the pod is written and after the API server's defaulting."""

from __future__ import annotations

from typing import Any

from numalign.model.apiserver.defaulting import qos_class, read_pod
from numalign.model.pod import Container
from numalign.model.quantity import Quantity, parse


def decide(case: dict[str, Any]) -> dict[str, Any]:
    manifest = case["pod"]
    given = manifest.get("status", {}).get("qosClass")
    spec = manifest["spec"]
    written = [_as_written(entry) for entry in [*spec.get("initContainers", []), *spec["containers"]]]
    return {"qos": read_pod(manifest).qos, "qosUndefaulted": given or qos_class(written)}


def _as_written(entry: dict[str, Any]) -> Container:
    """Read a container without defaulting."""
    resources = entry.get("resources", {})
    return Container(entry["name"], "app", _read(resources.get("requests", {})), _read(resources.get("limits", {})))


def _read(texts: dict[str, str]) -> dict[str, Quantity]:
    return {name: parse(text) for name, text in texts.items()}
