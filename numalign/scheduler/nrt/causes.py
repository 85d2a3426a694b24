"""Why a NodeResourceTopology filter and the kubelet disagree: X-1 to X-9, T-14 (docs/rules/scheduling.md 1.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from numalign.kubelet import admission
from numalign.model.resources import CPU
from numalign.scheduler import filter_nrt
from numalign.scheduler.disagreement import Case, KnownCause, TakenBack, admits_with, published_now
from numalign.scheduler.nrt.value import NodeResourceTopology, NUMAZone, manager_config, numa_zones
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import is_affine, is_whole

Passes = Callable[[Case, NodeResourceTopology | None, PodRequest], bool]
"""Tells whether a filter passes, asked with an object and a request."""


def plugin_passes(case: Case, nrt: NodeResourceTopology | None, request: PodRequest) -> bool:
    """Tell whether today's plugin passes; not while its cache trusts nothing (T-3)."""
    if case.distrust and not filter_nrt.passes_unseen(request):
        return False
    return filter_nrt.check_nrt(nrt, case.node.totals.allocatable, request).passed


def _asking(passes: Passes, change: Callable[[Case], PodRequest]) -> TakenBack:
    """Tell whether a filter, asked with another request, agrees with the kubelet."""

    def taken_back(case: Case) -> bool:
        request = change(case)
        return request != case.request and passes(case, case.nrt, request) == case.admits

    return taken_back


def _fresh(passes: Passes) -> TakenBack:
    """X-1: the object as the node would publish it now, and nothing on its way there."""

    def taken_back(case: Case) -> bool:
        now = published_now(case)
        if case.node.known != "exact" or case.node.nrt is None:
            return False
        on_its_way = case.distrust == "reserved"
        settled = case._replace(distrust="") if on_its_way else case
        return (on_its_way or now.zones != case.node.nrt.zones) and passes(settled, now, case.request) == case.admits

    return taken_back


def _nobody_else(case: Case) -> bool:
    """X-9: without pods of another scheduler, which the cache knows to be missing in the object."""
    if case.distrust != "foreign":
        return False
    return plugin_passes(case._replace(distrust=""), published_now(case), case.request) == case.admits


def _with_items(request: PodRequest, kept: Callable[[str, int], bool]) -> PodRequest:
    """Leave out what containers ask for and is not to be kept, by name and amount."""
    containers = [one._replace(items=tuple([each for each in one.items if kept(*each)])) for one in request.containers]
    return request._replace(containers=tuple(containers))


def _whole_cpus(case: Case) -> PodRequest:
    """X-2: the pod without CPUs that the kubelet does not pin."""
    if not case.request.guaranteed:
        return case.request
    return _with_items(case.request, lambda name, amount: name != CPU or is_whole(amount))


def _shared_pool(case: Case) -> bool:
    """X-3: the kubelet refuses at the check of the whole node, not for NUMA's sake."""
    return not case.admits and admission.admits(case.session._replace(view=None), case.pod)


def _any_zone(case: Case) -> bool:
    """X-4: containers may take any zone that holds them, as the kubelet might choose."""
    if case.nrt is None or len(case.request.containers) < 2 or manager_config(case.nrt).scope == "pod":
        return False
    return _in_kubelets_zones(case, case.nrt) if case.passes else _assignable(case)


def _in_kubelets_zones(case: Case, nrt: NodeResourceTopology) -> bool:
    """Tell whether the filter would fail had it put the first containers where the kubelet puts them."""
    hints = admission.admit(case.session, case.pod).result.hints
    zones: Sequence[NUMAZone] | None = numa_zones(nrt)
    for one in case.request.containers:
        mask = hints[one.name].numa_affinity if one.name in hints else None
        if zones is None or one.kind != "app":
            continue
        found = filter_nrt.pick_zone(zones, case.node.totals.allocatable, one.items, guaranteed=case.request.guaranteed)
        if not isinstance(found, int):
            return True
        chosen = mask.bit_length() - 1 if mask and not mask & (mask - 1) else found
        zones = filter_nrt.subtract(zones, chosen, one, guaranteed=case.request.guaranteed)
    return zones is None


def _assignable(case: Case) -> bool:
    """Tell whether some choice of zones holds all containers: tried by putting them in another order."""
    apps = [one for one in case.request.containers if one.kind == "app"]
    rest = tuple([one for one in case.request.containers if one.kind != "app"])
    ordered = sorted(apps, key=lambda one: -one.amounts.get(CPU, 0))
    return plugin_passes(case, case.nrt, case.request._replace(containers=(*rest, *ordered)))


def _sidecars(case: Case) -> PodRequest:
    """X-5: sidecars counted as containers that run beside the others."""
    containers = [one._replace(kind="app") if one.kind == "sidecar" else one for one in case.request.containers]
    return case.request._replace(containers=tuple(containers))


def _other_policy(case: Case) -> bool:
    """X-6: the node's policy is one that is never filtered."""
    return case.passes and case.nrt is not None and manager_config(case.nrt).policy == "restricted"


def _no_options(case: Case) -> bool:
    """X-7: the kubelet without options of the CPU Manager."""
    return admits_with(case, cpu_manager_policy_options=None) != case.admits


def _no_overhead(case: Case) -> PodRequest:
    """X-8: the pod without overhead."""
    return case.request._replace(overhead=())


def knows_better(case: Case) -> bool:
    """Tell whether today's plugin, with sidecars counted, agrees with the kubelet where the proposal does not."""
    return any(plugin_passes(case, case.nrt, one) == case.admits for one in (case.request, _sidecars(case)))


def _unlisted(case: Case) -> PodRequest:
    """T-14, S-5: the pod without CPU, memory and huge pages that no zone lists."""
    listed = case.nrt.listed if case.nrt else frozenset()
    return _with_items(case.request, lambda name, _: name in listed or not is_affine(name))


SHARED_POOL: Final = KnownCause(
    "X-3", "pods in the shared pool are not in the object: only the node total is too small", _shared_pool
)
NOBODY_ELSE: Final = KnownCause(
    "X-9", "pods came from elsewhere, and the plugin's cache waits for an object that counts them", _nobody_else
)


def causes(passes: Passes) -> tuple[KnownCause, ...]:
    """List each cause with what takes it back, in the order of the rules; `passes` asks the filter again."""
    return (
        KnownCause("X-1", "the published object is old", _fresh(passes)),
        KnownCause(
            "X-2",
            "the kubelet does not pin fractional CPUs, the filter requires a zone with these CPUs",
            _asking(passes, _whole_cpus),
        ),
        SHARED_POOL,
        KnownCause("X-4", "the filter and the kubelet choose different zones for containers", _any_zone),
        KnownCause("X-5", "the filter does not count sidecars beside the other containers", _asking(passes, _sidecars)),
        KnownCause("X-6", "the filter does not check nodes with this policy", _other_policy),
        KnownCause(
            "X-7",
            "options of the CPU Manager, or reserved CPUs, leave less than the object counts",
            _no_options,
        ),
        KnownCause(
            "X-8", "the filter adds the pod's overhead, the kubelet's hints do not", _asking(passes, _no_overhead)
        ),
        NOBODY_ELSE,
        KnownCause(
            "T-14",
            "no zone lists the requested resource; the kubelet does not check it without its manager",
            _asking(passes, _unlisted),
        ),
    )
