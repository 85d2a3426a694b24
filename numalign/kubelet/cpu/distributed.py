"""The distributed algorithm of `distribute-cpus-across-numa` (docs/rules/cpu-manager.md 8.20 to 8.31).

The options that would change how CPUs are taken inside a node, `distribute-cpus-across-cores` and
`prefer-align-cpus-by-uncorecache`, cannot be combined with this one (3.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from numalign.kubelet.cpu.balance import Search, best_balance, plan
from numalign.kubelet.cpu.orders import WorkingSet, node_order
from numalign.kubelet.cpu.packed import start_working, take_packed
from numalign.kubelet.cpu.topology import CPUTopology
from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.model.cpuset import CPUSet
from numalign.model.machine import Unit


def take_distributed(
    topology: CPUTopology, free: CPUSet, n: int, group: int, *, one_socket: bool = False, share_again: bool = True
) -> CPUSet:
    """Take `n` of the `free` CPUs in groups of `group`, evenly from as few NUMA nodes as will do.

    Args:
        topology: the machine.
        free: what there is to take from.
        n: how many.
        group: how many belong together.
        one_socket: nodes of one socket win over all others (docs/rules/kubelet-1.37.md 3.2).
        share_again: nodes that have less than their share lower it for all (docs/rules/kubelet-1.37.md 3.3).

    Raises:
        AllocationError: there are not enough, or the kubelet's accounts do not add up (8.28, 8.30).
        KubeletHangError: the kubelet would not come back (8.31).
    """
    # 8.20
    if n < 1:
        return 0
    if n % group:
        return take_packed(topology, free, n)
    working = start_working(topology, free, n)
    # 8.21
    order = node_order(topology, working.free)
    amounts = [(node.cpus & working.free).bit_count() for node in order]
    numbers = {node.id: number for number, node in enumerate(dict.fromkeys(order))}
    nodes = [numbers[node.id] for node in order]
    # 8.22, 8.23
    groups_per_node = ceil_div(ceil_div(topology.num_cpus, group), len(topology.nodes))
    groups_needed = ceil_div(n, group)
    for size in range(ceil_div(groups_needed, groups_per_node), min(groups_needed, len(numbers)) + 1):
        search = plan(amounts, nodes, n, group, size)
        if one_socket:
            from numalign.kubelet.cpu.one_socket import best_in_one_socket

            balance = best_in_one_socket(
                search, [{unit.id for unit in topology.sockets_of_node[one.id]} for one in order]
            )
        else:
            balance = best_balance(search)
        if balance is not None:
            search = search.within(balance.combination if share_again else balance.winner)
            givers = [order[position] for position in balance.combination]
            extra = [order[position] for position in balance.remainder]
            return _claim(topology, working, search, givers, extra)
    return take_packed(topology, free, n)


def ceil_div(dividend: int, divisor: int) -> int:
    """Divide, rounding up."""
    return -(-dividend // divisor)


def _claim(
    topology: CPUTopology, working: WorkingSet, search: Search, givers: Sequence[Unit], extra: Sequence[Unit]
) -> int:
    """Take the share of every node, then the remainder in turn (8.28)."""
    for node in givers:
        working = _claim_in(topology, working, node, search.share)
    left = search.groups
    while left:
        before = left
        for node in extra:
            if left and (working.free & node.cpus).bit_count() >= search.group:
                working = _claim_in(topology, working, node, search.group)
                left -= 1
        if left == before:
            raise KubeletHangError("distribute-cpus-across-numa: the kubelet never ends to hand out the remaining CPUs")
    if working.need > 0:
        raise AllocationError(f"accounting error, not enough CPUs allocated, remaining: {working.need}")
    if working.need < 0:
        raise AllocationError(f"accounting error, too many CPUs allocated, remaining: {working.need}")
    return working.taken


def _claim_in(topology: CPUTopology, working: WorkingSet, node: Unit, n: int) -> WorkingSet:
    """Take from one node as if it were the whole world; what fails claims nothing."""
    try:
        return working.claim(take_packed(topology, working.free & node.cpus, n))
    except AllocationError:
        return working
