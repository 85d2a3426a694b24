"""What the API server does to a pod before a node sees it: defaulting and validation.

Here are the amounts of a manifest as it delivers them: texts and numbers become canonical quantities.
"""

from __future__ import annotations

from collections.abc import Mapping

from numalign.model.gotext import number_text
from numalign.model.quantity import Quantity, delivered, parse

Quantities = dict[str, Quantity]
"""Resource -> quantity."""


class Known(Quantities):
    """Quantities by their text, each read when it is first asked for: the pods of a scenario repeat few texts."""

    def __missing__(self, text: str) -> Quantity:
        """Read a text; errors as in `amount`."""
        read = self[text] = delivered(parse(text.strip()))
        return read


def amounts(written: Mapping[str, object], known: Known | None = None) -> Quantities:
    """Read a map of resource names to quantities, as the API server delivers it."""
    if known is None:
        return {name: amount(text) for name, text in written.items()}
    return {name: known[text] if type(text) is str else amount(text) for name, text in written.items()}


def amount(written: object) -> Quantity:
    """Read one quantity, a text or a number, as the API server delivers it: without blanks around it, null as 0.

    Raises:
        TypeError: it is neither text nor number.
        QuantityError: the text is no quantity.
    """
    if written is None:
        return delivered(parse("0"))
    return delivered(parse(written.strip() if isinstance(written, str) else number_text(written)))
