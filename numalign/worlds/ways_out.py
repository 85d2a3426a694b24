"""Ways to keep a container with kubelet CPUs and claimed devices together: each is tried before it is named.

What was tried is what is promised: a way counts only if its trial gives the container's devices and its CPUs on the
same NUMA nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from numalign.dra.constraints import RequestName
from numalign.dra.cpu_ids import cpus_held
from numalign.dra.drivers import DRIVERS
from numalign.dra.pools import published
from numalign.dra.publish.cpus import CAPACITY, DRIVER
from numalign.dra.publish.slices import Options, publish
from numalign.dra.values import Claim, Constraint, DeviceRequest, Request, Taken
from numalign.dra.whereabouts import places
from numalign.dra.why import drivers_by_class
from numalign.model.cpuset import format_set, parse
from numalign.model.quantity import from_int
from numalign.results.dra import WayOut
from numalign.worlds.claims_anew import (
    More,
    Trial,
    allocated,
    expression,
    free_name,
    names_of,
    selected,
    standard_first,
)
from numalign.worlds.claims_verdict import Held, Wanted, covered_by, wanted_of
from numalign.worlds.plugin_way import by_plugin

MAX_CLASSES: Final = 20
MAX_TRIED: Final = 20
"""How many changes of claims are tried for a container."""
FOREVER: Final = "valid on every node that runs dra.cpu with cpuManagerPolicy none"


def ways_out(held: Held, cpu_nodes: frozenset[int], trial: Trial) -> tuple[WayOut, ...]:
    """Find ways to keep a container together; where none works, say of the usual ones why not.

    Args:
        held: what the container has; its CPUs are the CPU Manager's.
        cpu_nodes: the NUMA nodes of these CPUs.
        trial: what to try on.
    """
    where = places(trial.devices(), trial.setup.machine)
    by_claim = _CPUsByClaim(held, trial)
    found = list(by_claim.ways())
    if not found and DRIVER not in by_claim.published:
        found = [way._replace(text=f"install dra.cpu and {way.text}") for way in _with_driver(held, trial).ways()]
    taken = {one.device for claim in trial.others for one in claim.allocation or ()} & trial.devices().keys()
    plugin = by_plugin(held, trial.setup, trial.pod, sorted(taken))
    found += [plugin] if plugin is not None else []
    today = list(selected(held, min(cpu_nodes), trial, where)) if len(cpu_nodes) == 1 else []
    good = [*found, *(way for way in today if way.gives)]
    return tuple(good) or (*by_claim.why_not(), *today)


def _with_driver(held: Held, trial: Trial) -> _CPUsByClaim:
    """Try as if `dra.cpu` were installed on the node, keeping back what the kubelet does."""
    kept = parse(trial.setup.config.reserved_system_cpus)
    options = Options(node=trial.attempt.node.name, reserved_cpus=kept)
    made = publish(trial.setup.machine, {DRIVER: ()}, options)
    slices = (*chain.from_iterable(trial.attempt.cluster.by_pool.values()), *made.slices)
    classes = {**{one.name: one for one in made.classes}, **trial.attempt.classes}
    attempt = trial.attempt._replace(cluster=published(slices), classes=classes)
    return _CPUsByClaim(held, trial._replace(attempt=attempt, kept=kept))


class _CPUsByClaim:
    """Takes the CPUs by claim, too: tied by a name that both drivers publish, by a device between, or by selectors."""

    def __init__(self, held: Held, trial: Trial) -> None:
        self._held = held
        self._trial = trial
        self.published = names_of(trial.attempt)
        self._wanted = list(dict.fromkeys(wanted_of(one) for one in held.devices))
        self._number = (held.container.holding.cpus or 0).bit_count()
        self._devices = trial.devices()
        self._where = places(self._devices, trial.setup.machine)
        usual = {one.name for driver in DRIVERS.values() for one in driver.classes}
        names = sorted(trial.attempt.classes, key=lambda name: (name not in usual, name))
        self._drivers = drivers_by_class(trial.attempt, names[:MAX_CLASSES])
        self._class = self._class_of(DRIVER)
        self._tried = 0

    def _class_of(self, driver: str) -> str | None:
        """Name a class that means devices of one driver alone, the usual ones first."""
        return next((name for name, drivers in self._drivers.items() if drivers == {driver}), None)

    def ways(self) -> Iterator[WayOut]:
        """Yield what works: a common name alone; else with a device between, and by selectors."""
        if self._class is None:
            return
        common = next(self._common(), None)
        if common is not None:
            yield common
            return
        yield from islice(self._bridged(), 1)
        yield from islice(self._chosen(), 1)

    def why_not(self) -> Iterator[WayOut]:
        """Say that a name in common is missing, if that is what is missing."""
        drivers = sorted({one.got.device.driver for one in self._held.devices})
        names = self.published.get(DRIVER, set())
        if names and not any(names & self.published.get(driver, set()) for driver in drivers):
            yield WayOut(
                f"CPUs by claim would not help: dra.cpu and {' and '.join(drivers)} publish no name in common; "
                "from 1.37 on drivers publish resource.kubernetes.io/numaNode"
            )

    def _own(self) -> Iterator[tuple[int, Claim]]:
        """Yield the claims that CPUs can be added to."""
        used = {claim for claim, _ in self._wanted}
        for place, claim in enumerate(self._trial.claims):
            if claim.name in used and claim.full_name not in self._trial.shared:
                yield place, claim

    def _common(self) -> Iterator[WayOut]:
        """Tie CPUs and devices by a name that `dra.cpu` and a driver of the claim publish."""
        for name in standard_first(self.published.get(DRIVER, ())):
            for place, claim in self._own():
                tied = self._tied(claim, name)
                if tied:
                    cpus = self._cpus(claim)
                    more = More((cpus,), (Constraint((*tied, cpus.name), match=name),))
                    text = f"claim the CPUs too, matched to {', '.join(tied)} by {name}"
                    yield from self._way(place, claim, more, text, FOREVER)

    def _bridged(self) -> Iterator[WayOut]:
        """Put a device between that shares one name with the CPUs and another with the devices."""
        own = {one.got.device.driver for one in self._held.devices}
        for driver in sorted(self.published.keys() - own - {DRIVER}):
            near = self.published[driver] & self.published.get(DRIVER, set())
            class_ = self._class_of(driver)
            if not near or class_ is None:
                continue
            far = self.published[driver].intersection(*(self.published.get(one, set()) for one in own)) - near
            for name in standard_first(far):
                for place, claim in self._own():
                    tied = self._tied(claim, name)
                    if not tied:
                        continue
                    cpus = self._cpus(claim)
                    free = free_name(claim, "between")
                    between = Request(free, DeviceRequest(free, class_))
                    by = standard_first(near)[0]
                    constraints = (
                        Constraint((*tied, between.name), match=name),
                        Constraint((between.name, cpus.name), match=by),
                    )
                    text = (
                        f"claim the CPUs too, and a {driver} device between: the device shares {name} with "
                        f"{', '.join(tied)} and {by} with the CPUs"
                    )
                    yield from self._way(place, claim, More((between, cpus), constraints), text, FOREVER)

    def _chosen(self) -> Iterator[WayOut]:
        """Select devices and CPUs of one NUMA node."""
        here = [node for one in self._held.devices for node in one.numa or ()]
        for node in dict.fromkeys((*here, *(one.id for one in self._trial.setup.machine.numa_nodes))):
            cpu_at = expression(DRIVER, node, self._devices, self._where)
            selectors = {
                wanted: expression(driver, node, self._devices, self._where)
                for wanted, driver in ((wanted_of(one), one.got.device.driver) for one in self._held.devices)
            }
            if not cpu_at or not all(selectors.values()):
                continue
            for place, claim in self._own():
                if any(owner != claim.name for owner, _ in selectors):
                    continue
                more = More(
                    (self._cpus(claim, cpu_at),), (), {wanted[1].main: text for wanted, text in selectors.items()}
                )
                text = f"claim the CPUs too, and select NUMA node {node} in every request"
                holds = (
                    f"valid for NUMA node {node} alone, on nodes with these addresses that run dra.cpu "
                    "with cpuManagerPolicy none"
                )
                yield from self._way(place, claim, more, text, holds)

    def _cpus(self, claim: Claim, selector: str = "") -> Request:
        name = free_name(claim, "cpus")
        form = DeviceRequest(name, self._class or "", capacity={CAPACITY: from_int(self._number)})
        return Request(name, form._replace(selectors=(selector,)) if selector else form)

    def _tied(self, claim: Claim, name: str) -> tuple[str, ...]:
        """Give the requests of a claim that a name can tie CPUs to, if that ties them to all of the container."""
        direct = {wanted_of(one) for one in self._held.devices if name in self.published.get(one.got.device.driver, ())}
        here = {one for one in direct if one[0] == claim.name}
        reached: set[Wanted] = set(here)
        for owner, written in self._held.constraints * len(self._held.constraints):
            covered = covered_by(self._wanted, owner, written)
            if written.match is not None and covered & reached:
                reached |= covered
        return tuple(sorted({one[1].main for one in here})) if here and reached == set(self._wanted) else ()

    def _way(self, place: int, claim: Claim, more: More, text: str, holds: str) -> Iterator[WayOut]:
        """Try a claim with more in it; a way that works."""
        self._tried += 1
        if self._tried > MAX_TRIED:
            return
        changed = more.added_to(claim)
        claims = (*self._trial.claims[:place], changed, *self._trial.claims[place + 1 :])
        added = {(claim.name, RequestName(one.name)) for one in more.requests}
        gives = self._together(claims, {*self._wanted, *added}, tied=not more.selectors)
        if gives:
            yield WayOut(text, gives, holds, more.written(claim))

    def _together(self, claims: Sequence[Claim], wanted: set[Wanted], *, tied: bool) -> tuple[str, ...]:
        """Allocate claims; what the requests get, if devices and CPUs come to the same NUMA nodes.

        A device whose node nobody knows counts as there where constraints tie it.
        """
        got = allocated(self._trial.attempt, claims)
        mine = [
            (claim, taken)
            for claim in got
            for taken in claim.allocation or ()
            if (claim.name, RequestName(*taken.request.partition("/")[::2])) in wanted
        ]
        nodes = {node for _, taken in mine if taken.device.driver == DRIVER for node in self._nodes(taken) or ()}
        others = [self._nodes(taken) for _, taken in mine if taken.device.driver != DRIVER]
        if not nodes or any((not tied) if one is None else not nodes & set(one) for one in others):
            return ()
        node, machine = self._trial.attempt.node.name, self._trial.setup.machine
        cpus = cpus_held(machine, self._devices, (*self._trial.others, *got), node, self._trial.kept).cpus
        found = []
        for claim, taken in mine:
            ids = cpus.get((claim.full_name, taken.request, taken.device))
            if taken.device.driver == DRIVER and ids is None:
                return ()  # the driver would not prepare it
            found.append(taken.device.device + (f" (CPUs {format_set(ids)})" if ids is not None else ""))
        return tuple(found)

    def _nodes(self, taken: Taken) -> tuple[int, ...] | None:
        place = self._where.get(taken.device)
        return place.numa if place is not None else None
