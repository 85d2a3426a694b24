"""CPUs that the kernel's command line keeps the scheduler off."""

from __future__ import annotations

from pathlib import Path

import pytest

from numalign.sources.host.contrast import hardware_of
from numalign.sources.host.hardware import read_hardware
from numalign.sources.machine.hardware import HARDWARE
from numalign.sources.tree.opening import open_tree


@pytest.mark.parametrize(("text", "expected"), [("1-2\n", "1-2"), ("\n", None), ("2,9", "2"), ("nonsense", None)])
def test_isolated_cpus(tmp_path: Path, text: str, expected: str | None) -> None:
    cpus = tmp_path / "sys/devices/system/cpu"
    for cpu in range(4):
        (cpus / f"cpu{cpu}" / "topology").mkdir(parents=True)
    (cpus / "online").write_text("0-3\n")
    (cpus / "isolated").write_text(text)

    section = HARDWARE.write(hardware_of(read_hardware(open_tree(str(tmp_path))), None))

    assert section.get("isolatedCPUs") == expected
