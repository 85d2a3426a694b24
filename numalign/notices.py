"""The one table of warning codes: what each is, for standard error and for JSON (docs/json.md explains them).

A *warning* makes the answer doubtful, a *note* says what was passed over or taken for granted. Codes stay; new ones may
come, here and in the table of docs/json.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Level = Literal["warning", "note"]

CODES: Mapping[str, Level] = {
    # Admissions.
    "kubelet-panic": "warning",
    "kubelet-hang": "warning",
    "cpu-too-few": "warning",
    "cpu-handed-out-twice": "warning",
    "cpu-shared-pool-empty": "warning",
    "memory-overdrawn": "warning",
    "pod-level-unpinned": "warning",
    "fit": "warning",
    "device-missing": "warning",
    "preempted": "warning",
    "start-failed": "warning",
    "beside-refused": "warning",
    # Inputs.
    "no-pod": "note",
    "no-manifest": "note",
    "template-source": "warning",
    "replicas": "note",
    "finished": "note",
    "file-twice": "note",
    "beside-passed-over": "note",
    "approximation": "warning",
    "kustomize-source": "warning",
    "folder-below": "note",
    "unknown-field": "warning",
    "settings-incomplete": "warning",
    "settings-of-the-machine": "note",
    "kubelet-unused": "note",
    "baseline-gone": "note",
    "settings-foreign": "warning",
    "setting-ignored": "note",
    "policy-default": "note",
    "unknown-gate": "warning",
    # Nodes in use.
    "node-not-known": "warning",
    "snapshot-incomplete": "warning",
    "node-part-unreadable": "warning",
    "node-settings-unknown": "warning",
    "node-release-unknown": "warning",
    "node-file-odd": "warning",
    "checksum-ignored": "warning",
    "node-files-changing": "warning",
    "device-nodes-unknown": "warning",
    "flag-unreadable": "warning",
    # Claims.
    "no-claim": "note",
    "no-classes": "warning",
    "no-driver": "note",
    "claim-cpus-doubtful": "warning",
    "trace-made": "note",
    "trace-passed-over": "note",
    # Earlier kubelets.
    "history-gate": "note",
    "history-kubelet-version": "note",
    # Machine files.
    "node-id": "warning",
    "distances-long": "warning",
    "distances-partial": "warning",
    "hugepages-exceed": "warning",
    "no-cpus": "warning",
    "no-memory": "warning",
    "device-node": "warning",
    "preferred-unknown": "warning",
    # Hosts.
    "host": "warning",
    "cpus-unseen": "warning",
    "cpu-count": "warning",
    "socket-count": "warning",
    "cores-differ": "warning",
    "sockets-differ": "warning",
    "memory-unknown": "warning",
    "total-memory-unknown": "warning",
    "no-numa-nodes": "warning",
    "cpus-without-topology": "warning",
    "uncore-caches-unseen": "warning",
    "uncore-caches-mixed": "warning",
    "distances-by-position": "warning",
    "distances-incomplete": "warning",
    "many-numa-nodes": "warning",
    "node-ids-out-of-range": "warning",
    "inconsistent": "warning",
    "topology-missing": "warning",
    "cpus-guessed": "warning",
    "cores-guessed": "warning",
    "nodes-overlap": "warning",
    "package-maps-wrong": "warning",
    "distances-unusable": "warning",
    "list-unreadable": "warning",
    "pci-incomplete": "warning",
    "pci-unreadable": "warning",
    "device-node-unknown": "warning",
    # Clusters.
    "nrt-version": "note",
    "nrt-name": "warning",
    "nrt-policy-ignored": "note",
    "nrt-policy-old": "warning",
    "nrt-policy-unknown": "warning",
    "nrt-policy-contradicted": "warning",
    "nrt-attribute-unknown": "warning",
    "nrt-zone-name": "warning",
    "nrt-zone-type": "note",
    "nrt-zone-parent": "warning",
    "nrt-zone-twice": "warning",
    "nrt-no-zone": "warning",
    "nrt-no-costs": "note",
    "nrt-cost-unknown": "note",
    "nrt-amount-negative": "warning",
    "nrt-amount-odd": "warning",
    "nrt-amount-missing": "warning",
    "nrt-assumed": "note",
    "nrt-stale": "warning",
    "topology-left-out": "note",
    "slices-left-out": "note",
    "topology-contradicted": "warning",
    "machine-unknown": "warning",
    "pods-replayed": "warning",
    "pods-passed-over": "note",
    "objects-passed-over": "note",
    # Files that were written.
    "hard-links": "warning",
    "owner-changed": "warning",
}


def level(code: str) -> Level:
    """Tell how much a code weighs; one that nobody entered here weighs as much as any."""
    return CODES.get(code, "warning")
