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
        why="CPU and Memory Manager serve Guaranteed pods alone; only devices are aligned",
        instead="limits for cpu and memory in every container, init containers too; requests equal to them or none",
    ),
    "limit-missing": Page(
        effects="unaligned",
        found="no limit, or one of 0, for cpu or memory",
        why="one such container, a helper too, and the pod is not Guaranteed",
        instead="add the limit; of an injected container with its injector's annotations",
    ),
    "request-not-limit": Page(
        effects="unaligned",
        found="a request of cpu or memory that differs from the limit",
        why="the pod is Burstable",
        instead="the limit's amount, or no request",
    ),
    "fractional-cpus": Page(
        effects="unaligned; note for a helper beside a container with CPUs of its own",
        found="an app container with `1500m` CPUs",
        why="it runs in the shared pool, on any node",
        instead="a whole number; for a helper that may run there: nothing",
    ),
    "sidecar-cpus": Page(
        effects="note",
        found="a sidecar (`restartPolicy: Always`) with whole CPUs in a Guaranteed pod",
        why="it holds them as long as the pod lives",
        instead="a fraction, if the shared pool will do",
    ),
    "injected-proxy": Page(
        effects="note",
        found='`sidecar.istio.io/inject: "true"` without equal requests and limits for the proxy',
        why="Istio adds a container with requests below its limits, and the pod is not Guaranteed",
        instead="the annotations `proxyCPU` and `proxyCPULimit`, `proxyMemory` and `proxyMemoryLimit`, equal in pairs",
    ),
    "fractional-bytes": Page(
        effects="note; rejected where the Memory Manager is Static",
        found="memory or huge pages that are not read as a whole number of bytes, such as `3.73Gi`",
        why="the Memory Manager refuses the pod: `failed to represent quantity as int64`",
        instead="the next whole number: `3819Mi` or `3820Mi`",
    ),
    "odd-cpus": Page(
        effects="note; rejected where the kubelet has `full-pcpus-only`",
        found="a count of CPUs that is no multiple of a core's threads (2 without a machine)",
        why="nodes with `full-pcpus-only` refuse it: `SMTAlignmentError`",
        instead="the next multiple",
    ),
    "unequal-widths": Page(
        effects="rejected",
        found="only with a machine: resources that differ in how many NUMA nodes they need on it when it is empty",
        why="`restricted` wants one set of nodes that all of them prefer, and there is none; for "
        "`single-numa-node` one is too wide",
        instead="amounts that need the same number of nodes",
    ),
    "dra-claim": Page(
        effects="unaligned; note if no container uses it",
        found="claims of dynamic resource allocation",
        why="they take no part in the kubelet's alignment",
        instead="a device plugin's resource, or see [dra.md](dra.md)",
    ),
    "claim-and-cpus": Page(
        effects="unaligned",
        found="a container with CPUs of its own from the kubelet and devices by claim",
        why="nothing keeps them together",
        instead="CPUs by claim too; `numalign admit --slices` shows both",
    ),
    "claim-attribute": Page(
        effects="impossible; note for the standard name",
        found="a `matchAttribute` (with `--slices` also `distinctAttribute`) that a driver involved does not publish",
        why="the claim is never allocated, the pod stays `Pending`",
        instead="a name that all drivers publish",
    ),
    "claim-class": Page(
        effects="impossible",
        found="only with `--slices`: a request names a DeviceClass that is not there",
        why="the pod stays `Pending`",
        instead="a class that is there",
    ),
    "claim-devices": Page(
        effects="impossible",
        found="only with `--slices`: no published device, on any node and whoever holds it, satisfies a request",
        why="the pod stays `Pending`",
        instead="other selectors, or another class",
    ),
    "claim-absent": Page(
        effects="impossible",
        found="only with `--slices`: the pod names a claim or template that neither the files nor the cluster have",
        why="the pod stays `Pending`",
        instead="create it",
    ),
    "claim-cpus": Page(
        effects="unaligned",
        found="CPUs by claim (`dra.cpu`) that `requests.cpu` does not mirror, or that two containers share",
        why="the scheduler counts the node's CPUs wrong, and the QoS class; the driver serves one container",
        instead="the same number in requests and limits; a claim for each",
    ),
    "pod-level-resources": Page(
        effects="unaligned",
        found="`spec.resources` with CPU, memory or huge pages",
        why="CPU Manager and Memory Manager skip such pods "
        f"(1.34 to {NEWEST_TEXT}, unless `PodLevelResourceManagers` is on)",
        instead="requests and limits in each container",
    ),
    "hugepages-without-memory": Page(
        effects="unaligned",
        found="huge pages without a limit of memory",
        why="the pod is not Guaranteed, so the Memory Manager does not serve it",
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
        found="only with a machine: a device it does not have",
        why="the pod would run there without it, and no scheduler would send it",
        instead="the name that the machine has, or another machine",
    ),
    "exceeds-machine": Page(
        effects="impossible",
        found="only with a machine: more than all of it has",
        why="no empty node would do",
        instead="less, or another machine",
    ),
}
"""In the order of docs/lint.md."""
