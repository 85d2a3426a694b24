"""What to request instead, and what to leave out, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from numalign.analysis.settings import CPU_POLICY_OPTIONS, options_on
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, of_limit
from numalign.render.text.amounts import (
    amount_text,
    as_asked_text,
    like_asked,
    listed,
    named,
    readable_text,
)
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import WayOut
    from numalign.kubelet.config import KubeletConfig


def requests_text(change: WayOut, containers: int, config: KubeletConfig) -> Iterator[str]:
    """Say what to ask for instead, and what to leave out; who asks for the same of a resource is told together.

    Whole CPUs are cut to whole CPUs, also where none are pinned: a share of one more might do, so that is not the most.
    """
    pinned = config.cpu_manager_policy != "none"
    cores_only = change.own_cpus and "full-pcpus-only" in options_on(config) and CPU_POLICY_OPTIONS not in change.flags
    single = pinned and cores_only and change.cores == 1 and not change.machine
    less, left_out, limits = [_in_all(change, keys) for keys in change.together], list[str](), list[str]()
    alone = {key: nano for key, nano in change.amounts.items() if not any(key in keys for keys in change.together)}
    whose = grouped(((key[1], nano, change.asked[key]), key[0]) for key, nano in alone.items())
    for (resource, nano, asked), names in whose.items():
        where = f" in {_containers(names)}" if containers > 1 else ""
        if kind := of_limit(resource):
            old = readable_text(kind, asked) if asked else "none"
            limits.append(f"{resource} to {readable_text(kind, nano)} (now {old}){where}")
            continue
        if not nano:
            left_out.append(f"{resource}{_or_in(change, names, resource) * (containers > 1)}")
            continue
        share = bool(resource == CPU and nano % NANO and not asked % NANO)
        whole = resource == CPU and not (share or nano % NANO) and (change.cores > 1 or not (pinned or asked % NANO))
        most = "at most " * (nano < asked and not whole)
        what, own = f" CPU{'s' * (nano != NANO)}" if resource == CPU else f" {resource}", ""
        if share and pinned and change.own_cpus:
            most, what, own = "a share of a CPU, such as ", "", " (no exclusive CPUs)"
        # 26214Mi (25.6Gi) is no change of 25.6Gi to look at
        say = as_asked_text if asked % NANO else partial(readable_text, down=True)
        other = [f"{say(resource, one)} or " for (name, _), one in change.or_else.items() if name in names]
        now, old = like_asked(resource, nano, asked)
        now, old = now or say(resource, nano), old or readable_text(resource, asked)
        ask = f"{''.join(other[:1])}{now}{what}"
        odd = " (a core has 1 CPU here)" * (single and resource == CPU and nano // NANO % 2 and not nano % NANO)
        less.append(f"{most}{ask} (now {old}){where}{odd}{own}")
    if less:
        yield "Request " + " and ".join(less)
    if limits:
        yield "Set " + " and ".join(limits)
    if left_out:
        yield "Remove " + " and ".join(left_out)


def _or_in(change: WayOut, names: Sequence[str], resource: str) -> str:
    """Name the container that leaves a resource out, and those that may do so instead."""
    others = change.or_in.get((names[0], resource), ()) if len(names) == 1 else ()
    asked = change.asked[names[0], resource]
    same = sorted([*names, *(name for name, kept in others if kept == asked)])
    fewer = "; ".join(
        f"or in {name}, and request {amount_text(resource, kept // NANO)} in {names[0]}"
        for name, kept in others
        if kept < asked
    )
    keeps = " (the other may keep it)" if len(same) == 2 else " (the others may keep it)"
    where = _containers(names) if len(same) == len(names) else f"container {' or '.join(same)}{keeps}"
    return f" in {where}{f' ({fewer})' * bool(fewer)}"


def _in_all(change: WayOut, keys: Sequence[tuple[str, str]]) -> str:
    """Say what containers may ask for together, and one way to share it."""
    resource, names = keys[0][1], [name for name, _ in keys]
    total = readable_text(resource, sum(map(change.ask, keys)), down=True)
    shares = []
    for key in keys:
        now = f"now {readable_text(resource, change.asked[key])}" if key in change.amounts else "unchanged"
        shares.append(f"{readable_text(resource, change.ask(key), down=True)} in {key[0]} ({now})")
    return f"at most {total} {named(resource)} in {listed(names)} together, such as {listed(shares)}"


def _containers(names: Sequence[str]) -> str:
    """Name containers of which the same is told: `container a`, `containers a and b each`."""
    return f"container {names[0]}" if len(names) == 1 else f"containers {listed(names)} each"
