"""States of drawn nodes with something changed by hand, as a person who edits files does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from numalign.kubelet.admission import Session
from numalign.kubelet.memory.state import Block
from numalign.kubelet.node import NodeState
from numalign.kubelet.topology.hints import TopologyHint

Edit = Callable[[Random, NodeState], NodeState]


def edited(dice: Random, up: Session) -> NodeState:
    """Change one thing, or a few."""
    state = up.state
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        state = dice.choice(EDITS)(dice, state)
    return state


def _uid(dice: Random, state: NodeState) -> str:
    return dice.choice((*state.pods, *state.pods, *state.pods, "nobody"))


def _name(dice: Random) -> str:
    return dice.choice(("c0", "c0", "c1", "other"))


def _at(dice: Random, table: Mapping[str, Any], state: NodeState, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Change what a container of a pod has in a table; None: it has nothing."""
    uid, name = _uid(dice, state), _name(dice)
    of_pod = table.get(uid, {})
    return {**table, uid: {**of_pod, name: change(of_pod.get(name))}}


def _bits(dice: Random, value: int | None) -> int:
    return (value or 0) ^ (1 << dice.randrange(dice.choice((4, 8, 18))))


def _nth(dice: Random, numbers: tuple[int, ...], change: Callable[[int], int]) -> tuple[int, ...]:
    place = dice.randrange(len(numbers)) if numbers else 0
    return tuple(change(one) if number == place else one for number, one in enumerate(numbers))


def _cpu(dice: Random, state: NodeState) -> NodeState:
    device, cpu, memory = state.states
    match dice.randrange(5):
        case 0:
            cpu = cpu._replace(default=_bits(dice, cpu.default))
        case 1 | 2:
            cpu = cpu._replace(assignments=_at(dice, cpu.assignments, state, lambda old: _bits(dice, old)))
        case 3:
            cpu = cpu._replace(pods={**cpu.pods, _uid(dice, state): _bits(dice, 0)})
        case _:
            cpu = cpu._replace(reuse_uid=_uid(dice, state), reuse=_bits(dice, 0))
    return state._replace(states=(device, cpu, memory))


def _memory(dice: Random, state: NodeState) -> NodeState:
    device, cpu, memory = state.states
    block = Block(dice.choice((0, 1, 2, 3, 16)), dice.choice(("memory", "memory", "hugepages-2Mi", "x")), 1 << 28)
    more = dice.choice((-1, 1))
    match dice.randrange(8):
        case 0:
            memory = memory._replace(counts=_nth(dice, memory.counts, lambda old: old + more))
        case 1:
            memory = memory._replace(groups=_nth(dice, memory.groups, lambda old: _bits(dice, old) & 31))
        case 2 if memory.free:
            memory = memory._replace(free=(_nth(dice, memory.free[0], lambda old: old + more), *memory.free[1:]))
        case 3 if memory.free:
            memory = memory._replace(
                free=(_nth(dice, memory.free[-1], lambda old: old + more), *memory.free[1:]),
                reserved=(_nth(dice, memory.reserved[-1], lambda old: old - more), *memory.reserved[1:]),
            )
        case 4:
            memory = memory._replace(reusable_pod=_uid(dice, state), reusable={(block.mask, block.type): block.size})
        case 5:
            memory = memory._replace(pods={**memory.pods, _uid(dice, state): dice.choice(((), (block,)))})
        case 6:
            memory = memory._replace(entries=_at(dice, memory.entries, state, lambda old: (*(old or ()), block)))
        case _:
            memory = memory._replace(entries=_at(dice, memory.entries, state, lambda old: (old or ())[1:]))
    return state._replace(states=(device, cpu, memory))


def _device(dice: Random, state: NodeState) -> NodeState:
    device, cpu, memory = state.states
    resource = dice.choice(("v.com/gpu", "v.com/nic"))
    many = 2 if resource in device.allocated else 0
    if dice.randrange(3) and many:
        table = _at(
            dice,
            device.holdings,
            state,
            lambda old: {**(old or {}), resource: (old or {}).get(resource, 0) ^ many // 2},
        )
        device = device._replace(holdings=table)
    elif many:
        device = device._replace(reusable_of=_uid(dice, state), reusable={resource: dice.choice((0, 1, 2, 3))})
    return state._replace(states=(device, cpu, memory))


def _whole(dice: Random, state: NodeState) -> NodeState:
    uid = _uid(dice, state)
    match dice.randrange(4):
        case 0:
            return state._replace(hints={**state.hints, uid: TopologyHint(dice.choice((None, 1, 3, 16)), True)})
        case 1:
            return state._replace(leftovers=(*state.leftovers, uid))
        case 2 if uid in state.pods:
            return state._replace(pods={**state.pods, uid: state.pods[uid]._replace(as_a_whole=True)})
        case _:
            return state._replace(pods={key: one for key, one in state.pods.items() if key != uid})


EDITS: tuple[Edit, ...] = (_cpu, _cpu, _memory, _memory, _memory, _device, _device, _whole)
