"""Amounts of a manifest as the API server delivers them: texts and numbers become canonical quantities."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.model.gotext import number_text
from numalign.model.quantity import Quantity, delivered, parse

Quantities = dict[str, Quantity]
"""Resource -> quantity."""


def amounts(written: Mapping[str, object]) -> Quantities:
    """Read a map of resource names to quantities, as the API server delivers it."""
    return {name: amount(text) for name, text in written.items()}


def amount(written: object) -> Quantity:
    """Read one quantity, a text or a number, as the API server delivers it.

    Raises:
        TypeError: it is neither text nor number.
        QuantityError: the text is no quantity.
    """
    return delivered(parse(written if type(written) is str else number_text(written)))
