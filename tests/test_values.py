"""numalign's NamedTuple is typing's, as far as anybody can see."""

from __future__ import annotations

import inspect
import pickle
import typing

import pytest

from numalign.values import NamedTuple


class Pair(NamedTuple):
    """Two numbers."""

    first: int
    second: int = 2
    """The second one."""

    @property
    def total(self) -> int:
        """Add them."""
        return self.first + self.second

    @classmethod
    def of(cls, number: int) -> Pair:
        return cls(number, number)

    def __str__(self) -> str:
        return f"{self.first}, {self.second}"


class TypingPair(typing.NamedTuple):
    """Two numbers."""

    first: int
    second: int = 2
    """The second one."""


class Nothing(NamedTuple):
    """No field at all."""


@pytest.mark.parametrize("name", ["_fields", "_field_defaults", "__doc__", "__module__", "__match_args__", "__mro__"])
def test_a_class_is_made_like_one_of_typing(name: str) -> None:
    mine, other = getattr(Pair, name), getattr(TypingPair, name)
    assert (mine[1:] if name == "__mro__" else mine) == (other[1:] if name == "__mro__" else other)


def test_its_types_can_be_read() -> None:
    assert typing.get_type_hints(Pair) == typing.get_type_hints(TypingPair)
    assert list(inspect.signature(Pair).parameters) == ["first", "second"]


def test_its_values_are_tuples_with_what_the_class_gives_them() -> None:
    assert Pair(1) == (1, 2)
    assert (Pair(1).total, Pair.of(3).second, str(Pair(4, 5))) == (3, 3, "4, 5")
    assert Pair(1)._replace(second=9).second == 9
    assert repr(Nothing()) == "Nothing()"


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="first"):
        Pair()  # type: ignore[call-arg]  # this is what is tested


def test_its_values_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1)
