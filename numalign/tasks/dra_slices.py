"""The slices that drivers would publish for a machine."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.dra.drivers import DRIVERS
from numalign.dra.publish.slices import Options, driver_of, publish, usual_drivers
from numalign.errors import InputError
from numalign.model.machine import Machine
from numalign.results.dra import DraSlicesResult

SHORT_NAMES = {
    "cpu": "dra.cpu",
    "memory": "dra.memory",
    "nic": "dra.net",
    "net": "dra.net",
    "gpu": "gpu.nvidia.com",
}
"""Of drivers, as `--driver` takes them too."""


def slices(machine: Machine, like: Sequence[str], options: Options) -> DraSlicesResult:
    """Give the slices of some drivers, or of all that have something to publish.

    Args:
        machine: the machine.
        like: `DRIVER` or `DRIVER=RESOURCE`; none: the usual ones.
        options: how they are set up.

    Raises:
        InputError: a driver or resource is not known.
    """
    chosen: dict[str, tuple[str, ...]] = {}
    for text in like:
        name, _, resource = text.partition("=")
        driver = SHORT_NAMES.get(name, name)
        if driver not in DRIVERS:
            raise InputError(f'unknown driver "{name}"; allowed: {", ".join(SHORT_NAMES)}', "--like")
        if resource and resource not in machine.devices:
            have = ", ".join(machine.devices) or "none"
            raise InputError(f'{machine.name} has no "{resource}"; allowed: {have}', "--like")
        found = (resource,) if resource else _resources(machine, driver)
        chosen[driver] = (*chosen.get(driver, ()), *found)
    if not like:
        chosen = {name: _resources(machine, name) for name in usual_drivers(machine)}
    used = {resource for resources in chosen.values() for resource in resources}
    return DraSlicesResult(
        machine.name,
        options.node or machine.node.name or machine.name,
        publish(machine, chosen, options),
        tuple(resource for resource in sorted(machine.devices) if not like and resource not in used),
    )


def _resources(machine: Machine, driver: str) -> tuple[str, ...]:
    """Give the machine's resources that a driver takes the place of."""
    return tuple(resource for resource in sorted(machine.devices) if driver_of(resource) == driver)
