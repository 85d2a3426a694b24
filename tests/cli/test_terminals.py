"""What people see on terminals of the usual widths: tables stay tables, no line is cut, prose breaks at words.

`golden/terminals/NAME-WIDTH.txt` is the screen of a terminal after a command, as an emulator shows it;
`NUMALIGN_UPDATE_GOLDEN=1` writes these files anew.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable
from functools import cache

import pyte
import pytest

from tests import copies
from tests.cli.running import ENVIRONMENT, ROOT, command
from tests.newest import unnamed

pytestmark = copies.TOGETHER

WIDTHS = (80, 100, 120, 150, 200)
SCREENS = ROOT / "tests/golden/terminals"
MAX_LINES = 200
CLAIMS = ("-m", "hgx-h100", "--slices", "docs/examples/dra/cluster.yaml", "--node-name", "hgx-1")
COMMANDS = {
    "admit": ("admit", "pods/announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node"),
    "hgx-pod": ("admit", "docs/examples/gpus-and-nics.yaml", "-m", "hgx-h100", "--policy", "restricted"),
    "compare": ("compare", "pods/announcement.yaml", "-m", "figure-1"),
    "compare-options": (
        *("compare", "pods/wide.yaml", "-m", "xeon-4s", "--policy", "restricted"),
        *("--try-option", "distribute-cpus-across-numa"),
    ),
    "discover-bus": ("discover", "--sysfs-root", "tests/sysfs/xeon-32c-8ve.tar.xz"),
    "machines": ("machines",),
    "discover": ("discover", "-m", "hgx-h100"),
    "claims-gpu": ("admit", "docs/examples/dra/gpu.yaml", *CLAIMS),
    "claims-gpu-nic": ("explain", "docs/examples/dra/gpu-nic.yaml", *CLAIMS),
    "claims-check": ("dra", "check", "docs/examples/dra/gpu-nic.yaml", *CLAIMS[2:4]),
}
TITLES = {
    "admit": "POD",
    "hgx-pod": "POD",
    "compare": "POLICY",
    "compare-options": "POLICY",
    "discover-bus": "NUMA NODE",
    "machines": "NAME",
    "discover": "NUMA NODE",
    "claims-gpu": "POD",
    "claims-gpu-nic": "FREE",
    "claims-check": "FOR",
}


CASES = [
    pytest.param(name, width, id=f"{name}-{width}", marks=pytest.mark.together(f"{name} {width}"))
    for name in COMMANDS
    for width in WIDTHS
]
"""Both tests of a screen run one after another, so that it is written once."""


def on_a_terminal(width: int, *arguments: str, **environment: str) -> list[str]:
    """Run the command on a terminal of a width; returns its lines without colours and the blanks at their ends."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", written(width, *arguments, **environment)).replace("\r\n", "\n")
    return [line.rstrip() for line in text.split("\n")]


def screen(width: int, text: str) -> str:
    """Show what was written on an emulated terminal."""
    shown = pyte.Screen(width, MAX_LINES)
    pyte.Stream(shown).feed(text)
    assert shown.cursor.y < MAX_LINES - 1, "it scrolled"
    shown.lines = shown.cursor.y + 1  # the lines below are empty, and take most of the time
    return "\n".join(line.rstrip() for line in shown.display).rstrip() + "\n"


@cache
def written(width: int, *arguments: str, **environment: str) -> str:
    """Run the command once on a terminal of a width; returns all that it wrote there."""
    main, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    settings = ENVIRONMENT | {"TERM": "xterm", "PYTHONPATH": str(ROOT)} | environment
    with open(os.devnull) as nothing:
        if "LC_ALL" in environment:  # what Python looks at while it starts
            process = subprocess.Popen(
                command(*arguments), cwd=ROOT, env=settings, stdin=nothing, stdout=end, stderr=end
            )
            wait: Callable[[float], object] = process.wait
        else:
            wait = copies.command(arguments, (nothing.fileno(), end, end), environment=settings).join
    os.close(end)
    found = b""
    try:
        while data := os.read(main, 65536):
            found += data
    except OSError:
        pass  # The other end is closed: Linux says so with an error.
    finally:
        os.close(main)
    wait(60)
    return found.decode()


@pytest.mark.parametrize(("name", "width"), CASES)
def test_a_table_stays_a_table(name: str, width: int) -> None:
    lines = on_a_terminal(width, *COMMANDS[name])

    title = next(place for place, line in enumerate(lines) if line.lstrip().startswith(TITLES[name]))
    rule = next(line for line in lines[title:] if "─" in line)
    assert re.fullmatch(r"─+( hidden: .+ \(-o wide\))?", rule.strip())
    long = [line for line in lines if len(line) > width and not line.lstrip().startswith("numalign ")]
    assert long == []


@pytest.mark.parametrize(("name", "width"), CASES)
def test_the_screen_is_what_it_was(name: str, width: int) -> None:
    golden = SCREENS / f"{name}-{width}.txt"
    seen = unnamed(screen(width, written(width, *COMMANDS[name])))
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        golden.write_text(seen, encoding="utf-8")
    assert seen == golden.read_text(encoding="utf-8")


def test_every_screen_belongs_to_a_command() -> None:
    assert {file.stem for file in SCREENS.iterdir()} == {f"{name}-{width}" for name in COMMANDS for width in WIDTHS}


def test_what_is_dropped_and_what_never_is() -> None:
    for width in WIDTHS:
        titles = next(line for line in on_a_terminal(width, *COMMANDS["admit"]) if line.startswith("POD"))
        assert {"POD", "RESULT", "CPUS", "DEVICES", "ALIGNED"} <= set(titles.split())
        assert ("QOS" in titles) == (width >= 120)


def test_the_environment_s_width_counts_first() -> None:
    assert max(map(len, on_a_terminal(200, *COMMANDS["machines"], COLUMNS="90"))) <= 90


def test_without_utf_8_there_are_ascii_signs() -> None:
    lines = on_a_terminal(100, *COMMANDS["admit"], LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert all(line.isascii() for line in lines)
    assert any("2 of 4 +" in line for line in lines)


def test_colour_in_a_pipe_changes_colours_only() -> None:
    arguments, environment = command(*COMMANDS["admit"]), {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    texts = []
    for more in ({}, {"FORCE_COLOR": "1"}):
        done = subprocess.run(arguments, cwd=ROOT, env=environment | more, capture_output=True, text=True)
        texts.append(done.stdout)
    assert "\x1b[" in texts[1]
    assert re.sub(r"\x1b\[[0-9;]*m", "", texts[1]) == texts[0]
