"""The kubelet that a recorded case is of, and pods as it reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.kubelet.demand import PodDemand
from numalign.kubelet.reading import reader
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.model.apiserver import Known
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from tests.conformance import Case

RECORDED = (1, 32)
"""The kubelet of every case that names none."""

QUANTITIES = Known()
"""Few texts make up the amounts of all pods."""


def kubelet_of(case: Case) -> Kubelet:
    """Return the kubelet that answered a case."""
    text = case.get("kubeletVersion")
    return kubelet(RECORDED if text is None else parse_version(text))


def pod_of(case: Case, manifest: Mapping[str, Any], gates: Mapping[str, bool] | None = None) -> PodDemand:
    """Read what a pod asks of the managers, with the case's gates over those that its family always sets."""
    return _read(case, manifest, gates)[1]


def seen(case: Case, manifest: Mapping[str, Any]) -> Pod:
    """Read a pod as the kubelet of a case sees it."""
    return _read(case, manifest, None)[0]


def _read(case: Case, manifest: Mapping[str, Any], gates: Mapping[str, bool] | None) -> tuple[Pod, PodDemand]:
    of = kubelet_of(case)
    on = of.gates_with({**(gates or {}), **case.get("featureGates", {})})
    return reader(of.reading, on).read(read_pod(manifest, QUANTITIES))
