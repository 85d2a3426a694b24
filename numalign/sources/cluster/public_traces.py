"""Public traces as workloads: Alibaba's GPU traces of 2023 and 2025, and any CSV with a map of its columns.

None of them says anything of NUMA nodes, and most of their pods are not Guaranteed: what is made of them here is said
in a note (docs/rules/scheduling.md 6.5). Nothing is downloaded; people fetch the files themselves.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from io import TextIOWrapper
from typing import Final, Literal

from numalign.errors import InputError, Notice
from numalign.model.pod import Container, Pod
from numalign.model.quantity import GIBI, MEBI, NANO, QuantityError, from_int, parse
from numalign.scheduler.simulate.settings import Workload, microseconds
from numalign.store.reading import reading
from numalign.values import NamedTuple

GPU: Final = "nvidia.com/gpu"
RDMA: Final = "rdma/hca"

Row = Mapping[str, str]
Form = Literal["openb", "dlrm", "csv"]
"""Of a public trace."""


class Columns(NamedTuple):
    """Which column of a CSV file means what; amounts are Kubernetes quantities, times seconds."""

    t: str
    name: str
    cpu: str
    memory: str
    duration: str = ""
    end: str = ""
    """The time of the end, in place of `duration`."""
    devices: tuple[tuple[str, str], ...] = ()
    """(resource, column) pairs."""


class PublicTrace(NamedTuple):
    """What a file holds."""

    workloads: tuple[Workload, ...]
    notices: tuple[Notice, ...]


def read_public(path: str, form: Form, columns: Columns | None = None) -> PublicTrace:
    """Read a public trace.

    Args:
        path: the CSV file.
        form: `openb` (cluster-trace-gpu-v2023), `dlrm` (cluster-trace-gpu-v2025) or `csv`.
        columns: of the form `csv`, what its columns mean.

    Raises:
        InputError: the file cannot be read, a column is missing, or a value is wrong; the line is named.
    """
    rows = list(_rows(path))
    notes: tuple[str, ...]
    if form == "csv":
        if columns is None:
            raise InputError(
                "a CSV trace requires --columns; "
                "fix: add --columns, such as t=start,name=id,cpu=cores,memory=mem,duration=secs"
            )
        read, notes = _with_columns(columns), _CSV_NOTES
    else:
        read, notes = (_openb, _OPENB_NOTES) if form == "openb" else (_dlrm, _DLRM_NOTES)
    found = []
    for number, row in rows:
        try:
            workload = read(row)
        except KeyError as error:
            raise InputError(f"unknown column {error.args[0]!r}", f"{path}:{number}") from None
        except (ValueError, QuantityError) as error:
            raise InputError(str(error), f"{path}:{number}") from None
        if workload is not None:
            found.append(workload)
    found.sort(key=lambda one: (one.at, one.name))
    start = found[0].at if found else 0
    workloads = tuple([one._replace(at=one.at - start) for one in found])
    notices = [Notice("trace-made", note, path) for note in notes]
    if len(found) < len(rows):
        notices.append(Notice("trace-passed-over", f"{len(rows) - len(found)} rows without a request or a run", path))
    return PublicTrace(workloads, tuple(notices))


def _rows(path: str) -> Iterator[tuple[int, Row]]:
    try:
        with reading(path) as file, TextIOWrapper(file, newline="", encoding="utf-8-sig") as stream:
            for number, row in enumerate(csv.DictReader(stream, restval=""), start=2):
                yield number, {name: value for name, value in row.items() if isinstance(name, str)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", path) from None


def _number(row: Row, column: str) -> float:
    text = row[column].strip()
    try:
        value = float(text or 0)
    except ValueError:
        raise ValueError(f"{column}: expected a number, got {text!r}") from None
    if not 0 <= value < 1e15:
        raise ValueError(f"{column}: expected a number from 0 on, got {text!r}")
    return value


def _guaranteed(cpu_nano: int, memory: int, devices: Mapping[str, int]) -> Pod:
    """Make a pod whose requests are its limits."""
    amounts = {"cpu": from_int(0)._replace(nano=cpu_nano), "memory": from_int(memory)}
    amounts |= {name: from_int(count) for name, count in devices.items() if count}
    return Pod("", "", "Guaranteed", (Container("main", "app", amounts, amounts),))


def _whole_cpus(cpus: float) -> int:
    """Round CPUs up to whole ones, in billionths: only those are pinned."""
    return -int(-cpus // 1) * NANO


_OPENB_NOTES = (
    "few pods of the trace are Guaranteed: numalign set limits equal to requests and rounded CPUs up to whole CPUs",
    "a shared GPU counts as 1 GPU; the trace has no NUMA nodes",
)


def _openb(row: Row) -> Workload | None:
    """Read a row of `openb_pod_list_*.csv`."""
    start, end = _number(row, "creation_time"), row["deletion_time"].strip()
    cpus = _number(row, "cpu_milli") / 1000
    if not cpus:
        return None
    pod = _guaranteed(_whole_cpus(cpus), int(_number(row, "memory_mib")) * MEBI, {GPU: int(_number(row, "num_gpu"))})
    duration = microseconds(_number(row, "deletion_time") - start) if end else None
    return Workload(microseconds(start), row["name"], pod, duration=None if duration is None else max(duration, 0))


_DLRM_NOTES = ("an RDMA share counts as 1 device; the trace has no NUMA nodes",)


def _dlrm(row: Row) -> Workload | None:
    """Read a row of `disaggregated_DLRM_trace.csv`: memory and disk are in GiB, RDMA in per cent."""
    cpus = _number(row, "cpu_request")
    if not cpus:
        return None
    devices = {GPU: int(_number(row, "gpu_request")), RDMA: int(_number(row, "rdma_request") > 0)}
    pod = _guaranteed(_whole_cpus(cpus), int(_number(row, "memory_request") * GIBI), devices)
    start, end = _number(row, "creation_time"), row["deletion_time"].strip()
    duration = microseconds(max(_number(row, "deletion_time") - start, 0)) if end else None
    return Workload(microseconds(start), row["instance_sn"], pod, duration=duration)


_CSV_NOTES = ("each row is a Guaranteed pod with limits equal to requests; the table has no NUMA nodes",)


def _with_columns(columns: Columns) -> Callable[[Row], Workload | None]:
    """Read rows of any CSV file."""

    def read(row: Row) -> Workload | None:
        amounts = {"cpu": parse(row[columns.cpu]), "memory": parse(row[columns.memory])}
        amounts |= {name: parse(row[column] or "0") for name, column in columns.devices}
        amounts = {name: amount for name, amount in amounts.items() if amount.nano or name in ("cpu", "memory")}
        start = _number(row, columns.t)
        duration: float | None = None
        if columns.duration and row[columns.duration].strip():
            duration = _number(row, columns.duration)
        elif columns.end and row[columns.end].strip():
            duration = max(_number(row, columns.end) - start, 0)
        pod = Pod("", "", "Guaranteed", (Container("main", "app", amounts, amounts),))
        return Workload(
            microseconds(start), row[columns.name], pod, duration=None if duration is None else microseconds(duration)
        )

    return read
