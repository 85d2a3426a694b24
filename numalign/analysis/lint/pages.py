"""The manual page of every code of `lint`: what docs/lint.md and `lint --explain` say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.kubelet.releases import NEWEST_TEXT
from numalign.values import NamedTuple


class Page(NamedTuple):
    """What is said of a code."""

    effects: str
    """What comes of it, and when."""
    found: str
    why: str
    instead: str


PAGES: Final[Mapping[str, Page]] = {
    "not-guaranteed": Page(
        effects="unaligned",
        found="the pod is Burstable or BestEffort",
        why="CPU Manager and Memory Manager pin Guaranteed pods only; only devices are aligned",
        instead="limits for cpu and memory in every container, also init containers; requests equal to limits, or none",
    ),
    "limit-missing": Page(
        effects="unaligned",
        found="no limit, or one of 0, for cpu or memory",
        why="a single such container, even a helper, makes the pod not Guaranteed",
        instead="the limit; for an injected container, the annotations of its injector",
    ),
    "request-not-limit": Page(
        effects="unaligned",
        found="a request of cpu or memory that differs from the limit",
        why="the pod is Burstable",
        instead="the limit's amount, or no request",
    ),
    "fractional-cpus": Page(
        effects="unaligned; note for a helper beside a container with exclusive CPUs",
        found="an app container with `1500m` CPUs",
        why="the container runs in the shared pool, on any NUMA node",
        instead="a whole number; none needed for a helper",
    ),
    "sidecar-cpus": Page(
        effects="note",
        found="a sidecar (`restartPolicy: Always`) with whole CPUs in a Guaranteed pod",
        why="the sidecar holds its CPUs for the life of the pod",
        instead="a fraction, if shared CPUs are enough",
    ),
    "injected-proxy": Page(
        effects="note",
        found='`sidecar.istio.io/inject: "true"` without equal requests and limits for the proxy',
        why="Istio adds a container with requests below its limits, and the pod is not Guaranteed",
        instead="the annotations `proxyCPU` and `proxyCPULimit`, `proxyMemory` and `proxyMemoryLimit`, equal in pairs",
    ),
    "network-devices": Page(
        effects="note",
        found="a Multus annotation `k8s.v1.cni.cncf.io/networks`, and no device but GPUs in the requests",
        why="an injector may add the devices of SR-IOV networks, which take part in the alignment",
        instead="the devices in requests and limits, or the pod from the cluster",
    ),
    "fractional-bytes": Page(
        effects="note; rejected where the Memory Manager is Static",
        found="memory or huge pages that are not a whole number of bytes, such as `3.73Gi`",
        why="the Memory Manager rejects the pod: `failed to represent quantity as int64`",
        instead="the next whole number: `3819Mi` or `3820Mi`",
    ),
    "odd-cpus": Page(
        effects="note; rejected where the kubelet has `full-pcpus-only`",
        found="CPUs that are not whole cores (2 CPUs each without a machine)",
        why="`full-pcpus-only` rejects the pod: `SMTAlignmentError`",
        instead="the next multiple",
    ),
    "unequal-widths": Page(
        effects="rejected",
        found="only with a machine: resources that need different numbers of NUMA nodes on an empty node",
        why="`restricted` requires all resources on the same NUMA nodes, as few as possible; "
        "`single-numa-node` allows 1",
        instead="amounts that need the same number of NUMA nodes",
    ),
    "dra-claim": Page(
        effects="unaligned; note if no container uses it",
        found="claims of dynamic resource allocation",
        why="the kubelet does not align devices of claims",
        instead="CPUs from a claim, or a `matchAttribute` over the devices ([dra.md](dra.md))",
    ),
    "claim-and-cpus": Page(
        effects="unaligned",
        found="a container with exclusive CPUs from the kubelet and devices of a claim",
        why="no constraint aligns the two",
        instead="CPUs from a claim; `numalign admit --slices` shows both",
    ),
    "claim-attribute": Page(
        effects="impossible; note for the standard name",
        found="a `matchAttribute` (with `--slices` also `distinctAttribute`) that a driver involved does not publish",
        why="the claim is never allocated, the pod stays `Pending`",
        instead="a name that all drivers publish",
    ),
    "claim-class": Page(
        effects="impossible",
        found="only with `--slices`: a request names an unknown DeviceClass",
        why="the pod stays `Pending`",
        instead="a known class",
    ),
    "claim-selector": Page(
        effects="impossible",
        found="a selector whose estimated cost is above the API server's limit",
        why="the API server rejects the claim",
        instead="comparisons without patterns, of attributes that are read directly",
    ),
    "claim-devices": Page(
        effects="impossible",
        found="only with `--slices`: no published device on any node, free or held, matches a request",
        why="the pod stays `Pending`",
        instead="other selectors, or another class",
    ),
    "claim-absent": Page(
        effects="impossible",
        found="only with `--slices`: the pod names a claim or template that is missing in the files and the cluster",
        why="the pod stays `Pending`",
        instead="create it",
    ),
    "claim-cpus": Page(
        effects="unaligned",
        found="CPUs of a claim (`dra.cpu`) that `requests.cpu` does not equal, or that two containers share",
        why="the scheduler counts wrong CPUs and a wrong QoS class; the driver prepares a claim for 1 container",
        instead="the same number in requests and limits; a claim for each",
    ),
    "pod-level-resources": Page(
        effects="unaligned",
        found="`spec.resources` with CPU, memory or huge pages",
        why="CPU Manager and Memory Manager skip such pods "
        f"(1.34 to {NEWEST_TEXT}, unless `PodLevelResourceManagers` is on)",
        instead="requests and limits in each container",
    ),
    "static-pod-level": Page(
        effects="note",
        found="a static pod (`kubernetes.io/config.source`) whose `spec.resources` lacks requests or limits",
        why="from 1.37 on the API server fills them in, which a static pod does not pass (concluded, not stated)",
        instead="all requests and limits of the pod in `spec.resources`",
    ),
    "restart-device": Page(
        effects="note",
        found="an init container that requests a device",
        why="a container that has ended needs its device anew at a kubelet restart, before the device plugin registers",
        instead="the device in a sidecar or app container",
    ),
    "restart": Page(
        effects="note",
        found="only with a machine: the kubelet admits the pod, and rejects the running pod when it restarts",
        why="before 1.37 `full-pcpus-only` compares the whole request with free cores; memory of ended init containers "
        "is requested again",
        instead="at most half the cores, or kubelet 1.37; no sidecar beside init containers in scope pod",
    ),
    "hugepages-without-memory": Page(
        effects="unaligned",
        found="huge pages without a limit of memory",
        why="the pod is not Guaranteed, and the Memory Manager does not pin it",
        instead="add `limits.memory`",
    ),
    "hugepages-name": Page(
        effects="impossible",
        found="a size that nodes name otherwise, such as `hugepages-2048Ki`",
        why="names are compared as text",
        instead="the name that nodes use: `hugepages-2Mi`",
    ),
    "device-missing": Page(
        effects="impossible",
        found="only with a machine: a device that the machine does not have",
        why="the pod runs without the device, and no scheduler chooses the node",
        instead="the name that the machine has, or another machine",
    ),
    "exceeds-machine": Page(
        effects="impossible",
        found="only with a machine: more than the whole machine has",
        why="even an empty node rejects the pod",
        instead="less, or another machine",
    ),
}
"""In the order of docs/lint.md."""
