"""The errors a person can act on. Each says what is wrong, where, and with which exit status it ends.

A refused pod is a result, never an exception. Everything here may be imported from every layer.
"""

from __future__ import annotations

from numalign.exit_status import ExitStatus
from numalign.values import NamedTuple

REMEDIES = ("; fix: ", "; hint: ", "; allowed: ")
"""What stands in a message before what to do: `fix` is certain, `hint` a guess, `allowed` lists what is right."""


def parted(message: str) -> list[str]:
    """Part a message: what is wrong, then each thing to do, which standard error gives a line of its own."""
    parts = [message]
    for mark in REMEDIES:
        parts = [piece for part in parts for piece in part.replace(mark, f"{mark}{mark[2:]}").split(mark)]
    return parts


def unreadable(error: OSError) -> str:
    """Say that a file cannot be read, and what to do if there is none."""
    gone = isinstance(error, FileNotFoundError | NotADirectoryError)
    return f"cannot be read: {error.strerror or error}{'; fix: correct the path' * gone}"


class Notice(NamedTuple):
    """A warning: work goes on, but a person should know. Shown on standard error and in JSON."""

    code: str
    """Stable, kebab-case."""
    message: str
    """One line: what was seen, and what to do about it (`REMEDIES`), where `notices.py` does not say it."""
    path: str = ""
    """The file and field it is about, where there is one."""


class NumalignError(Exception):
    """Something outside numalign is wrong; shown as one line on standard error, without a traceback.

    Attributes:
        message: what is wrong, and what to do (`REMEDIES`), one line.
        where: `file`, `file:line` or `file:line: field.path`; empty when there is no such place.
    """

    exit_status = ExitStatus.WRONG_INPUT
    answered = False
    """Whether the command has printed a result that says so."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class InputError(NumalignError):
    """A file, a manifest or the command line is wrong (exit status 2)."""


class HostError(NumalignError):
    """The host or the node could not be read (exit status 3)."""

    exit_status = ExitStatus.HOST_UNREADABLE


class StartError(NumalignError):
    """The kubelet would refuse to start with this configuration on this machine (exit status 4).

    `message` is the kubelet's own text, word for word.
    """

    exit_status = ExitStatus.KUBELET_FAILS


class StartPanicError(StartError):
    """The kubelet crashes at its start."""


class CrashError(StartError):
    """The kubelet would crash, or never come back, at a pod that comes before those asked about (exit status 4).

    Attributes:
        pod: name of that pod.
    """

    def __init__(self, pod: str, message: str) -> None:
        super().__init__(f'the kubelet would crash or hang at an earlier pod, {pod}: "{message}"')
        self.pod = pod
