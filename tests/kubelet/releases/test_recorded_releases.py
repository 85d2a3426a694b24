"""What each release is, as text: its settings, options and gates, which parts it replaced, and what is told of it.

`releases.txt` says of each release what is otherwise than in the one before; of a part that decides no more than that
it is another. `NUMALIGN_UPDATE_GOLDEN=1` writes it anew; read what changed before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

from numalign.kubelet.releases import OLDEST, PUBLISHED
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import all_changes, kubelet

FILE = Path(__file__).parent / "releases.txt"
PLAIN = (str, int, bool, type(None))


def test_releases_are_as_recorded() -> None:
    found = "".join(f"{line}\n" for line in (*releases(), *changes()))
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        FILE.write_text(found, encoding="utf-8")
    assert found == FILE.read_text(encoding="utf-8")


def releases() -> Iterator[str]:
    before: dict[str, object] = {}
    for minor in range(OLDEST[1], PUBLISHED[1] + 1):
        now = dict(parts("", kubelet((1, minor))))
        yield f"== {version_text((1, minor))}"
        for path in sorted({*before, *now}):
            if path not in now:
                yield f"{path}: gone"
            elif path not in before or before[path] != now[path]:
                value = now[path]
                yield f"{path}: {value!r}" if isinstance(value, PLAIN) else f"{path}: another part"
        before = now


def changes() -> Iterator[str]:
    for one in all_changes():
        yield f"== {one.topic}, since {version_text(one.since)}"
        for name in ("older", "newer", "concerns", "remedy", "sure"):
            if text := getattr(one, name):
                yield f"{name}: {text}"


def parts(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield what a value is made of, each with its path."""
    if isinstance(value, Mapping):
        inner = {f"[{key}]": one for key, one in value.items()}
    elif isinstance(value, frozenset):
        inner = {f"[{one}]": True for one in value}
    elif hasattr(value, "_asdict"):
        inner = {f".{key}": one for key, one in value._asdict().items()}
    elif is_dataclass(value):
        inner = {f".{field.name}": getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, tuple):
        inner = {f"[{place}]": one for place, one in enumerate(value)}
    else:
        yield path, value
        return
    for key, one in inner.items():
        yield from parts(path + key, one)
