"""What an uncore cache gives for less than the whole cache (docs/rules/kubelet-versions.md 4, cpu-manager.md 8.12)."""

from __future__ import annotations

import pytest

from numalign.kubelet.cpu.orders import WorkingSet
from numalign.kubelet.cpu.topology import build
from numalign.kubelet.cpu.uncore import exact_fit, fit_of_whole_cores
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine, Unit
from tests.kubelet.cpu.support import MF, regular

TWO_THREADS, FOUR_THREADS = regular(1, 1, 4, 2), regular(1, 1, 2, 4)
# Machine, free CPUs, those of the cache, how many are needed; what is given, and what up to 1.33.
FITS = [
    ("whole cores", TWO_THREADS, "0-7", "0-7", 4, "0-1,4-5", "0-1,4-5"),
    ("an odd need leaves out the largest", TWO_THREADS, "0-7", "0-7", 3, "0-1,4", ""),
    ("one", TWO_THREADS, "0-7", "0-7", 1, "0", ""),
    ("a half of a core counts as a core", TWO_THREADS, "0-3,5-7", "0-7", 3, "0-1,5", ""),
    ("a half of a core is too little", TWO_THREADS, "0-3,5-7", "0-7", 2, "", ""),
    ("another cache", TWO_THREADS, "0-7", "2-3,6-7", 2, "2,6", "2,6"),
    ("a core of two caches is given whole", TWO_THREADS, "0-7", "1", 2, "1,5", "1,5"),
    ("of four threads three", FOUR_THREADS, "0-7", "0-7", 3, "0,2,4", ""),
    ("of four threads one is too few to leave out the rest", FOUR_THREADS, "0-7", "0-7", 1, "", ""),
    ("of four threads two are too few", FOUR_THREADS, "0-7", "0-7", 2, "", ""),
    ("of an even need none is left out", FOUR_THREADS, "0-5,7", "0-7", 2, "", ""),
    ("where cores have one thread on average none is left out", MF, "0-7", "0-7", 1, "", ""),
]


@pytest.mark.parametrize(
    ("machine", "free", "cache", "need", "given", "until_1_33"), [row[1:] for row in FITS], ids=[row[0] for row in FITS]
)
def test_a_part_of_a_cache_fits_exactly_or_not_at_all(
    machine: Machine, free: str, cache: str, need: int, given: str, until_1_33: str
) -> None:
    topology, working, uncore = build(machine), WorkingSet(0, parse(free), need), Unit(0, parse(cache))
    assert format_set(exact_fit(topology, working, uncore)) == given
    assert format_set(fit_of_whole_cores(topology, working, uncore)) == until_1_33
