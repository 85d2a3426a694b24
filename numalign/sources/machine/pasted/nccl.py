"""NCCL's and RCCL's topology XML (NCCL_TOPO_DUMP_FILE): GPUs and NICs with the switches above them.

It lists the NUMA nodes that have devices, and no others: what CPUs the rest has is never taken from it.
"""

from __future__ import annotations

import re
from typing import Final
from xml.parsers import expat

from numalign.model.hardware import PCIFunction
from numalign.sources.host.text import cpu_map
from numalign.sources.machine.devices import MAX_DEVICES
from numalign.sources.machine.pasted.told import Told

TOOL: Final = "NCCL's topology XML"
_BRIDGE: Final = "0604"
_AFFINITY: Final = re.compile(r"[0-9a-f]{1,8}(?:,[0-9a-f]{1,8}){0,511}", re.ASCII)


def read_xml(data: str, told: Told) -> None:
    """Read it.

    Raises:
        InputError: it is no such XML.
    """
    start = re.search(r"<(?:system|graphs)\b", data)
    if not start:
        return
    if start[0] == "<graphs":
        raise told.error("is a graph that NCCL searched, without a machine: give the file of NCCL_TOPO_DUMP_FILE")
    end = data.find("</system>", start.start())
    if end < 0:
        raise told.error(f"{TOOL} is cut off: it has no </system>")
    told.tools.append(TOOL)
    reading = _Reading(told)
    try:
        reading.parser.Parse(data[start.start() : end + len("</system>")], True)
    except expat.ExpatError as error:
        raise told.error(f"{TOOL} is no XML: {expat.ErrorString(error.code)}") from None
    told.functions = tuple(reading.functions)
    for function in told.functions:
        if function.class_id and function.class_id.startswith(("0302", "0380", "12")):
            amd = function.vendor == "1002" or not function.class_id.startswith("0302")
            node = function.numa_node
            listed = told.gpus.setdefault("amd.com/gpu" if amd else "nvidia.com/gpu", {})
            listed[function.address] = None if node is None else (node,)


class _Reading:
    """One walk over the elements."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.functions: list[PCIFunction] = []
        self.above: list[tuple[str, str]] = []
        """(tag, address of a bridge) of the open elements."""
        self.node: int | None = None
        self.cpu = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda _tag: self.above.pop() and None

    def _start(self, tag: str, given: dict[str, str]) -> None:
        address = given.get("busid", "").lower()
        kind = given.get("class", "").removeprefix("0x")[:4]
        if tag == "cpu":
            number = given.get("numaid", "")
            self.node, self.cpu = int(number) if number.isdecimal() and len(number) < 5 else None, self.cpu + 1
            if self.node is not None and _AFFINITY.fullmatch(given.get("affinity", "")):
                self.told.near_nodes[self.node] = cpu_map(given["affinity"])
        elif tag == "pci" and kind != _BRIDGE and address:
            self._function(address, kind, given)
        elif tag in ("gpu", "net", "netdev") and self.functions:
            self._about(tag, given)
        self.above.append((tag, address if tag == "pci" and kind == _BRIDGE else ""))
        if len(self.above) > 64 or len(self.functions) > MAX_DEVICES:
            raise self.told.error(f"{TOOL}: it is nested too deep, or has more than {MAX_DEVICES} devices")

    def _function(self, address: str, kind: str, given: dict[str, str]) -> None:
        switches = [bridge for _, bridge in self.above if bridge]
        self.functions.append(
            PCIFunction(
                address,
                kind or None,
                given.get("vendor", "").removeprefix("0x") or None,
                given.get("device", "").removeprefix("0x") or None,
                numa_node=self.node,
                switch=switches[-1] if switches else None,
                outer_switch=switches[0] if len(switches) > 1 else None,
            )
        )

    def _about(self, tag: str, given: dict[str, str]) -> None:
        last = self.functions[-1]
        if tag == "gpu":
            kind = last.class_id or ("1200" if "gcn" in given else "0302")
            self.functions[-1] = last._replace(class_id=kind, vendor="1002" if "gcn" in given else last.vendor)
        elif given.get("name"):
            self.functions[-1] = last._replace(names=(*last.names, given["name"]))
