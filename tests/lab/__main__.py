"""Boot every shape, and judge what numalign says in it: `make lab`, or `python -m tests.lab [SHAPE…] [--keep DIR]`."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.lab import boot, captured
from tests.lab.judge import Check, judge
from tests.lab.shapes import SHAPES, Shape

SHOWN = 20
"""Differences of one comparison that are printed."""
CONSOLE = 3000
"""Characters of a guest's console that are printed where it fails."""


def main() -> int:
    """Run the lab; returns its exit status: 0 also where something is missing, so that nothing was tried."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=", ".join(one.name for one in SHAPES))
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="put what the guests wrote there; sysfs/ has captured machines"
    )
    asked = parser.parse_args()
    chosen = [one for one in SHAPES if not asked.shapes or one.name in asked.shapes]
    unknown = {*asked.shapes} - {one.name for one in chosen}
    if unknown:
        parser.error(f"no such shape: {', '.join(sorted(unknown))}")
    missing, kernel = boot.missing(), boot.newest_kernel()
    if missing or kernel is None:
        _say(f"lab: skipped; missing: {', '.join(missing)}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        good = [_try(kernel, shape, asked.keep) for shape in chosen]
    except KeyboardInterrupt:
        _say("lab: interrupted")
        return 1
    return 0 if all(good) else 1


def _try(kernel: Path, shape: Shape, keep: Path | None) -> bool:
    """Boot one shape and judge it; nothing is left but what is kept."""
    _say(f"{shape.name}: {shape.about}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="numalign-lab-") as folder:
        out = Path(folder) / "out"
        out.mkdir()
        ramdisk = boot.make_ramdisk(kernel, shape, Path(folder))
        wrong = boot.run(boot.command(kernel, ramdisk, shape, out), out / "console.txt")
        if keep is not None:
            shutil.copytree(out, keep / shape.name, dirs_exist_ok=True)
        if wrong or not (out / "done").exists():
            _say((out / "console.txt").read_text(errors="replace")[-CONSOLE:])
            _say(f"{shape.name}: failed: {wrong or 'the guest did not come to its end'}")
            return False
        if keep is not None:
            captured.keep(shape, out / "boot", keep / "sysfs")
        checks = list(judge(shape, out))
    for check in checks:
        _tell(check)
    differ = sum(len(check.differences) for check in checks)
    fields = sum(check.fields for check in checks)
    _say(f"{shape.name}: {fields} fields compared, {differ} differ, {time.monotonic() - began:.0f} s")
    return not differ


def _tell(check: Check) -> None:
    _say(f"  {check.what}: {check.fields} fields, {len(check.differences)} differ")
    for text in check.differences[:SHOWN]:
        _say(f"    {text}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
