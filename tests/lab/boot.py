"""Boot a guest: a ramdisk with a kernel's modules, QEMU's command line for a shape, and the process itself."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.lab.shapes import Shape

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "busybox": "busybox",
    "free": "procps",
    "lscpu": "util-linux",
    "lspci": "pciutils",
    "lstopo-no-graphics": "hwloc-nox",
    "migratepages": "numactl",
    "modprobe": "kmod",
    "numactl": "numactl",
    "qemu-system-x86_64": "qemu-system-x86",
}
"""Program -> Debian's package of it."""
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_net", "e1000e")
KERNEL = "linux-image-amd64"
SECONDS = 900
"""Most that a guest may take, on a busy host; an idle one needs two minutes."""


def missing() -> list[str]:
    """Name what a run lacks."""
    packages = {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    if newest_kernel() is None:
        packages.add(KERNEL)
    return [*(["root"] if os.geteuid() else []), *sorted(packages)]


def newest_kernel() -> Path | None:
    """Find the newest kernel of /boot that has all modules; None: there is none, or nobody tells."""
    if shutil.which("modprobe") is None:
        return None
    found = [path for path in Path("/boot").glob("vmlinuz-*") if _modules(path)]
    return max(found, key=lambda path: [int(number) for number in re.findall(r"\d+", path.name)], default=None)


def _modules(kernel: Path) -> list[Path]:
    """List the files of the modules in the order in which they are loaded; empty: one is missing."""
    found: dict[Path, None] = {}
    for name in MODULES:
        words = ["modprobe", "-S", kernel.name.removeprefix("vmlinuz-"), "--show-depends", name]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return []
        rows = [line.split() for line in done.stdout.splitlines()]
        found |= {Path(row[1]): None for row in rows if row[0] == "insmod"}
    return list(found)


def make_ramdisk(kernel: Path, shape: Shape, folder: Path) -> Path:
    """Write a ramdisk: busybox, the modules, and `init.sh` with what it has to run."""
    tree = folder / "ramdisk"
    for path in _program("busybox"):
        _copy(path, tree / str(path)[1:])
    _copy(Path(str(shutil.which("busybox"))), tree / "bin/busybox")
    names = []
    for path in _modules(kernel):
        content = path.read_bytes()
        names.append(path.name.removesuffix(".xz"))
        (tree / names[-1]).write_bytes(lzma.decompress(content) if path.suffix == ".xz" else content)
    (tree / "modules").write_text("\n".join(names))
    script = (Path(__file__).parent / "init.sh").read_text()
    for name, value in (("ROOT", ROOT), ("PYTHON", sys.executable), ("SHAPE", shape.name)):
        script = script.replace(f"${name}", str(value))
    (tree / "init").write_text(script)
    (tree / "init").chmod(0o755)
    listed = "".join(f"{path.relative_to(tree)}\n" for path in sorted(tree.rglob("*")))
    archive = folder / "ramdisk.cpio"
    with archive.open("wb") as target:
        words = ["busybox", "cpio", "-o", "-H", "newc"]
        subprocess.run(words, cwd=tree, input=listed.encode(), stdout=target, stderr=subprocess.DEVNULL, check=True)
    return archive


def _program(name: str) -> Iterator[Path]:
    """Name the libraries of a program; of one that is linked statically there are none."""
    told = subprocess.run(["ldd", str(shutil.which(name))], capture_output=True, text=True).stdout
    yield from (Path(found) for found in re.findall(r"(/\S+) \(0x", told))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def command(kernel: Path, ramdisk: Path, shape: Shape, out: Path) -> list[str]:
    """Say how QEMU runs a shape; `out` is a folder that the guest writes to."""
    words = ["qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"]
    words += ["-machine", "q35", "-accel", "tcg,thread=single", "-cpu", "max,vendor=GenuineIntel", "-smp", shape.smp]
    words += ["-m", str(sum(node.memory for node in shape.numa))]
    words += [
        "-kernel",
        str(kernel),
        "-initrd",
        str(ramdisk),
        "-append",
        f"console=ttyS0 quiet panic=-1 {shape.kernel}",
    ]
    for tag, path, more in (("host", "/", ",readonly=on"), ("out", str(out), "")):
        words += ["-virtfs", f"local,path={path},mount_tag={tag},security_model=none,multidevs=remap{more}"]
    for number, node in enumerate(shape.numa):
        backed = f",memdev=m{number}" if node.memory else ""
        cpus = f",cpus={node.cpus}" if node.cpus else ""
        if node.memory:
            words += ["-object", f"memory-backend-ram,id=m{number},size={node.memory}M"]
        words += ["-numa", f"node,nodeid={number}{cpus}{backed}"]
        words += _cards(number, node.cards)
    for source, row in enumerate(shape.distances):
        for target, value in enumerate(row):
            words += ["-numa", f"dist,src={source},dst={target},val={value}"]
    return words


def _cards(number: int, cards: tuple[str, ...]) -> Iterator[str]:
    """Give a NUMA node a root bus of its own, with a root port for each network card."""
    if cards:
        yield from ("-device", f"pxb-pcie,id=bus{number},bus=pcie.0,bus_nr={32 * (number + 1)},numa_node={number}")
    for place, card in enumerate(cards):
        name = f"{number}{place}"
        yield from ("-device", f"pcie-root-port,id=port{name},bus=bus{number},chassis={name},slot={place}")
        yield from ("-netdev", f"user,id=net{name},restrict=on")
        yield from ("-device", f"{card},bus=port{name},netdev=net{name},romfile=")


def run(words: list[str], console: Path) -> str:
    """Run a guest to its end; what it prints goes to a file. Returns what went wrong, empty: nothing."""
    with console.open("wb") as file:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return f"the guest takes longer than {SECONDS} s"
        finally:
            process.kill()
            process.wait()
    return f"QEMU: status {status}" if status else ""
