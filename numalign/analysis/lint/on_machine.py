"""The rules of `lint` that a machine makes certain. Without one they say what depends on it, as a note."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.subject import Subject
from numalign.kubelet.admission import admit
from numalign.kubelet.demand import ContainerDemand, PodDemand, with_overhead
from numalign.kubelet.memory.hints import narrowest
from numalign.kubelet.memory.state import STATIC
from numalign.kubelet.node import Node
from numalign.kubelet.start.restart import readmit
from numalign.model.quantity import canonical, readable_near, with_decimals
from numalign.model.resources import is_extended, is_memory
from numalign.model.words import nearest

ASSUMED_THREADS_A_CORE = 2
"""Where no machine says how many there are."""


def odd_cpus(subject: Subject) -> Iterator[Finding]:
    """With `full-pcpus-only` the kubelet hands out whole cores and refuses any other count (SMTAlignmentError)."""
    node = subject.on.node if subject.on else None
    threads = node.cpu.topology.cpus_per_core if node else ASSUMED_THREADS_A_CORE
    if node and not node.cpu.static:
        return
    strict = node if node and node.cpu.options.full_pcpus_only else None
    who = f"{strict.machine.name} (full-pcpus-only)" if strict else "full-pcpus-only"
    for part in subject.parts:
        cpus = part.demand.cpus
        if part.container.kind == "sidecar" and not strict:
            continue  # That it holds CPUs at all is said by `sidecar-cpus`, whose advice is another.
        if cpus % threads:
            yield Finding(
                f"{cpus} CPU{'s are' if cpus > 1 else ' is'} not whole cores ({threads} CPUs each): "
                f"{who} rejects the pod",
                f"set limits.cpu to {cpus + -cpus % threads}"
                + (f", or to a fraction such as {1000 * cpus - 100}m" if part.container.kind == "sidecar" else ""),
                part.field("limits", "cpu"),
                "rejected" if strict else "note",
                part.container.name,
            )


def fractional_bytes(subject: Subject) -> Iterator[Finding]:
    """The Memory Manager takes whole bytes only, straight from the text (docs/rules/memory-manager.md 17)."""
    node = subject.on.node if subject.on else None
    if not subject.guaranteed or (node and node.memory.policy != STATIC):
        return
    who = f"the Memory Manager of {node.machine.name}" if node else "a Static Memory Manager"
    for part in subject.parts:
        for name, quantity in part.container.requests.items():
            if is_memory(name) and quantity.int64 is None:
                yield Finding(
                    f"{name} {with_decimals(quantity.nano)} is not a whole number of bytes: {who} rejects the pod",
                    f"set limits.{name} to {' or '.join(readable_near(quantity.nano)) or 'less'}",
                    part.field("limits", name),
                    "rejected" if node else "note",
                    part.container.name,
                )


def unequal_widths(subject: Subject) -> Iterator[Finding]:
    """`restricted` wants one set of NUMA nodes that all resources prefer; each prefers as few nodes as it needs."""
    if subject.on is None:
        return  # Only a machine tells whether it bites.
    if subject.on.node.scope == "pod":
        yield from _unequal(subject.on.node, subject.demand, "spec", "")
    else:
        for part in subject.parts:
            yield from _unequal(subject.on.node, part.demand, part.field("limits"), part.container.name)


def _unequal(node: Node, demand: PodDemand | ContainerDemand, path: str, container: str) -> Iterator[Finding]:
    found = widths(node, demand)
    if len({width for _, _, width in found}) < 2:
        return
    needs = ", ".join(
        f"{amount} {'CPUs' if name == 'cpu' else name} need {width} NUMA node{'s' * (width > 1)}"
        for name, amount, width in found
    )
    most, least = max(width for _, _, width in found), min(width for _, _, width in found)
    wide, narrow = (
        " and ".join(name for name, _, width in found if (width == most) == is_wide) for is_wide in (True, False)
    )
    yield Finding(
        f"restricted and single-numa-node always reject this on {node.machine.name}. {needs}",
        f"lower {wide} to fit on {least} NUMA node{'s' * (least > 1)}, raise {narrow} to need {most}, or split the "
        "container",
        path,
        "rejected",
        container,
    )


def widths(node: Node, demand: PodDemand | ContainerDemand) -> list[tuple[str, str, int]]:
    """List what takes part in the alignment: resource, amount as text, and how few nodes hold it when empty.

    What the whole machine has too little of is left out; `exceeds_machine` tells it.
    """
    found = []
    # With align-by-socket the CPU Manager prefers sets of several widths, so its width says nothing. One that pins no
    # CPUs knows of none.
    if 0 < demand.cpus <= node.cpu.topology.num_cpus and not node.cpu.options.align_by_socket:
        found.append(("cpu", str(demand.cpus), node.cpu.minimal_width(demand.cpus)))
    if demand.memory and all(name in node.memory.places for name, _ in demand.memory):
        found.append(("memory", "all its", narrowest(node.memory, demand.memory)))
    for name, amount in demand.devices:
        resource = node.device.resources.get(name)
        if amount and resource and resource.aware and amount <= len(resource.devices):
            found.append((name, str(amount), resource.width(amount)))
    return found


def restart(subject: Subject) -> Iterator[Finding]:
    """A kubelet that restarts admits running pods again, and not all that it admitted (kubelet-files.md 72, 73)."""
    if subject.on is None:
        return
    outcome = admit(subject.on, subject.pod)
    # Its devices are there, so that it is one whether its containers run.
    again = next(readmit(outcome.then, outcome.then.pods), None) if outcome.admit else None
    if again is None or again.admit:
        return
    said = f"{again.reason or again.stage}: {again.message}"
    yield Finding(
        f'a kubelet restart rejects the running pod on {subject.on.node.machine.name}: "{said}"',
        "request less, or move the pod off the node before each restart of the kubelet",
        "spec",
        "note",
    )


def device_missing(subject: Subject) -> Iterator[Finding]:
    """A pod runs without a device that the machine does not have, and no scheduler would send it there."""
    if subject.on is None:
        return
    machine = subject.on.node.machine
    for part in subject.parts:
        for name, amount in part.demand.devices:
            if amount and name not in machine.devices and name not in machine.node.extended_resources:
                near = nearest(name, [*machine.devices, *machine.node.extended_resources], 0.6)
                yield Finding(
                    f"{machine.name} has no {name}: the pod runs without {name}",
                    f"write {near}, which it has" if near else f"remove {name}, or choose another machine",
                    part.field("limits", name),
                    "impossible",
                    part.container.name,
                )


def exceeds_machine(subject: Subject) -> Iterator[Finding]:
    """A pod that asks more than the whole machine has never runs there."""
    if subject.on is None or subject.on.view is None:
        return
    there = subject.on.view.allocatable
    unjudged = subject.on.view.unjudged
    for name, nano in sorted(with_overhead(subject.pod).items()):
        has = there[name].nano if name in there else 0
        if nano <= has or name in unjudged or (not has and is_extended(name)):
            continue  # `device_missing` tells of devices that are not there at all.
        text = canonical(there[name]) if name in there else "none"
        overhead = subject.pod.overhead.get(name)
        with_it = f", its overhead of {canonical(overhead)} included" if overhead is not None else ""
        yield Finding(
            f"requests more {name} than {subject.on.node.machine.name} has allocatable: {text}{with_it}",
            f"request at most {text}{with_it}" if has else f"remove {name}, or choose another machine",
            "spec",
            "impossible",
        )
