"""Completion from the built wheel in real shells: somebody types at a terminal and presses the tab key."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import struct
import termios
import time

import pytest

from tests.cli.running import ROOT
from tests.installed.conftest import Installed

pytestmark = pytest.mark.installed
SECONDS = 60
"""In which a shell has to answer, also on a busy machine."""

SHELLS = {
    "bash": (["bash", "--norc", "-i"], 'eval "$(numalign completion bash)"; numalign() { echo "<$*>"; }'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -U compinit; compinit -u -D; eval "$(numalign completion zsh)"; numalign() { echo "<$*>" }',
    ),
    "fish": (
        ["fish", "--no-config", "-i"],
        'numalign completion fish | source; function numalign; echo "<$argv>"; end',
    ),
}
"""How each starts without the user's own settings, and what a user puts into them.

What is run in the end only tells its words; the scripts of completion call the program itself.
"""

TYPED = {
    "a command": ("sched", "schedule"),
    "a flag": ("lint --basel", "lint --baseline"),
    "a machine": ("admit pod.yaml --machine fig", "admit pod.yaml --machine figure-1"),
    "a policy": ("admit --policy sing", "admit --policy single-numa-node"),
    "an option": (
        "admit --cpu-manager-policy-options full-p",
        "admit --cpu-manager-policy-options full-pcpus-only=true",
    ),
    "a pod of the file given": ("explain pod.yaml --pod guar", "explain pod.yaml --pod guaranteed-4cpu-1gpu"),
}
"""What is typed before the tab key, and the words that are run then."""


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, shell: str, installed: Installed) -> None:
        words, setup = SHELLS[shell]
        environ = {**installed.environ(), "HOME": str(installed.folder), "TERM": "xterm", "HISTFILE": "/dev/null"}
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(installed.folder)
            os.execvpe(words[0], words, environ)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.type(f"{setup}; echo re''ady\n")
        self.wait_for("ready")

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until a text is there."""
        end, seen = time.monotonic() + SECONDS, ""
        while text not in seen:
            assert time.monotonic() < end, f"{text!r} did not come: {seen!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                seen += os.read(self.terminal, 65536).decode(errors="replace")

    def close(self) -> None:
        os.close(self.terminal)  # hangs up
        os.waitpid(self.process, 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_tab_key_completes(shell: str, installed: Installed) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")  # the script itself is tested by the shells that there are
    shutil.copy(ROOT / "pods/guaranteed-4cpu-1gpu.yaml", installed.folder / "pod.yaml")
    terminal = Terminal(shell, installed)
    try:
        for typed, completed in TYPED.values():
            terminal.type(f"numalign {typed}\t\r")
            terminal.wait_for(f"<{completed}")
    finally:
        terminal.close()
