"""Tar archives of small machines, with members and headers that no writer writes."""

from __future__ import annotations

import bz2
import gzip
import lzma
from random import Random

from tests.fuzz.mutate import TEXTS, damaged

TREE: dict[str, bytes] = {
    "sys/devices/system/cpu/online": b"0-3\n",
    "sys/devices/system/cpu/possible": b"0-3\n",
    "sys/devices/system/node/online": b"0-1\n",
    "sys/devices/system/node/node0/cpulist": b"0-1\n",
    "sys/devices/system/node/node1/cpulist": b"2-3\n",
    "sys/devices/system/node/node0/distance": b"10 20\n",
    "sys/devices/system/node/node1/distance": b"20 10\n",
    "sys/devices/system/node/node0/meminfo": b"Node 0 MemTotal:  8388608 kB\n",
    "sys/devices/system/node/node1/meminfo": b"Node 1 MemTotal:  8388608 kB\n",
    "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages": b"512\n",
    "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": b"512\n",
    "proc/meminfo": b"MemTotal:       16777216 kB\nMemFree: 1 kB\n",
    "proc/cpuinfo": b"processor\t: 0\nmodel name\t: Some CPU\n\nprocessor\t: 1\nmodel name\t: Some CPU\n",
    "proc/self/status": b"Name:\tx\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n",
    "proc/self/cgroup": b"0::/\n",
    **{
        f"sys/devices/system/cpu/cpu{cpu}/topology/{name}": text
        for cpu in range(4)
        for name, text in {
            "core_id": b"%d\n" % cpu,
            "physical_package_id": b"%d\n" % (cpu // 2),
            "thread_siblings_list": b"%d\n" % cpu,
            "core_siblings_list": b"0-1\n" if cpu < 2 else b"2-3\n",
        }.items()
    },
    "sys/devices/pci0000:00/0000:00:01.0/class": b"0x030200\n",
    "sys/devices/pci0000:00/0000:00:01.0/vendor": b"0x10de\n",
    "sys/devices/pci0000:00/0000:00:01.0/device": b"0x2330\n",
    "sys/devices/pci0000:00/0000:00:01.0/numa_node": b"1\n",
}
LINKS = {
    "sys/bus/pci/devices/0000:00:01.0": "../../../devices/pci0000:00/0000:00:01.0",
    "sys/devices/system/node/node0/cpu0": "../../cpu/cpu0",
    "sys/devices/system/node/node0/cpu1": "../../cpu/cpu1",
    "sys/devices/system/node/node1/cpu2": "../../cpu/cpu2",
    "sys/devices/system/node/node1/cpu3": "../../cpu/cpu3",
}

KINDS = b"0\x0012345677SLKxgXVDMNAEI\xff"
SIZES = (
    b"0",
    b"7777777",
    b"77777777777",
    b"\x80" + b"\x00" * 10 + b"\x05",
    b"\xff" * 12,
    b"\x80" + b"\xff" * 11,
    b"-1",
    b" 12 ",
    b"9",
)
PAX = (
    b"path",
    b"linkpath",
    b"size",
    b"GNU.sparse.map",
    b"GNU.sparse.size",
    b"GNU.sparse.major",
    b"GNU.sparse.minor",
    b"GNU.sparse.realsize",
)


def header(name: bytes, kind: bytes, size: bytes, target: bytes = b"") -> bytes:
    """Make a header with a right checksum."""
    block = bytearray(512)
    block[:100] = name[:100].ljust(100, b"\0")
    block[100:108] = b"0000644\0"
    block[124:136] = size[:12].rjust(12, b"0") if size.isdigit() else size[:12].ljust(12, b"\0")
    block[156:157] = kind
    block[157:257] = target[:100].ljust(100, b"\0")
    block[257:265] = b"ustar\x0000"
    return summed(block)


def summed(block: bytearray) -> bytes:
    """Put the right checksum into a header."""
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    """Fill up to whole blocks."""
    return data + bytes(-len(data) % 512)


def archive(rng: Random) -> bytes:
    """Make an archive; most get far before they go wrong."""
    parts = [header(name.encode(), b"0", b"%o" % len(data)) + padded(data) for name, data in TREE.items()]
    parts += [header(name.encode(), b"2", b"0", target.encode()) for name, target in LINKS.items()]
    for _ in range(rng.randint(0, 3)):
        parts.insert(rng.randint(0, len(parts)), _odd_member(rng))
    if rng.random() < 0.3:
        place = rng.randrange(len(parts))
        parts[place] = _changed(rng, parts[place])
    data = b"".join(parts) + bytes(rng.choice((1024, 1024, 1024, 10240, 512, 0)))
    packed = rng.choice((bytes, bytes, _gzip, bz2.compress, _xz))(data)
    if rng.random() < 0.25:
        packed = damaged(rng, packed)
    return packed[: rng.randint(0, len(packed))] if rng.random() < 0.1 else packed


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def _changed(rng: Random, part: bytes) -> bytes:
    """Change fields of a header and put its checksum right again."""
    block = bytearray(part[:512])
    for _ in range(rng.randint(1, 6)):
        block[rng.randrange(512)] = rng.randrange(256)
    return summed(block) + part[512:]


def _odd_member(rng: Random) -> bytes:
    kind = rng.choice(KINDS).to_bytes()
    name = rng.choice((*TREE, ".", "./", "/", "..", "sys/..", "a/" * 70, "sys/x", *TEXTS[:40]))
    data = rng.choice(
        (b"", b"x", b"x" * 600, _pax(rng), b"long/name\0", b"9" * 2000, b"2\n0\n1\n6\n2\n".ljust(512, b"\0"))
    )
    size = b"%o" % len(data) if rng.random() < 0.7 else rng.choice(SIZES)
    target = rng.choice((*TREE, "../../../etc/passwd", "/", ".", "", "sys", *LINKS))
    one = header(name.encode("utf-8", "surrogatepass"), kind, size, target.encode()) + padded(data)
    return one * rng.choice((1, 1, 1, 2, 30))


def _pax(rng: Random) -> bytes:
    """Write records, some with a wrong length."""
    data = b""
    for _ in range(rng.randint(1, 4)):
        value = rng.choice(
            (
                b"x",
                b"0,1",
                b"1",
                b"8",
                b"9" * 30,
                b"-1",
                b"a/b",
                b"",
                b"\xff",
                rng.choice(TEXTS[:60]).encode("utf-8", "surrogatepass"),
            )
        )
        body = b" " + rng.choice(PAX) + b"=" + value + b"\n"
        length = len(body) + 1
        length = len(body) + len(str(length))
        data += (
            b"%d" % length if rng.random() < 0.8 else rng.choice((b"0", b"1", b"999999", b"", b"x", b"9" * 50))
        ) + body
    return data
