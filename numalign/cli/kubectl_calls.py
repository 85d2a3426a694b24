"""Calls of kubectl, read-only, each said before it is made."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from typing import Final

from numalign.cli.stderr import say
from numalign.errors import InputError
from numalign.sources.text.json import loads

TIMEOUT_SECONDS: Final = 120
"""In which kubectl has to answer."""


class Kubectl:
    """Calls kubectl, and shows each call if asked to."""

    def __init__(self, context: str | None, kubeconfig: str | None, verbose: bool) -> None:
        """Remember the flags that go with every call."""
        self._flags = [f"--context={context}"] * bool(context) + [f"--kubeconfig={kubeconfig}"] * bool(kubeconfig)
        self._verbose = verbose

    def get(self, *words: str) -> str:
        """Ask kubectl.

        Raises:
            InputError: it is not there, or says no; its own words are in the message.
        """
        command = ["kubectl", *words, *self._flags]
        if self._verbose:
            say(f"$ {shlex.join(command)}", "")
        try:
            # Words, never a shell; which kubectl is meant is the user's own PATH to say.
            done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)  # noqa: S603
        except OSError as error:
            raise InputError(f"kubectl cannot be run: {error.strerror}; fix: put kubectl on PATH", "kubectl") from None
        except subprocess.TimeoutExpired:
            raise InputError(f"no answer within {TIMEOUT_SECONDS} s", shlex.join(command)) from None
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
            raise InputError(told.splitlines()[-1], shlex.join(command))
        return done.stdout.decode("utf-8", "replace")

    def object(self, *words: str) -> Mapping[str, object]:
        """Ask kubectl for an object in JSON."""
        try:
            data = loads(self.get(*words, "-o", "json"))
        except (ValueError, RecursionError):
            raise InputError("kubectl did not answer with JSON", shlex.join(words)) from None
        if not isinstance(data, Mapping):
            raise InputError("kubectl did not answer with an object", shlex.join(words))
        return data

    def try_get(self, what: str, *words: str) -> str | None:
        """Ask for something that may be missing; a note says what is then done without."""
        try:
            return self.get(*words)
        except InputError as error:
            say(f"{what}: {error}", "note: ")
            return None
