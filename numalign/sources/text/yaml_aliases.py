"""What an alias of YAML costs: values that several places share, and how much they may hold in all."""

from __future__ import annotations

from typing import Final

SHARED_VALUES: Final = 20_000
"""How many different values are looked out for among a text's documents."""
SHARED_LENGTH: Final = 16
"""Longest list or mapping that is shared."""
SHARED_TEXT: Final = 64
"""Longest text that is shared."""


class Shared:
    """Lets equal small values of a text's documents be one value: most documents of a long text are alike.

    Nothing that was read is ever changed, as aliases need, too.
    """

    def __init__(self) -> None:
        self._known: dict[object, object] = {}
        self._one: set[int] = set()
        """Ids of the lists and mappings that are known; they live as long as this does."""

    def scalar(self, value: object) -> object:
        """Return the first value that was equal to a text."""
        if type(value) is not str or len(value) > SHARED_TEXT:
            return value
        known = self._known.get(value)
        if known is None and len(self._known) < SHARED_VALUES:
            self._known[value] = value
        return value if known is None else known

    def collection(self, value: dict[str, object] | list[object]) -> object:
        """Return the first list or mapping that was equal to one whose parts are shared already."""
        if len(value) > SHARED_LENGTH:
            return value
        parts: list[object] = [type(value)]
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(each, dict | list):
                if id(each) not in self._one:
                    return value
                parts += (key, id(each))
            else:
                parts += (key, type(each), each)
        place = tuple(parts)
        known = self._known.get(place)
        if known is None and len(self._known) < SHARED_VALUES:
            self._known[place] = value
            self._one.add(id(value))
        return value if known is None else known
