"""What a command that goes on from a node says of the node's files: what is odd, and what to do where they stop it.

docs/rules/kubelet-files.md 30.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.node.files import MISMATCH, file_findings
from numalign.analysis.node.finding import NodeFinding, drain_and_delete
from numalign.errors import Notice
from numalign.kubelet.admission import Session, open_session
from numalign.kubelet.fit import requested
from numalign.kubelet.start.held_pods import holders
from numalign.kubelet.start.restore import Resealed, refused
from numalign.model.quantity import QuantityError, parse
from numalign.model.resources import CPU, MEMORY, whole
from numalign.model.words import few_of

if TYPE_CHECKING:
    from numalign.kubelet.fit.check import NodeView
    from numalign.kubelet.setup import Setup
    from numalign.sources.node.facts import NodeFacts, Resources

MAX_NAMED = 5
"""How many containers a message names."""


def odd_files(facts: NodeFacts, setup: Setup) -> Iterator[Notice]:
    """Warn of files that this kubelet takes and another would not, or whose records it would drop."""
    for one in _findings(facts, setup):
        if one.severity == "warning":
            yield Notice("node-file-odd", one.message, one.file)


def requested_nano(resources: Resources) -> tuple[int, int]:
    """Read how much CPU and memory a container was granted, in billionths."""
    asked = resources["requests"]
    return _nano(asked.get(CPU, "0")), _nano(asked.get(MEMORY, "0"))


def _nano(text: str) -> int:
    try:
        return parse(text).nano
    except QuantityError:
        return 0


def init_readings(facts: NodeFacts, there: Session) -> Iterator[NodeFinding]:
    """Say which containers of `allocated_pods_state` are read as init containers, which it does not mark (23a)."""
    listed = {(pod.namespace, pod.name) for pod in facts.podresources.pods or ()}
    names, totals = [], [there.pods.used.get(CPU, 0), there.pods.used.get(MEMORY, 0)]
    for pod in there.pods if facts.pods is None else ():
        granted = facts.granted.get(pod.uid, {})
        inits = [one.name for one in pod.containers if one.kind == "init" and one.name in granted]
        if inits and (pod.namespace, pod.name) not in listed:
            names += [f"{pod.full_name}/{name}" for name in inits]
            counted = dict(requested(pod))
            for place, resource in enumerate((CPU, MEMORY)):
                every = sum(whole(resource, requested_nano(one)[place]) for one in granted.values())
                totals[place] += every - counted.get(resource, 0)
    if not names:
        return
    told = f"read as init containers: {few_of(names, MAX_NAMED)}"
    short = [] if there.view is None else list(_short(totals, there.view))
    message = f"cannot be read as it stands: {', '.join(short)}; {told}" if short else f"does not mark them; {told}"
    remedy = "add --beside FILE (kubectl get pods -o json)"
    file = f"{facts.root}/allocated_pods_state"
    yield NodeFinding("init-containers-unmarked", "warning" if short else "info", file, message, remedy)


def _short(totals: Sequence[int], view: NodeView) -> Iterator[str]:
    """Say of which resource all containers together request more than there is."""
    for resource, total, unit, divisor in (
        ("CPUs", totals[0], CPU, 1000),
        ("MiB of memory", totals[1], MEMORY, 1 << 20),
    ):
        have = whole(unit, view.allocatable[unit].nano)
        if total > have:
            yield f"{total / divisor:g} {resource} requested, {have / divisor:g} allocatable"


def maybe_ended(facts: NodeFacts, there: Session) -> Iterator[NodeFinding]:
    """Name the pods that count by their folder alone: whether they have ended nothing tells (61)."""
    if facts.pods is not None or facts.podresources.pods is not None:
        return
    holding = set(holders(there.state))
    names = [pod.full_name for pod in there.pods if pod.uid not in holding and pod.uid in facts.granted]
    if names:
        text = f"pods that may have ended count as running: {few_of(names, MAX_NAMED)}"
        remedy = "add --beside FILE (kubectl get pods -o json)"
        yield NodeFinding("maybe-ended", "info", f"{facts.root}/allocated_pods_state", text, remedy)


def misread(facts: NodeFacts, there: Session) -> Iterator[Notice]:
    """Warn where sums cannot be, so that some containers were read as init containers."""
    for one in init_readings(facts, there):
        if one.severity == "warning":
            yield Notice(one.code, one.message, one.file)


def checksum_ignored(one: Resealed, root: str) -> Notice:
    """Say that a file was taken for what it says."""
    text = f"wrong checksum (stored {one.stored}, computed {one.right}): used, but the kubelet would not start"
    return Notice("checksum-ignored", text, f"{root}/{one.file}")


def what_to_do(facts: NodeFacts, setup: Setup, *, ignored: bool) -> Iterator[str]:
    """Say of a node whose kubelet would not start with its files what is wrong with them, and what to do in order.

    Args:
        facts: what was found of it.
        setup: its kubelet.
        ignored: checksums do not count already.
    """
    wrong = [one for one in _findings(facts, setup) if one.severity == "error"]
    yield from (f"{one.file}: {one.message}" for one in wrong)
    files = refused(open_session(setup).node, facts.files, facts.containers, facts.root)
    if files:
        yield f"fix: {drain_and_delete(*files)}"
    if not ignored and any(one.code == MISMATCH for one in wrong):
        yield "fix: or read the files anyway: --ignore-checksums"


def _findings(facts: NodeFacts, setup: Setup) -> Iterator[NodeFinding]:
    gate = setup.kubelet.gates_with(setup.config.feature_gates)
    return file_findings(facts.files, {}, setup.kubelet.version, facts.root, gate)
