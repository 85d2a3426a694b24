"""What people install works: the wheel, the wheel of a source distribution, and a checkout, from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from numalign import __version__
from numalign.sources.machine import bundled
from tests import packages

ROOT = Path(__file__).parent.parent

pytestmark = packages.TOGETHER


@pytest.fixture(scope="module")
def wheels(checkout_packages: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Wheels by what they were built from."""
    folder = tmp_path_factory.mktemp("packages")
    wheel, packed = checkout_packages
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    (again,) = packages.build(folder / f"numalign-{__version__}", folder / "again", "wheel")
    return {"checkout": wheel, "source distribution": again}


def machines(package: Path, cwd: Path) -> str:
    """List the machines by a package in some folder, run in another."""
    done = subprocess.run(
        [sys.executable, "-m", "numalign", "machines", "-o", "name"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("source", ["checkout", "source distribution"])
def test_an_installed_package_finds_its_machines_from_any_folder(
    source: str, wheels: Mapping[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheels[source]) as wheel:
        wheel.extractall(tmp_path / "site-packages")
    (tmp_path / "elsewhere").mkdir()

    assert machines(tmp_path / "site-packages", tmp_path / "elsewhere").split() == list(bundled.names())


def test_a_checkout_finds_its_machines_from_any_folder(tmp_path: Path) -> None:
    assert machines(ROOT, tmp_path).split() == list(bundled.names())


def test_both_ways_to_a_wheel_give_the_same_files(wheels: Mapping[str, Path]) -> None:
    listed = [sorted(zipfile.ZipFile(wheel).namelist()) for wheel in wheels.values()]

    assert listed[0] == listed[1]
    data = f"numalign-{__version__}.data/data/share/man/man1"
    assert {f"{data}/numalign.1", f"{data}/numalign-admit.1", f"{data}/kubectl-numalign-why.1"} <= set(listed[0])
    assert {"numalign/py.typed", "numalign/machines/figure-1.yaml", "numalign/schemas/machine.schema.json"} <= set(
        listed[0]
    )


def test_a_wheel_is_the_same_each_time_and_holds_nothing_else(wheels: Mapping[str, Path]) -> None:
    """A release can be built again by others: same bytes from the checkout and from the source distribution."""
    assert len({path.read_bytes() for path in wheels.values()}) == 1
    with zipfile.ZipFile(wheels["checkout"]) as wheel:
        programs = wheel.read(f"numalign-{__version__}.dist-info/entry_points.txt").decode()
        tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"numalign", f"numalign-{__version__}.dist-info", f"numalign-{__version__}.data"}
    assert {"numalign", "kubectl-numalign", "kubectl_complete-numalign"} == {
        line.split(" = ")[0] for line in programs.splitlines() if " = " in line
    }
