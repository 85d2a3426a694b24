"""Hostile claims: objects of Dynamic Resource Allocation with changed fields, and selectors made from CEL's grammar."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import yaml

from tests.cli.running import ROOT
from tests.fuzz.case import Case
from tests.fuzz.mutate import NUMBERS, TEXTS, damaged, mutated, written

FOLDER = ROOT / "docs" / "examples" / "dra"
HERE = ("-m", "hgx-h100", "--node-name", "hgx-1")
GATES = ("DRAListTypeAttributes=true", "DRAConsumableCapacity=false", "DRAAdminAccess=false,DRAPrioritizedList=false")


@cache
def good(name: str) -> list[Any]:
    """Return the documents of an example, read once."""
    text = (FOLDER / name).read_bytes()
    return [one for one in yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if one]


@cache
def examples() -> tuple[str, ...]:
    """Name the examples with claims."""
    return tuple(sorted(path.name for path in FOLDER.glob("*.yaml") if path.name not in ("cluster.yaml", "fleet.yaml")))


def command(rng: Random, pods: str, slices: str) -> tuple[str, ...]:
    """Choose who reads them."""
    given = (pods, "--slices", slices)
    output = ("-o", rng.choice(("table", "json")))
    match rng.randrange(8):
        case 0:
            return ("admit", *given, *HERE, *output)
        case 1:
            return ("explain", *given, *HERE, *output)
        case 2:
            return ("lint", *given, *output)
        case 3:
            return ("schedule", pods, "--cluster", str(FOLDER / "fleet.yaml"), *given[1:], *output)
    more: tuple[str, ...] = ()
    if rng.random() < 0.3:
        more = ("--kubelet-version", rng.choice(("1.34", "1.35", "1.36")))
    if rng.random() < 0.2:
        more = (*more, "--feature-gates", rng.choice(GATES))
    return ("dra", "check", *given, "-o", rng.choice(("table", "wide", "json", "name")), *more)


def claims(rng: Random) -> Case:
    """Claims, templates and their pods, slices and classes, with changed fields; texts that are damaged."""
    name = rng.choice(examples())
    texts = {}
    for file, source in (("c", name), ("s", "cluster.yaml")):
        documents = good(source)
        if rng.random() < (0.6 if file == "c" else 0.4):
            documents = [mutated(rng, one) for one in documents]
        texts[file] = b"\n---\n".join(written(rng, one) for one in documents)
        if rng.random() < 0.15:
            texts[file] = damaged(rng, texts[file])
    return Case(command(rng, "{here}/c", "{here}/s"), files=texts)


# Selectors

ROOTS = (
    "device.attributes",
    "device.capacity",
    "device.driver",
    "device.allowMultipleAllocations",
    "device.attributes['gpu.nvidia.com'].productName",
    "device.attributes['resource.kubernetes.io'].pcieRoot",
    "device.attributes['gpu.nvidia.com'].?model.orValue('x')",
    "device.capacity['gpu.nvidia.com'].memory",
    "device.attributes['dra.cpu'].numaNodeID",
    "device",
    "x",
    "y",
)
LITERALS = (
    *("true", "false", "null", "0", "-1", "3u", "1.5", "1e300", "0x7f", "9223372036854775807", "-9223372036854775808"),
    *("18446744073709551615u", "''", "'a'", 'r"\\d+"', "b'\\xff'", "'\\u00e9'", "'" + "ab" * 40 + "'", "[]", "{}"),
    *("[1, 2, 3]", "['a', 'b']", "{'a': 1}", "[[1], [2]]", "quantity('10Gi')", "semver('1.2.3')", "quantity('x')"),
)
OPERATORS = ("&&", "||", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%")
CALLS = (
    *("size({})", "string({})", "int({})", "uint({})", "double({})", "type({})", "has({})", "dyn({})", "!({})"),
    *("-({})", "quantity({})", "semver({})", "isQuantity({})", "sign({})", "ip({})", "cidr({})", "url({})"),
    *("timestamp({})", "duration({})", "math.greatest({}, 1)", "sets.contains({}, [1])", "cel.bind(x, {}, [x, x])"),
    *("optional.of({})", "bytes({})", "base64.encode({})"),
)
METHODS = (
    *("startsWith", "endsWith", "contains", "matches", "find", "findAll", "split", "replace", "indexOf", "substring"),
    *("compareTo", "isGreaterThan", "isLessThan", "add", "sub", "asInteger", "asApproximateFloat", "major", "includes"),
    *("size", "lowerAscii", "upperAscii", "trim", "join", "sum", "min", "max", "isSorted", "flatten", "reverse"),
    *("orValue", "hasValue", "value", "format", "charAt", "distinct", "slice", "sort", "first", "nope"),
)
MACROS = ("all", "exists", "exists_one", "map", "filter", "existsOne", "transformList", "transformMap", "sortBy")
PATTERNS = ("'(a+)+$'", "'(a|a)*b'", "'.*.*.*x'", "'('", "'[a-'", "'a{1000}{1000}'", "'\\\\p{L}+'", "'(?i)x'", "'^$'")


def expression(rng: Random, depth: int = 5) -> str:
    """Make an expression from CEL's grammar; what the types are it does not care."""
    if depth <= 0 or rng.random() < 0.15:
        return rng.choice(ROOTS) if rng.random() < 0.4 else rng.choice(LITERALS)

    def inner() -> str:
        return expression(rng, depth - rng.randint(1, 3))

    match rng.randrange(10):
        case 0 | 1 | 2:
            return f"({inner()} {rng.choice(OPERATORS)} {inner()})"
        case 3:
            return f"({inner()} ? {inner()} : {inner()})"
        case 4:
            return rng.choice(CALLS).format(inner())
        case 5:
            arguments = ", ".join(inner() for _ in range(rng.choice((0, 1, 1, 2))))
            return f"{inner()}.{rng.choice(METHODS)}({arguments})"
        case 6:
            variables = rng.choice(("x", "y", "x, y", "1"))
            return f"{inner()}.{rng.choice(MACROS)}({variables}, {inner()})"
        case 7:
            return f"{inner()}[{rng.choice(('', '?'))}{inner()}]"
        case 8:
            return f"{inner()}.matches({rng.choice(PATTERNS)})"
        case _:
            return f"[{', '.join(inner() for _ in range(rng.randint(0, 4)))}]"


def larger(rng: Random, text: str) -> str:
    """Make an expression long, deep, or much work."""
    number = rng.choice((2, 20, 200, 2000))
    match rng.randrange(9):
        case 0:
            return " && ".join([text] * number)[:20_000]
        case 1:
            return "(" * number + text + ")" * number
        case 2:
            return "!" * number + f"({text})"
        case 3:
            return text + ".a" * number
        case 4:
            return "[" * number + text + "]" * number
        case 5:
            listed = "[" + ", ".join("1" * min(number, 60)) + "]"
            loops = rng.randint(2, 6)
            return f"{listed}.all(x, " * loops + "true" + ")" * loops
        case 6:
            return "cel.bind(x, 'a', " + "cel.bind(x, x + x, " * min(number, 60) + "size(x) > 0" + ")" * min(number, 61)
        case 7:
            return f"('{'a' * number}b').matches({rng.choice(PATTERNS)})"
        case _:
            return text.replace(rng.choice(("'", "(", ")", ".", "1")), str(rng.choice((*TEXTS[:30], *NUMBERS))), 1)


def expressions(rng: Random) -> Case:
    """Selectors of requests and classes: expressions of every shape, some of them long, deep or much work."""
    texts = [expression(rng, rng.randint(1, 7)) for _ in range(rng.choice((1, 1, 2)))]
    texts = [larger(rng, one) if rng.random() < 0.35 else one for one in texts]
    texts = ["".join(sign for sign in one if not "\ud800" <= sign < "\ue000") for one in texts]
    selectors = [{"cel": {"expression": one}} for one in texts]
    in_class = rng.random() < 0.3
    form: dict[str, Any] = {"name": "r", "deviceClassName": "mine" if in_class else rng.choice(("dra.cpu", "dra.net"))}
    if not in_class:
        form["selectors"] = selectors
    if rng.random() < 0.2:
        request = {"name": "r", "firstAvailable": [form, {**form, "name": "s"}]}
    else:
        mode = {"allocationMode": "All"} if rng.random() < 0.2 else {"count": rng.choice((1, 2, 9))}
        request = {"name": "r", "exactly": {key: value for key, value in form.items() if key != "name"} | mode}
    version = {"apiVersion": "resource.k8s.io/v1"}
    objects: list[dict[str, Any]] = [
        {**version, "kind": "DeviceClass", "metadata": {"name": "mine"}, "spec": {"selectors": selectors}},
        {**version, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}},
    ]
    text = json.dumps({"kind": "List", "items": objects if in_class else objects[1:]}).encode()
    arguments = ("{here}/c", "--slices", str(FOLDER / "cluster.yaml"))
    if rng.random() < 0.2:
        return Case(("lint", *arguments), files={"c": text})
    return Case(("dra", "check", *arguments, "-o", rng.choice(("table", "json"))), files={"c": text})
