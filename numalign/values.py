"""The base of numalign's values: `typing.NamedTuple`, but quicker to import.

typing compiles the annotation of every field when the class is made, to check its form. mypy does that here, and a
short command makes a hundred such classes: this took a tenth of its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    _MADE = frozenset({"__module__", "__annotations__"})

    class _Maker(type):
        """Makes the tuple's class out of the body of a class statement."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            types = body.get("__annotations__", {})
            fields = tuple(types)
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__annotations__ = made.__new__.__annotations__ = types
            for key, value in body.items():
                if key not in _MADE and key not in fields:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """What a class statement names as its base; the class that comes of it is a tuple."""
