"""What the variable `device` is, and the entrance of this package: compile a selector, ask it about a device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from numalign.dra.cel.checker import Checker, Environment
from numalign.dra.cel.errors import CompileError, EvaluationError
from numalign.dra.cel.estimate import Estimate
from numalign.dra.cel.parser import parse
from numalign.dra.cel.program import Compiler
from numalign.dra.cel.syntax import Node
from numalign.dra.cel.types import ANY, BOOL, DEVICE, DYN, QUANTITY, STRING, is_dynamic, map_of
from numalign.dra.cel.values import Domains, Evaluate, Frame, Value, parse_semver, type_name
from numalign.dra.values import Attribute, Device
from numalign.values import NamedTuple

DeviceValue = Mapping[str, Value]
"""The variable `device`."""


class Selector(NamedTuple):
    """A compiled expression."""

    text: str
    evaluate: Evaluate

    def matches(self, device: DeviceValue) -> tuple[bool, int]:
        """Tell whether a device is selected, and what it cost.

        Raises:
            EvaluationError: the expression failed, or gave something that is not a bool.
        """
        frame = Frame({"device": device})
        try:
            value = self.evaluate(frame)
            frame.spend(0)
        except EvaluationError as error:
            error.cost = frame.cost
            raise
        if not isinstance(value, bool):
            raise EvaluationError(f"CEL result of type {type_name(value)} could not be converted to bool")
        return value, frame.cost


@lru_cache(maxsize=1024)
def compile_selector(text: str, *, lists: bool = False, includes: bool = True) -> Selector:
    """Compile a selector (docs/rules/dra.md D-20, D-21).

    Args:
        text: the expression.
        lists: the gate `DRAListTypeAttributes`: attributes may be lists.
        includes: whether the method `includes` is there; 1.36 has it.

    Raises:
        CompileError: the expression is refused.
        UnsupportedError: it uses what numalign does not follow.
    """
    node, checker = _checked(text, lists, includes)
    return Selector(text, Compiler(checker).compile(node))


def most_cost(text: str, *, lists: bool = False, includes: bool = True) -> float:
    """Estimate the largest cost of a selector, as the API server does when it is created (D-51).

    Raises:
        CompileError: the expression is refused anyway.
        UnsupportedError: it uses what numalign does not follow.
    """
    node, checker = _checked(text, lists, includes)
    return Estimate(checker).of(node).cost


def _checked(text: str, lists: bool, includes: bool) -> tuple[Node, Checker]:
    node = parse(text)
    attribute = DYN if lists else ANY
    environment = Environment(
        {"device": DEVICE},
        {
            DEVICE.name: {
                "driver": STRING,
                "allowMultipleAllocations": BOOL,
                "attributes": map_of(STRING, map_of(STRING, attribute)),
                "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
            }
        },
        frozenset({"includes"} if includes else ()),
    )
    checker = Checker(environment)
    kind = checker.check(node)
    if kind != BOOL and not is_dynamic(kind):
        raise CompileError(f"must evaluate to bool or the unknown type, not {kind}", 0)
    return node, checker


def device_value(device: Device, driver: str, *, lists: bool = False) -> DeviceValue:
    """Make the variable `device` (D-20).

    Raises:
        EvaluationError: a list attribute while lists are off, or a version that is none (D-20a).
    """
    attributes = Domains()
    for name in sorted(device.attributes):
        domain, short = _parts(name, driver)
        attributes.setdefault(domain, {})[short] = _value(name, device.attributes[name], lists)  # type: ignore[index]  # a dict
    capacity = Domains()
    for name, amount in device.capacity.items():
        domain, short = _parts(name, driver)
        capacity.setdefault(domain, {})[short] = amount.value  # type: ignore[index]  # a dict
    return {
        "driver": driver,
        "allowMultipleAllocations": device.shared,
        "attributes": attributes,
        "capacity": capacity,
    }


def _parts(name: str, driver: str) -> tuple[str, str]:
    """Split a name into domain and the rest; without a domain it is the driver's."""
    domain, slash, rest = name.partition("/")
    return (domain, rest) if slash else (driver, name)


_SINGLE: Final = {"ints": "int", "bools": "bool", "strings": "string", "versions": "version"}


def _value(name: str, attribute: Attribute, lists: bool) -> object:
    if attribute.is_list:
        if not lists:
            raise EvaluationError(f"attribute {name}: unsupported attribute value")
        return [_scalar(name, _SINGLE[attribute.kind], value) for value in attribute.value]
    if attribute.kind == "unknown":
        raise EvaluationError(f"attribute {name}: unsupported attribute value")
    return _scalar(name, attribute.kind, attribute.value)


def _scalar(name: str, kind: str, value: object) -> object:
    if kind != "version":
        return value
    version = parse_semver(str(value))
    if version is None:
        raise EvaluationError(f'attribute {name}: parse semantic version: "{value}" is none')
    return version
