"""The base of numalign's values: `typing.NamedTuple`, but many times quicker to import; and how they are grouped.

For every class typing compiles each annotation, to check its form, and a `__new__`; a short command makes a hundred
classes, which took a sixth of its time. Here forms are mypy's business, and `__new__` stands ready for each number of
fields: of two classes with equally many only the names of the parameters differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter
    from types import FunctionType

    _new = tuple.__new__

    class _Values:
        """What all classes share: the methods of a named tuple."""

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            values, places = [*self], self._places
            try:
                for name, value in changes.items():
                    values[places[name]] = value
            except KeyError:
                unknown = [name for name in changes if name not in places]
                raise ValueError(f"Got unexpected field names: {unknown!r}") from None
            return _new(self.__class__, values)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            shown = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self):
            return tuple(self)

    _SHARED = {name: one for name, one in vars(_Values).items() if callable(one) or name == "_make"}
    """Given to each class, not inherited by it: a class between would cost each of them a seventh of its making."""

    _READY = (
        lambda _c: _new(_c, ()),
        lambda _c, a: _new(_c, (a,)),
        lambda _c, a, b: _new(_c, (a, b)),
        lambda _c, a, b, c: _new(_c, (a, b, c)),
        lambda _c, a, b, c, d: _new(_c, (a, b, c, d)),
        lambda _c, a, b, c, d, e: _new(_c, (a, b, c, d, e)),
        lambda _c, a, b, c, d, e, f: _new(_c, (a, b, c, d, e, f)),
        lambda _c, a, b, c, d, e, f, g: _new(_c, (a, b, c, d, e, f, g)),
        lambda _c, a, b, c, d, e, f, g, h: _new(_c, (a, b, c, d, e, f, g, h)),
        lambda _c, a, b, c, d, e, f, g, h, i: _new(_c, (a, b, c, d, e, f, g, h, i)),
        lambda _c, a, b, c, d, e, f, g, h, i, j: _new(_c, (a, b, c, d, e, f, g, h, i, j)),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k: _new(_c, (a, b, c, d, e, f, g, h, i, j, k)),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m: _new(_c, (a, b, c, d, e, f, g, h, i, j, k, m)),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n: _new(_c, (a, b, c, d, e, f, g, h, i, j, k, m, n)),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n, o: _new(_c, (a, b, c, d, e, f, g, h, i, j, k, m, n, o)),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p: _new(_c, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p)),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q: _new(
            _c, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q)
        ),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r: _new(
            _c, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r)
        ),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s: _new(
            _c, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s)
        ),
        lambda _c, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t: _new(
            _c, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t)
        ),
    )
    """Number of fields -> `__new__`."""

    def _code(number):
        """Return the code of the `__new__` of any class with so many fields; of very many it is compiled."""
        if number < len(_READY):
            return _READY[number].__code__
        parameters = "".join(f", _{index}" for index in range(number))
        values = "".join(f"_{index}, " for index in range(number))
        return eval(f"lambda _c{parameters}: _new(_c, ({values}))").__code__  # noqa: S307 (the text is ours)

    class _Maker(type):
        """Makes the tuple's class out of the body of a class statement."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            kinds = body.get("__annotations__", {})
            fields = tuple(kinds)
            places = {field: index for index, field in enumerate(fields)}
            defaults = {field: body[field] for field in fields if field in body}
            code = _code(len(fields)).replace(
                co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__"
            )
            new = FunctionType(code, globals(), "__new__", tuple(defaults.values()))
            new.__annotations__ = kinds
            body |= {field: _tuplegetter(index, None) for field, index in places.items()}
            own = {
                "__slots__": (),
                "__new__": new,
                "_fields": fields,
                "__match_args__": fields,
                "_places": places,
                "_field_defaults": defaults,
            }
            return type(name, (tuple,), {**_SHARED, **body, **own})  # a tuple is generic without `Generic`

    class NamedTuple(metaclass=_Maker):
        """What a class statement names as its base; the class that comes of it is a tuple."""


Key = TypeVar("Key")
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Put values of one key together; keys are in the order in which they come first."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
