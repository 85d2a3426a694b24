"""Plans and measurements drawn by a number: what is found of each container is as it was (verify.md W-6 to W-18)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from numalign.analysis.alignment import Alignment
from numalign.analysis.holding import HeldDevices, Holding
from numalign.analysis.placed import Part
from numalign.analysis.verify.compare import Machine, Plan, allowed_everywhere, intruders, judge, pages
from numalign.analysis.verify.observed import Group, Observed, Process, Thread, hugetlb_stat, numa_stat, own_pages
from numalign.kubelet.memory.state import Block
from tests.analysis.kept import hold

MI = 1 << 20
SIZES = (0, 1, 63 * MI, 64 * MI, 64 * MI + 1, 65 * MI, 100 * MI, 1216 * MI, 1280 * MI, 1344 * MI, 4096 * MI)
"""Around 64 MiB, and around that as a twentieth of the whole."""
ON = Machine(0xFF, {0: 0x0F, 1: 0xF0, 2: 0, -1: 0x100})
GPUS = ("g0", "g1", "g2")


def test_what_is_found_of_containers_is_as_it_was() -> None:
    hold(Path(__file__).parent / "drawn_containers.jsonl.gz", map(answer, range(1500)))


def answer(number: int) -> Any:
    dice = Random(number)
    plans = [plan(dice, uid, name) for uid, name in (("u", "a"), ("u", "b"), ("v", "a"))]
    owned = sum({1 << cpu for one in plans if one.exclusive for cpu in range(9) if (one.cpus or 0) >> cpu & 1})
    groups = tuple(group(dice, *names) for names in (("u", "a"), ("v", "a"), ("u", ""))[: dice.randrange(4)])
    found = Observed(
        2,
        groups,
        tuple(process(dice, pid) for pid in range(20, 20 + dice.randrange(4))),
        device_nodes={one: dice.choice((-1, 0, 1, 2)) for one in GPUS if dice.randrange(2)},
        interrupts={one: cpus(dice) for one in GPUS if dice.randrange(2)},
        plan_age=dice.choice((None, None, 0.0, 9.5, 10.0, 10.5, 60.0)),
    )
    measured = groups[0] if groups else None
    judged = judge(plans[0], measured, ON, found, owned)
    told = [*intruders({(one.uid, one.container): one for one in plans}, found)]
    return {
        "judged": [judged.verdict, judged.findings, judged.remote, judged.remote_devices],
        "pages": pages(measured) if measured else None,
        "intruders": [[owner.uid, owner.container, pid, deviation] for owner, pid, deviation in told],
        "allowed": allowed_everywhere({(one.uid, one.container): one for one in plans}, found, {20}),
    }


def plan(dice: Random, uid: str, name: str) -> Plan:
    nodes = {node: dice.choice((0, 1, 2)) for node in (-1, 0, 1)}
    gpus = tuple(dice.sample(GPUS, dice.randrange(3)))
    held = (HeldDevices("v.com/gpu", gpus, {node: count for node, count in nodes.items() if count}, 0),)
    memory = dice.choice(((), (Block(1, "memory", MI),)))
    remote = (Part("v.com/gpu", 2, GPUS[: dice.randrange(3)]),) if dice.randrange(2) else ()
    judged = Alignment(dice.choice(("aligned", "spread", "floating")), {}, 1, 1, remote=remote)
    asked = Holding(None, held if gpus else (), memory)
    exclusive = bool(dice.randrange(2))
    return Plan(uid, uid, name, dice.choice((None, cpus(dice), cpus(dice))), exclusive, some(dice, 4), asked, judged)


def group(dice: Random, uid: str, name: str) -> Group:
    return Group(
        uid=uid,
        id="0123456789abcdef",
        name=name,
        path="/g",
        cpus=dice.choice((None, 0, cpus(dice), cpus(dice))),
        effective_cpus=dice.choice((None, cpus(dice))),
        mems=some(dice, 4),
        effective_mems=some(dice, 4),
        memory=bytes_of(dice),
        processes=tuple(process(dice, pid) for pid in range(10, 10 + dice.randrange(3))),
        sandbox=not dice.randrange(6),
    )


def process(dice: Random, pid: int) -> Process:
    threads = tuple(
        Thread(pid + more, cpus(dice), 1, dice.choice((-1, 0, 3, 5)), ran=bool(dice.randrange(2)))
        for more in range(dice.choice((1, 1, 2, 7)))
    )
    return Process(pid, threads, bytes_of(dice), dice.choice(("", "top")), kernel=not dice.randrange(4))


def cpus(dice: Random) -> int:
    """Draw a set of CPUs; the last one is on no node, and offline."""
    return dice.choice((0, 0x03, 0x0C, 0x07, 0x30, 0xFF, 0x103, 1 << dice.randrange(9), 1 << dice.randrange(9)))


def some(dice: Random, most: int) -> int | None:
    return dice.choice((None, *range(most)))


def bytes_of(dice: Random) -> dict[int, int] | None:
    return dice.choice((None, {node: dice.choice(SIZES) for node in range(dice.randrange(4))}))


FILES = ("", "/lib/libc.so", "/dev/shm/x", "/dev/zero", "/memfd:x", "/anon_hugepage", "/data")


def test_what_is_counted_of_memory_files_is_as_it_was() -> None:
    hold(Path(__file__).parent / "drawn_memory_files.jsonl.gz", map(counted, range(300)))


def counted(number: int) -> Any:
    dice = Random(number)
    maps, stat = "\n".join(lines_of_maps(dice)), "\n".join(lines_of_stat(dice))
    return [own_pages(maps), numa_stat(stat), hugetlb_stat(stat.partition("\n")[2])]


def lines_of_maps(dice: Random) -> Iterator[str]:
    """Draw lines of `/proc/PID/numa_maps`."""
    for _ in range(dice.randrange(5)):
        words = ["7f00", "default"]
        file = dice.choice(FILES)
        words += [f"file={file}"] if file else []
        words += ["huge"] if not dice.randrange(4) else []
        words += [f"anon={dice.choice((0, 1, 3, 10, 50))}"] if dice.randrange(2) else []
        words += [f"N{node}={dice.choice((0, 1, 2, 3, 17))}" for node in range(3) if dice.randrange(2)]
        words += [f"kernelpagesize_kB={dice.choice((4, 2048))}"] if dice.randrange(2) else []
        yield " ".join(words)


def lines_of_stat(dice: Random) -> Iterator[str]:
    """Draw lines of `memory.numa_stat`."""
    for name in ("anon", "file", "shmem", "total", "anon"):
        yield f"{name} " + " ".join(f"N{node}={dice.randrange(1000)}" for node in range(dice.randrange(4)))
