"""The machines that come with numalign: their names, and their files as they were written.

Found by this file's own place, without pathlib and importlib.resources, which would cost every start some milliseconds.
"""

from __future__ import annotations

import os
import re
from functools import cache

from numalign.errors import InputError
from numalign.model.path import shown

UNDESCRIBED = ("gaudi3", "ampereone", "a3mega", "a3ultra", "m8i", "c8a", "mi325x", "g7e", "nd96isrh200")
"""Machines that people ask for and nobody has described exactly, without signs between."""

_BY_SIZE = """
figure-1 laptop-hybrid edge-1s gh200 dgx-1 hgx-h100-snc4 nd96asr-a100-v4 nd96isr-h100-v5 nd96isr-mi300x-v5 p4d.24xlarge
power9-2s-sparse-ids xeon-2s-cxl xeon-2s-snc2 gb200 gb300 p6e-gb200.36xlarge c7a.metal-48xl hgx-h100-snc2
m7i.metal-48xl p5.48xlarge p5e.48xlarge p5en.48xlarge p6-b200.48xlarge p6-b300.48xlarge a3-highgpu-8g xe9680-snc4
xeon-max-flat a4-highgpu-8g bm.gpu.h100.8 dgx-h100 hgx-b200 hgx-b200-snc2 hgx-h100 xe9680 xeon-2s-snc4 xeon-4s
bm.gpu.a100-v2.8 dgx-a100 epyc-2s-nps1 epyc-2s-nps4 hgx-b300 xeon-8s epyc-2s-l3-as-numa granite-rapids-snc3 mi355x
"""
SMALLEST_FIRST = tuple(_BY_SIZE.split())
"""The names by the number of CPUs, so that who looks for the smallest machine need not read them all."""


def names() -> tuple[str, ...]:
    """List the names, sorted."""
    return tuple(sorted(file.removesuffix(".yaml") for file in os.listdir(_folder()) if file.endswith(".yaml")))


def path(name: str) -> str:
    """Return the path of a machine's file."""
    return os.path.join(_folder(), f"{name}.yaml")


def check_known(word: str) -> None:
    """Check that bundled machines have this name, or are found by it.

    Raises:
        InputError: there are none.
    """
    if not meant_by(word) or (word not in names() and _undescribed(word)):
        raise InputError(f"no bundled machine has this name; {nearest(word)}", shown(word))


def text(name: str) -> str:
    """Return a machine's file as it was written, with its comments."""
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def description(name: str) -> str:
    """Return what the first line of a machine's file says about it."""
    return text(name).partition("\n")[0].removeprefix("# ")


def meant_by(word: str) -> tuple[str, ...]:
    """List the machines that a word means: the one of this name, or all whose name or first line tells its models.

    A model is a part with digits: `Standard_ND96isr_H100_v5` has three. They count where not all parts are found.
    """
    if word in names():
        return (word,)
    parts = re.findall(r"[a-z0-9.]+", word.lower())
    told = {name: f"{name} {description(name)}".lower() for name in names()} if parts else {}
    for wanted in (parts, [part for part in parts if re.search("[a-z][0-9]", part)]):
        begins = [re.compile(rf"(?<![a-z0-9]){re.escape(part)}{'(?![a-z])' * part.isalpha()}") for part in wanted]
        fitting = tuple(name for name, text in told.items() if begins and all(one.search(text) for one in begins))
        if fitting:
            return fitting
    return ()


def _undescribed(word: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    return any(one in plain for one in UNDESCRIBED)


def nearest(word: str) -> str:
    """Say which name was probably meant, or which there are."""
    from numalign.model.words import nearest as nearest_word

    if _undescribed(word):
        return "not described yet; fix: capture such a host: numalign discover --capture FILE"
    alike = meant_by(word)
    if alike:
        return f"hint: similar: {', '.join(alike[:3])}"
    meant = None if "/" in word or "." in word[-6:] else nearest_word(word, names(), 0.75)
    return f"hint: similar: {meant}" if meant else "hint: numalign machines lists all"


@cache
def _folder() -> str:
    """Find the files: inside an installed package, else beside the package in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    installed = os.path.join(package, "machines")
    return installed if os.path.isdir(installed) else os.path.join(os.path.dirname(package), "machines")
