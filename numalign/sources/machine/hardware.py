"""The `hardware` section of a machine file, as one description. What it means is `model.hardware`."""

from __future__ import annotations

from typing import Final

from numalign.model.document import maybe, needed, record
from numalign.model.document.values import (
    MAX_BYTES,
    MAX_NODE_ID,
    amount,
    boolean,
    cpu_list,
    integer,
    list_of,
    number,
    text,
)
from numalign.model.hardware import Allowed, CPUKind, Hardware, HardwareNode, L3Cache, Package, PCIFunction
from numalign.sources.machine.sections import hugepages

_ID: Final = integer(0, MAX_NODE_ID)
_SETS: Final = list_of(cpu_list)
_CPUS: Final = needed("cpus", cpu_list)
_PACKAGE: Final = record(Package, maybe("id", integer(-MAX_NODE_ID, MAX_NODE_ID)), _CPUS)
_CACHE: Final = record(L3Cache, maybe("id", integer(0, MAX_BYTES)), _CPUS, maybe("size", amount))
_KIND: Final = record(CPUKind, needed("kind", text()), _CPUS)
_NODE: Final = record(
    HardwareNode,
    needed("id", _ID),
    _CPUS,
    maybe("memory", amount),
    maybe("hugepages", hugepages),
    maybe("distances", list_of(integer(0, 2**31))),
)
_ALLOWED: Final = record(
    Allowed,
    maybe("cpus", cpu_list),
    maybe("numaNodes", cpu_list),
    maybe("cpuQuota", number("a number of CPUs")),
    maybe("memory", amount),
)
_PCI: Final = record(
    PCIFunction,
    needed("address", text()),
    maybe("class", text(), to="class_id"),
    maybe("vendor", text()),
    maybe("device", text()),
    maybe("numaNode", integer(-1, MAX_NODE_ID)),
    maybe("driver", text()),
    maybe("names", list_of(text())),
    maybe("root", text()),
    maybe("rootPort", text()),
    maybe("switch", text()),
    maybe("outerSwitch", text()),
    maybe("physicalFunction", text()),
    maybe("virtualFunctions", list_of(text())),
    maybe("totalVFs", _ID),
    maybe("numVFs", _ID),
)
"""A key that is missing is not known, `numaNode: -1` is what the firmware did not say."""
HARDWARE: Final = record(
    Hardware,
    maybe("model", text()),
    maybe("cpus", cpu_list),
    maybe("offlineCPUs", cpu_list),
    maybe("isolatedCPUs", cpu_list),
    maybe("sockets", list_of(_PACKAGE)),
    maybe("cores", _SETS),
    maybe("numaNodes", list_of(_NODE)),
    maybe("memory", amount),
    maybe("hugepages", hugepages),
    maybe("l3Caches", list_of(_CACHE)),
    maybe("dies", _SETS),
    maybe("clusters", _SETS),
    maybe("cpuKinds", list_of(_KIND)),
    maybe("allowed", _ALLOWED),
    maybe("pci", list_of(_PCI)),
    maybe("nvSwitch", boolean),
)
