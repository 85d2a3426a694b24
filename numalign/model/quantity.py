"""Kubernetes quantities ("500m", "2Gi") as exact numbers, with the kubelet's own reading rules.

Stands for docs/rules/kubelet-files.md section 9.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]


class QuantityError(ValueError):
    """A text is no quantity; the message is the kubelet's (docs/rules/kubelet-files.md 47-50)."""


class Quantity(NamedTuple):
    """An exact amount."""

    nano: int
    """The value in billionths."""
    format: Format
    int64: int | None
    """The whole number the kubelet reads straight from the text this came from, else None (rule 51)."""
