"""Changes to good inputs: to data by its structure, to texts and bytes by their marks. All chance comes from `rng`."""

from __future__ import annotations

import contextlib
import copy
import json
from random import Random
from typing import Any, TypeVar

Item = TypeVar("Item")

NUMBERS: tuple[Any, ...] = (
    *(
        0,
        1,
        -1,
        2,
        3,
        63,
        64,
        65,
        1023,
        2**20,
        2**20 + 1,
        2**31,
        2**32,
        2**53,
        2**63 - 1,
        2**63,
        2**64,
        -(2**63),
        -(2**64),
    ),
    *(10**40, -(10**40), 0.5, -0.0, 1e300, 1e-300, 1.5),
)
CONTROLS = (
    *("\x00", "\x07", "\x08", "\x1b[31m", "\x1b]0;pwned\x07", "\x7f", "\x85", "\x9b31m", "\r", "\n", "\n\n", "\t"),
    *("\u200b", "\u202e", "\u2066", "\u2028", "\u2029", "\ufeff", "\xa0", "\u3000", "\U000e0041", "\ud800", "\ufffe"),
    *(
        "::error::x",
        "\n::set-output name=a::b",
        "##[error]x",
        "##vso[task.complete]",
        "]]>",
        "<script>",
        "&",
        "'\"",
        "`$(id)`",
    ),
)
TEXTS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1",
        "01",
        "010",
        "0x10",
        "1e9",
        "1E",
        "0.5",
        "1.5Gi",
        "100m",
        "1Zi",
        "NaN",
        "inf",
        "1_000",
        "٣",
        "²",
    ),
    *(
        "9" * 19,
        "9" * 20,
        "9" * 400,
        "9" * 4301,
        "0" * 5000 + "1",
        "0-",
        "0-3",
        "3-0",
        "0-9999999",
        "0,0",
        "0-3:2",
        "-1--2",
    ),
    *("none", "None", "static", "Static", "Always", "true", "yes", "null", "~", "container", "default", "restricted"),
    *(
        "é",
        "a" * 300,
        "a" * 70_000,
        "a/b",
        "a/b/c",
        "../..",
        "/dev/null",
        "hugepages-2Mi",
        "hugepages-",
        "hugepages-3Ki",
    ),
    *(
        "cpu",
        "memory",
        "nvidia.com/gpu",
        "ephemeral-storage",
        "pods",
        "2024-01-01",
        "9999-99-99T99:99:99Z",
        "{{ x }}",
        "*",
        "&a",
    ),
    *("%s%n", "{0}", "[bold]", "$HOME", "-", "--", "-o", "=", ",", ";", ":", "a=b", "a=b,a=c"),
    *CONTROLS,
)


def odd(rng: Random) -> Any:
    """Return a value that hardly anybody expects."""
    match rng.randrange(8):
        case 0:
            return rng.choice(NUMBERS)
        case 1 | 2 | 3:
            return rng.choice(TEXTS)
        case 4:
            return rng.choice(CONTROLS) + rng.choice(TEXTS)
        case 5:
            return rng.choice((None, True, False))
        case 6:
            return copy.deepcopy(rng.choice(([], {}, [[]], [None], [{}], {"": None}, {"a": {}}, [0], ["a"], [1, "1"])))
        case _:
            return nested(rng)


def nested(rng: Random) -> Any:
    """Return something deep or wide."""
    value: Any = rng.choice((None, 0, "x", {}))
    for _ in range(rng.choice((2, 5, 30, 250))):
        value = [value] if rng.random() < 0.5 else {rng.choice(("a", "spec", "items", "cpu")): value}
    return value if rng.random() < 0.7 else [copy.copy(value)] * rng.choice((2, 100, 2000))


def near(rng: Random, value: Any) -> Any:
    """Return a value of the same kind near the old one; many are valid."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((0, 1, 2, value + 1, max(value - 1, 0), -value, value * 2, value * 1000, value << 20))
    if isinstance(value, str):
        place = rng.randint(0, len(value))
        return rng.choice(
            (
                *(
                    "0",
                    "1",
                    "3",
                    "2Gi",
                    "0-1",
                    "0-3",
                    "4-7",
                    "1500m",
                    "none",
                    "static",
                    value + "0",
                    value * 2,
                    value.upper(),
                ),
                *(value[:place], value[place:], value[:place] + rng.choice(CONTROLS) + value[place:]),
            )
        )
    if isinstance(value, list):
        return rng.choice((value[:1], value[1:], value * 2, value[::-1], value * 50 if len(value) < 100 else value))
    return {}


def places(data: Any) -> list[tuple[Any, Any]]:
    """List every (container, key) of some data."""
    found: list[tuple[Any, Any]] = []
    pending = [data]
    while pending:
        holder = pending.pop()
        for key, value in list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)):
            found.append((holder, key))
            if isinstance(value, dict | list):
                pending.append(value)
    return found


MAX_TEXT = 1024**2
"""Characters of JSON beyond which data is not changed further: what is doubled four times over fills a machine."""


MAX_INDENTED = 64 * 1024
"""Characters of JSON up to which data is also written with indentation."""


def mutated(rng: Random, good: Any, most: int = 4) -> Any:
    """Change one to some things of good data."""
    data = good
    for _ in range(rng.choice((1, 1, 1, 2, 3, most))):
        text = json.dumps(data)
        if len(text) > MAX_TEXT:
            break
        # Read back, no part stands in two places: a change of one would otherwise multiply.
        data = json.loads(text)
        found = places(data)
        if not found:
            break
        holder, key = rng.choice(found)
        match rng.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                holder[key] = near(rng, holder[key])
            case 5 | 6:
                holder[key] = odd(rng)
            case 7:
                del holder[key]
            case 8 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case 9 if isinstance(holder, dict):
                holder[str(odd(rng))] = holder.pop(key)
            case 10:
                other, place = rng.choice(found)
                if not isinstance(holder[key], dict | list):
                    other[place] = holder[key]
            case _:
                if isinstance(holder, dict):
                    holder[rng.choice(("kind", "name", "spec", "items", "cpu", "resources", "id", "x"))] = odd(rng)
    return data


def written(rng: Random, data: Any) -> bytes:
    """Write data as JSON, or as YAML of some sort."""
    indent, ascii_only = rng.choice((None, 2)), rng.random() < 0.5
    text = json.dumps(data, ensure_ascii=ascii_only)
    if indent and len(text) < MAX_INDENTED:  # what is deep grows with the square of its depth
        text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    if rng.random() < 0.2:
        import yaml

        with contextlib.suppress(yaml.YAMLError, RecursionError, UnicodeError):
            dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
            wide, flow = rng.random() < 0.5, rng.choice((None, True, False))
            text = yaml.dump(data, Dumper=dumper, allow_unicode=wide, default_flow_style=flow)
    return text.encode("utf-8", "surrogatepass")


MARKS = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"-",
        b"?",
        b"&a ",
        b"*a",
        b"!",
        b"!!binary ",
        b"|",
        b">",
        b"'",
        b'"',
        b"%",
        b"@",
        b"`",
    ),
    *(
        b"# ",
        b"\n",
        b"\r\n",
        b"\t",
        b"<<: ",
        b"---\n",
        b"...\n",
        b"=",
        b"~",
        b"0",
        b"1",
        b"9" * 400,
        b"\\u0000",
        b"\\ud800",
    ),
    *(
        b"\x00",
        b"\xff",
        b"\x1b[2J",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
        b"\xc2\x85",
        b"<",
        b"</",
        b"]]>",
        b"&#0;",
        b"&lt;",
    ),
)


def damaged(rng: Random, good: bytes) -> bytes:
    """Cut, overwrite, double or splice bytes of a good text."""
    text = bytearray(good)
    for _ in range(rng.randint(1, 4)):
        place = rng.randint(0, len(text))
        length = rng.choice((0, 0, 1, 2, 8, 100))
        match rng.randrange(6):
            case 0:
                text[place : place + length] = b""
            case 1 | 2:
                text[place : place + length] = rng.choice(MARKS)
            case 3 if text:
                text[min(place, len(text) - 1)] ^= 1 << rng.randrange(8)
            case 4:
                text[place:place] = text[place : place + length] * rng.choice((1, 3, 50))
            case _:
                text[place:place] = rng.randbytes(rng.choice((1, 4, 20)))
    return bytes(text)
