"""GetPreferredAllocations as proposed in 2019, which no kubelet does (docs/rules/device-manager.md 8).

A plugin lists sets of devices that it prefers. In hints only their nodes are preferred, and a listed set with the
wanted nodes is taken before any other. The kubelet asks for one set, and only when it chooses.
"""

from __future__ import annotations

from numalign.kubelet.device.links import best_sets, links_within
from numalign.kubelet.device.state import DeviceManager, PreferenceProposal, Resource, build
from numalign.kubelet.releases.release import Kubelet, Proposal
from numalign.kubelet.topology.hints import HintFamily, HintList, TopologyHint, expand
from numalign.kubelet.topology.provider import StartInput
from numalign.model.machine import Machine


def preferred_allocations(resource: Resource, size: int) -> tuple[int, ...] | None:
    """Return the sets of a size that the plugin prefers, available or not, in its order; None: no preference.

    A machine lists them, or they follow from its links: all sets with the most links.
    """
    listed = tuple([members for members in resource.preferred_sets or () if members.bit_count() == size])
    if listed:
        return listed
    if not resource.links or size < 2:
        return None
    sets = best_sets(resource.links, (1 << len(resource.devices)) - 1, 0, size)
    return sets if sets and links_within(resource.links, sets[0]) else None


def prefer(resource: Resource, family: HintFamily, offered: int, size: int) -> HintFamily | HintList:
    """Reset which hints are preferred: those whose mask is that of a preferred set among what is offered (8 step 1)."""
    sets = preferred_allocations(resource, size)
    if sets is None:
        return family
    masks = {nodes_of(resource, members) for members in sets if not members & ~offered}
    return HintList(TopologyHint(hint.numa_affinity, hint.numa_affinity in masks) for hint in expand(family))


def choose(resource: Resource, available: int, must_include: int, size: int, mask: int | None) -> int:
    """Return the first preferred set that is available, inside the mask and has all that it must (8 step 2); 0: none.

    Without a mask (no Topology Manager, or no opinion) any available set will do.
    """
    for members in preferred_allocations(resource, size) or ():
        if members & ~available or must_include & ~members:
            continue
        if mask is None or not nodes_of(resource, members) & ~mask:
            return members
    return 0


def nodes_of(resource: Resource, members: int) -> int:
    """Return the mask of all NUMA nodes of a set's devices."""
    mask = sum(1 << node for node, held in enumerate(resource.on_node) if held & members)
    for bit, nodes in resource.spanning:
        if bit & members:
            mask |= nodes
    return mask


def build_as_proposed(machine: Machine) -> DeviceManager:
    """Read a machine's devices; what a plugin prefers works as proposed."""
    manager = build(machine)
    proposal = PreferenceProposal(prefer, choose)
    return manager._replace(
        resources={
            name: resource._replace(proposal=proposal)
            if resource.preferred_sets is not None or resource.links
            else resource
            for name, resource in manager.resources.items()
        }
    )


def _start(given: StartInput) -> DeviceManager:
    return build_as_proposed(given.machine)


def _prefer_sets(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(device=kubelet.device._replace(start=_start))


PREFERRED_SETS = Proposal("preferred allocations as proposed in 2019", _prefer_sets)
