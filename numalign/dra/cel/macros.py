"""What is written like a call and is none: `has`, `all`, `exists`, `map`, `filter`, `cel.bind`, `optMap`."""

from __future__ import annotations

from typing import Final

from numalign.dra.cel.errors import CompileError
from numalign.dra.cel.syntax import Bind, Has, Loop, LoopKind, Name, Node, OptionalMap, Select

_ONE_VARIABLE: Final[dict[str, LoopKind]] = {"all": "all", "exists": "exists", "exists_one": "exists_one"}
_TWO_VARIABLES: Final[dict[str, LoopKind]] = {**_ONE_VARIABLE, "existsOne": "exists_one"}
_TRANSFORMS: Final[dict[str, LoopKind]] = {
    "transformList": "transform_list",
    "transformMap": "transform_map",
    "transformMapEntry": "transform_entry",
}


def expand(function: str, target: Node | None, arguments: tuple[Node, ...], position: int) -> Node | None:
    """Give the node that a macro stands for, or None: then it is a call.

    Raises:
        CompileError: the argument of `has` is no field, or a variable of a loop is no name.
    """
    count = len(arguments)
    if target is None:
        if function == "has" and count == 1:
            return _has(arguments[0])
        return None
    if function in _ONE_VARIABLE and count == 2:
        return _loop(_ONE_VARIABLE[function], target, arguments[:1], arguments[1], None, position)
    if function in _TWO_VARIABLES and count == 3:
        return _loop(_TWO_VARIABLES[function], target, arguments[:2], arguments[2], None, position)
    if function == "map" and count in (2, 3):
        condition = arguments[1] if count == 3 else None
        return _loop("map", target, arguments[:1], condition, arguments[-1], position)
    if function == "filter" and count == 2:
        return _loop("filter", target, arguments[:1], arguments[1], None, position)
    if function in _TRANSFORMS and count in (3, 4):
        condition = arguments[2] if count == 4 else None
        return _loop(_TRANSFORMS[function], target, arguments[:2], condition, arguments[-1], position)
    if function == "bind" and count == 3 and isinstance(target, Name) and target.name == "cel":
        return Bind(_variable(arguments[0]), arguments[1], arguments[2], position)
    if function in ("optMap", "optFlatMap") and count == 2:
        return OptionalMap(target, _variable(arguments[0]), arguments[1], function == "optFlatMap", position)
    return None


def _has(argument: Node) -> Has:
    if isinstance(argument, Select) and not argument.optional:
        return Has(argument.operand, argument.field, argument.position)
    raise CompileError(
        "invalid argument to has() macro: expected a field, as in has(device.attributes['x'].y)", argument.position
    )


def _loop(
    kind: LoopKind,
    target: Node,
    variables: tuple[Node, ...],
    condition: Node | None,
    result: Node | None,
    position: int,
) -> Loop:
    names = tuple(_variable(one) for one in variables)
    if len(set(names)) < len(names):
        raise CompileError("the two variables of a loop need different names", position)
    return Loop(kind=kind, range=target, variables=names, condition=condition, result=result, position=position)


def _variable(node: Node) -> str:
    if isinstance(node, Name):
        return node.name
    raise CompileError("argument must be a simple name", node.position)
