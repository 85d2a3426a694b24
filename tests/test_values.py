"""numalign's NamedTuple is typing's, as far as anybody can see."""

from __future__ import annotations

import inspect
import pickle
import re
import typing
from collections.abc import Callable
from typing import Any

import pytest

from numalign.values import NamedTuple

Item = typing.TypeVar("Item")


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


@pytest.mark.parametrize("name", ["_fields", "_field_defaults", "__doc__", "__module__", "__match_args__", "__slots__"])
def test_a_class_is_made_like_one_of_typing(name: str) -> None:
    assert getattr(Pair, name) == getattr(TypingPair, name)


def test_its_types_can_be_read() -> None:
    assert typing.get_type_hints(Pair) == typing.get_type_hints(TypingPair)
    assert list(inspect.signature(Pair).parameters) == ["first", "second"]


def test_its_values_are_tuples_with_what_the_class_gives_them() -> None:
    pair = Pair(1)
    assert isinstance(pair, tuple)
    assert pair == (1, 2)
    assert hash(pair) == hash((1, 2))
    assert (pair.total, Pair.of(3).second, str(Pair(second=5, first=4))) == (3, 3, "4, 5")
    assert not hasattr(pair, "__dict__")


@pytest.mark.parametrize("number", [*range(25), 40])
def test_it_may_have_any_number_of_fields(number: int) -> None:
    fields = [f"field_{index}" for index in range(number)]
    made: Any = type(NamedTuple)("Many", (NamedTuple,), {"__annotations__": dict.fromkeys(fields, "int")})
    values = tuple(range(number))
    assert made(*values) == made(**dict(zip(fields, values, strict=True))) == values
    assert list(inspect.signature(made).parameters) == fields


class Held(NamedTuple, typing.Generic[Item]):
    """A value of some type."""

    item: Item


def test_it_may_be_generic() -> None:
    held: Held[int] = Held(1)
    assert (held, held.item, Held[int](item=2)) == ((1,), 1, (2,))


@pytest.mark.parametrize("made", [Pair, TypingPair])
def test_its_values_do_what_named_tuples_do(made: type[Pair]) -> None:
    pair = made._make([1, 3])
    assert pair._asdict() == {"first": 1, "second": 3}
    assert pair._replace(second=9) == (1, 9)
    assert type(pair._replace()) is made
    assert repr(pair) == f"{made.__name__}(first=1, second=3)"
    assert repr(Nothing()) == "Nothing()"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda made: made(), "missing 1 required positional argument: 'first'"),
        (lambda made: made(1, 2, 3), "__new__() takes from 2 to 3 positional arguments but 4 were given"),
        (lambda made: made(1, third=3), "__new__() got an unexpected keyword argument 'third'"),
        (lambda made: made(1)._replace(third=3), "Got unexpected field names: ['third']"),
        (lambda made: setattr(made(1), "first", 2), "can't set attribute"),
    ],
    ids=["a field without a default is left out", "too many values", "no such field", "replacing no field", "changing"],
)
@pytest.mark.parametrize("made", [Pair, TypingPair])
def test_what_is_wrong_is_told_as_typing_tells_it(
    made: type[Pair], wrong: Callable[[type[Pair]], object], error: str
) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(error)):
        wrong(made)


def test_its_values_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(Pair(1))) == Pair(1)
