"""The one table of warning codes: what each is, and what to do, on standard error and in JSON (docs/json.md).

A *warning* makes the answer doubtful, a *note* says what was skipped or assumed. Codes stay; new ones come here and
into the table of docs/json.md. A code without a fix says beside it why nothing is to be done, or where the fix is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numalign.errors import Notice, parted

Level = Literal["warning", "note"]

_HOST = "correct a machine file of this host (numalign discover --save FILE) and use it with --machine"

CODES: Mapping[str, tuple[Level, str | None]] = {
    # Admissions.
    "kubelet-panic": ("warning", "keep the pod off this node: each restart meets the pod and crashes again"),
    "kubelet-hang": ("warning", "keep the pod off this node; to end the hang, delete the pod and restart the kubelet"),
    "kubelet-slow": ("warning", "request fewer aligned resources, or use a machine with fewer NUMA nodes"),
    "cpu-too-few": ("warning", None),  # the message has the numbers; the kubelet has a bug here
    "cpu-handed-out-twice": ("warning", None),  # a kubelet bug; the message says where
    "cpu-shared-pool-empty": ("warning", "request fewer CPUs, so that the shared pool keeps one"),
    "memory-overdrawn": ("warning", None),  # the kubelet has a bug here; numalign explain shows who holds the memory
    "pod-level-unpinned": ("warning", "set requests and limits in each container, and remove spec.resources"),
    "init-containers-unmarked": ("warning", "add --beside FILE (kubectl get pods -o json)"),
    "fit": ("warning", None),  # numalign explain finds a fix for the pod
    "device-missing": ("warning", None),  # the message names the similar resource or the flag
    "rail-apart": ("warning", "request GPUs and NICs so that each GPU can have a NIC of its PCI switch"),
    "rail-unknown": ("warning", "use a machine file with the PCI bus (numalign discover --save FILE)"),
    "preempted": ("warning", None),  # the scheduler's own choice
    "start-failed": ("warning", "for a configuration that starts, run numalign config check with the same flags"),
    "observed-differs": ("warning", "run numalign snapshot on the node, and add --node with its file"),
    "beside-refused": ("warning", None),  # the message says what to do
    # Inputs.
    "no-pod": ("note", None),  # a document without a pod changes no answer
    "no-manifest": ("note", None),  # a file without a manifest changes no answer
    "template-source": ("warning", "render the template first"),
    "replicas": ("note", None),  # the message names the flag
    "finished": ("note", None),  # an ended pod holds nothing
    "duplicate-key": ("warning", "remove one of the lines"),
    "file-twice": ("note", None),  # reading a file once is what was meant
    "beside-passed-over": ("note", None),  # pods of other nodes hold nothing here
    "approximation": ("warning", "for an exact answer, use the pod from the cluster: kubectl get pod NAME -o json"),
    "network-devices": ("warning", "request the networks' devices, or judge the pod from the cluster"),
    "kustomize-source": ("warning", None),  # the message has the command
    "folder-below": ("note", None),  # the message names the folder
    "unknown-field": ("warning", "correct or remove the field"),
    "settings-incomplete": ("warning", None),  # the message names the missing flag, where one is missing
    "settings-estimated": ("warning", None),  # the system does not publish more
    "setting-not-taken": ("warning", "remove the setting, or set it where the system takes it"),
    "value-unexpanded": ("warning", "expand the template first"),
    "settings-of-the-machine": ("note", None),  # the machine file has these settings on purpose
    "kubelet-unused": ("note", "remove the kubelet flags"),
    "baseline-gone": ("note", None),  # the message names the flag
    "settings-foreign": ("warning", "check that the configuration is of this node"),
    "setting-ignored": ("note", "remove the setting"),
    "policy-default": ("note", "add --policy single-numa-node"),
    "unknown-gate": ("warning", "remove the feature gate, or name the release of the kubelet (--kubelet-version)"),
    "devices-without-node": ("warning", None),  # the message says what to do
    "hwloc-hidden": ("warning", None),  # the message says what to do
    "paste-cut": ("warning", None),  # the message says what to do
    "paste-no-cores": ("warning", None),  # the message says what to do
    "paste-no-distances": ("note", None),  # the message says what to do
    "paste-no-memory": ("warning", None),  # the message says what to do
    "paste-no-node": ("warning", None),  # the message says what to do
    "paste-no-numa": ("warning", None),  # the message says what to do
    "paste-no-sockets": ("warning", None),  # the message says what to do
    "paste-rounded": ("note", None),  # the message says what to do
    # Nodes in use.
    "node-not-known": ("warning", "name a source that has it, or add flags"),
    "snapshot-incomplete": ("warning", "run the command as root"),
    "node-part-unreadable": ("warning", "run the command as root"),
    "node-settings-unknown": ("warning", "add --kubelet-config FILE"),
    "node-release-unknown": ("warning", "name a known release (--kubelet-version)"),
    "node-file-odd": ("warning", "numalign status shows the files and what to do"),
    "checksum-ignored": ("warning", None),  # asked for with --ignore-checksums
    "node-files-changing": ("warning", "run the command again"),
    "device-nodes-unknown": ("warning", "name the NUMA nodes in a machine file (--machine FILE)"),
    "flag-unreadable": ("warning", "name the setting with a flag of numalign"),
    # Claims.
    "no-claim": ("note", None),  # a document without a claim changes no answer
    "no-classes": ("warning", "add the classes: kubectl get resourceslices,deviceclasses -A -o json"),
    "no-driver": ("note", None),  # only drivers publish devices
    "claim-cpus-doubtful": ("warning", None),  # the slices do not hold more
    "trace-made": ("note", None),  # what the trace omits is assumed, and the message says how
    "trace-volumes": ("note", None),  # their objects are in no trace
    "trace-passed-over": ("note", None),  # such rows use nothing
    # Earlier kubelets.
    "history-gate": ("note", None),  # numalign assumes what the release needs
    "history-kubelet-version": ("note", None),  # asked for with --kubelet-version
    "published-release": ("note", None),  # the message says what to do
    "inferred": ("warning", None),  # the message says what to do
    "upgrade": ("warning", None),  # the message says what to do
    # Machine files.
    "node-id": ("warning", "use node ids 0-63, or policy none"),
    "distances-long": ("warning", "write one distance for each NUMA node"),
    "distances-partial": ("warning", "write distances for all NUMA nodes, or for none"),
    "hugepages-exceed": ("warning", "lower the huge pages, or raise the memory of the node"),
    "no-cpus": ("warning", "add cpus to a NUMA node"),
    "no-memory": ("warning", "add memory to a NUMA node"),
    "device-node": ("warning", "correct the NUMA node of the device"),
    "preferred-unknown": ("warning", "correct the ids of the set"),
    # Hosts.
    "host": ("warning", "numalign doctor shows what is readable"),
    "cpus-unseen": ("warning", _HOST),
    "cpu-count": ("warning", _HOST),
    "socket-count": ("warning", _HOST),
    "cores-differ": ("warning", _HOST),
    "sockets-differ": ("warning", _HOST),
    "memory-unknown": ("warning", _HOST),
    "total-memory-unknown": ("warning", _HOST),
    "no-numa-nodes": ("warning", _HOST),
    "cpus-without-topology": ("warning", _HOST),
    "uncore-caches-unseen": ("warning", _HOST),
    "uncore-caches-mixed": ("warning", _HOST),
    "distances-by-position": ("warning", _HOST),
    "distances-incomplete": ("warning", _HOST),
    "many-numa-nodes": ("warning", None),  # the message names the option
    "node-ids-out-of-range": ("warning", "use policy none on this host"),
    "inconsistent": ("warning", _HOST),
    "topology-missing": ("warning", _HOST),
    "cpus-guessed": ("warning", _HOST),
    "cores-guessed": ("warning", _HOST),
    "nodes-overlap": ("warning", _HOST),
    "package-maps-wrong": ("warning", _HOST),
    "distances-unusable": ("warning", _HOST),
    "list-unreadable": ("warning", _HOST),
    "pci-incomplete": ("warning", _HOST),
    "pci-unreadable": ("warning", "run the command as root"),
    "device-node-unknown": ("warning", "name the NUMA nodes in a machine file (--machine FILE)"),
    # Clusters.
    "nrt-version": ("note", None),  # the two versions have the same fields
    "nrt-name": ("warning", "write the name in lower case"),
    "nrt-policy-ignored": ("note", "remove the field, or write the attribute topologyManagerPolicy"),
    "nrt-policy-old": ("warning", "write the attributes topologyManagerPolicy and topologyManagerScope"),
    "nrt-policy-unknown": ("warning", "write a known policy"),
    "nrt-policy-contradicted": ("warning", "write the same policy in both places"),
    "nrt-attribute-unknown": ("warning", "correct the value of the attribute"),
    "nrt-zone-name": ("warning", "name the zone node-NUMBER"),
    "nrt-zone-type": ("note", None),  # zones of other types are allowed
    "nrt-zone-parent": ("warning", "remove the parent of the zone"),
    "nrt-zone-twice": ("warning", "remove one of the zones"),
    "nrt-crash": ("warning", "number the zones from 0 without gaps"),
    "nrt-unreadable": ("warning", "publish the object again"),
    "nrt-no-zone": ("warning", "write a zone of type Node for each NUMA node"),
    "nrt-no-costs": ("note", None),  # costs are optional
    "nrt-cost-unknown": ("note", None),  # readers ignore the cost
    "nrt-amount-negative": ("warning", "publish the object again"),
    "nrt-amount-odd": ("warning", "publish the object again"),
    "nrt-amount-missing": ("warning", "publish the object again"),
    "nrt-assumed": ("note", None),  # the object has no more; --machine-of adds the hardware
    "nrt-stale": ("warning", "publish the object again"),
    "topology-left-out": ("note", None),  # the object has no more
    "slices-left-out": ("note", None),  # the slices have no more
    "topology-contradicted": ("warning", "publish both objects again"),
    "machine-unknown": ("warning", "add --machine-of LABEL=VALUE:MACHINE"),
    "pods-replayed": ("warning", "add a snapshot of the node, which has the places"),
    "pods-passed-over": ("note", None),  # such pods hold nothing
    "objects-passed-over": ("note", None),  # objects of other kinds change no answer
    # Files that were written.
    "hard-links": ("warning", "write to a new name, or make the links again"),
    "owner-changed": ("warning", "restore the owner with chown"),
}


def level(code: str) -> Level:
    """Tell how much a code weighs; one that nobody entered here weighs as much as any."""
    return CODES[code][0] if code in CODES else "warning"


def with_fix(notice: Notice) -> Notice:
    """Add to a notice what to do, where its own words do not say it."""
    _, fix = CODES.get(notice.code, ("warning", None))
    if fix is None or len(parted(notice.message)) > 1:
        return notice
    return notice._replace(message=f"{notice.message}; fix: {fix}")
