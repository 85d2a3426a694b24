"""What drivers publish of drawn machines, and what is read back of it where parts are missing, told as it was.

Also which amounts of capacities are taken (docs/rules/dra.md D-13). The tables beside this say what is right; it holds
that no answer changes unseen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numalign.dra.cpu_ids import cpus_held, kept_back
from numalign.dra.features import RELEASES, features
from numalign.dra.machine import machine_of
from numalign.dra.publish.cpus import CAPACITY, DRIVER
from numalign.dra.publish.slices import Options, driver_of, publish, usual_drivers
from numalign.dra.reading import read_slice
from numalign.dra.selection import AllocationError
from numalign.dra.usage import consumed, violates
from numalign.dra.values import Capacity, Claim, DeviceID, RequestPolicy, Slice, Taken
from numalign.dra.whereabouts import places
from numalign.dra.writing import written_slice
from numalign.errors import InputError
from numalign.model.hardware import CPUKind, Hardware, PCIFunction
from numalign.model.machine import Device, Machine, Unit
from numalign.model.quantity import canonical, from_int, parse
from tests import recorded
from tests.dice import Dice
from tests.dra.drawn import dice, rarely, seldom
from tests.kubelet.regular import GI, regular

HERE = Path(__file__).parent
MACHINES, AMOUNTS = 150, 1500
RESOURCES = (
    "nvidia.com/gpu",
    "amd.com/gpu",
    "example.com/gpu",
    "vendor.com/rdma_nic",
    "intel.com/sriov-net",
    "x.com/fpga",
)
ADDRESSES = tuple(f"0000:{bus:02x}:00.0" for bus in (0x17, 0x3B, 0x5E, 0x86))


def test_machines_are_published_and_read_back_as_they_were() -> None:
    recorded.compare(HERE / "recorded_machines.jsonl.gz", map(told, range(MACHINES)))


def test_amounts_are_taken_as_they_were() -> None:
    recorded.compare(HERE / "recorded_amounts.jsonl.gz", map(taken, range(AMOUNTS)))


def told(number: int) -> dict[str, Any]:
    """Publish a machine, lose some of what is said, and read it back."""
    one = dice(number, "machine")
    made = machine(one)
    reserved = made.cpus & one.pick((0, 0, 0b11, 0b10100))
    options = Options("", one.pick(("numanode", "cpu", "cpu", "socket", "machine")), reserved, one.flag())
    drivers = {
        name: tuple(each for each in sorted(made.devices) if driver_of(each) == name) for name in usual_drivers(made)
    }
    published = publish(made, drivers, options)
    slices = [spoiled(one, each) for each in published.slices]
    devices = {DeviceID(each.driver, each.pool, found.name): found for each in slices for found in each.devices}
    kept = kept_back(made, devices, one.pick((reserved, 0, 0b11)))
    claims = [claim(one, place, devices) for place in range(one.below(4))]
    held = cpus_held(made, devices, claims, made.name, kept.cpus)
    return {
        "slices": [written_slice(each) for each in published.slices],
        "back": back(slices, made.name),
        "places": [[str(identity), *place] for identity, place in places(devices, made).items()],
        "kept": kept,
        "held": [
            [[claim, request, str(device), cpus] for (claim, request, device), cpus in held.cpus.items()],
            held.doubts,
        ],
    }


def machine(one: Dice) -> Machine:
    """Make a machine with cards of several makers, kinds of cores, caches, and a bus."""
    nodes = one.pick((1, 2, 2, 3))
    devices: dict[str, tuple[Device, ...]] = {}
    pci: list[PCIFunction] = []
    for resource in RESOURCES:
        if one.flag():
            ids = one.pick((ADDRESSES, ("GPU-a", "GPU-b", "eth0"), ("mlx5_0", "mlx5_1"), ("gpu0", "gpu1", "gpu2")))
            devices[resource] = tuple(
                Device(name, one.pick(((0,), (nodes - 1,), (0, nodes - 1), (-1,), (), None)))
                for name in ids[: one.between(1, 3)]
            )
    for address in ADDRESSES:
        if one.flag():
            node, root = one.pick((0, nodes - 1, None, -1)), one.pick(("pci0000:15", "pci0000:80", None))
            names = (one.pick(("eth0", "mlx5_0", "gpu0")),) if one.flag() else ()
            pci.append(PCIFunction(address, numa_node=node, names=names, root=root))
    made = regular(
        nodes,
        cores=one.pick((2, 3)),
        threads=one.pick((1, 2)),
        memory=one.pick((8, 9)) * GI + one.below(2),
        hugepages=one.pick(({}, {"2Mi": GI}, {"1Gi": 2 * GI, "2Mi": GI, "64Ki": 0})),
        devices=devices,
    )
    first = made.numa_nodes[0].cpus
    kinds = (CPUKind("p-core", first), CPUKind("e-core", made.cpus & ~first)) if seldom(one) else ()
    caches = tuple(Unit(place, core) for place, core in enumerate(made.cores)) if one.flag() else ()
    return made._replace(
        hardware=Hardware(pci=tuple(pci), cpu_kinds=kinds) if pci or kinds else None, uncore_caches=caches
    )


def spoiled(one: Dice, slice_: Slice) -> Slice:
    """Lose a device now and then, or one thing that it says, or have it say something else."""
    devices = []
    for device in slice_.devices:
        if rarely(one):
            continue
        attributes = dict(device.attributes)
        if seldom(one) and attributes:
            name = one.pick(sorted(attributes))
            if one.flag():
                del attributes[name]
            else:
                attributes[name] = attributes[name]._replace(kind="int", value=one.pick((-1, 0, 1, 1, 5)))
        devices.append(device._replace(attributes=attributes, capacity={} if rarely(one) else device.capacity))
    return slice_._replace(devices=tuple(devices), slice_count=slice_.slice_count + rarely(one))


def claim(one: Dice, place: int, devices: dict[DeviceID, Any]) -> Claim:
    """Make a claim that holds CPUs."""
    own = [identity for identity in devices if identity.driver == DRIVER] or [DeviceID(DRIVER, "regular", "gone")]
    consumed_ = {} if seldom(one) else {CAPACITY: from_int(one.between(1, 4))}
    return Claim(f"c{place}", "n", allocation=(Taken(one.pick(own), "r", share="s", consumed=consumed_),))


def back(slices: list[Slice], node: str) -> Any:
    """Read a machine back."""
    try:
        found = machine_of([read_slice(written_slice(each)) for each in slices], node)
    except InputError as error:
        return error.message
    made = found.machine
    return [
        [[each.id, each.cpus, each.memory, each.hugepages] for each in made.numa_nodes],
        [made.sockets, made.cores, made.uncore_caches],
        {name: [[each.id, each.numa_nodes] for each in some] for name, some in made.devices.items()},
        made.hardware
        and [[list(each) for each in made.hardware.pci], [list(each) for each in made.hardware.cpu_kinds]],
        found.left_out,
    ]


SOME = ("0", "1", "2", "3", "7", "10", "500m", "1500m", "1", "2Ki", "2048", "100n", "-1", "1e16", "9223372036854775807")


def taken(number: int) -> list[Any]:
    """Ask for an amount of a capacity with a policy."""
    one = dice(number, "amount")
    ranged = one.flag()
    drawn = {
        "default": maybe(one),
        "has_range": ranged,
        "minimum": maybe(one) if ranged else None,
        "maximum": maybe(one) if ranged else None,
        "step": maybe(one) if ranged else None,
        "valid_values": () if ranged else tuple(parse(one.pick(SOME)) for _ in range(one.below(4))),
    }
    policy = RequestPolicy(**drawn)
    asked = maybe(one)
    using = features(one.pick(RELEASES))
    try:
        amount = consumed(asked, Capacity(parse(one.pick(SOME)), policy), using)
    except AllocationError as error:
        return [str(error)]
    return [canonical(amount), violates(amount, policy, using)]


def maybe(one: Dice) -> Any:
    return parse(one.pick(SOME)) if one.below(4) else None
