"""Figures in the text form of Prometheus, version 0.0.4: what `verify` and `serve` write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from numalign.render.escape import printable
from numalign.values import NamedTuple

Kind = Literal["gauge", "counter", "histogram"]
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One line: a value and the labels that tell it apart."""

    value: float | str
    labels: Mapping[str, object] = {}
    suffix: str = ""
    """What follows the name of the family, such as `_bucket`."""


class Family(NamedTuple):
    """All samples of one name."""

    name: str
    kind: Kind
    help: str
    samples: Iterable[Sample]


def single(name: str, kind: Kind, text: str, value: float | str) -> Family:
    """Make a family of one sample without labels."""
    return Family(name, kind, text, (Sample(value),))


def exposition(families: Iterable[Family]) -> str:
    """Write families of samples."""
    lines = []
    for name, kind, text, samples in families:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{one.suffix}{_labels(one.labels)} {one.value}" for one in samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, object]) -> str:
    pairs = ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
