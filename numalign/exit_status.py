"""The exit statuses of the command, one table (README, "Exit status").

A command returns DONE, NO or KUBELET_FAILS for its answer: `results.verdict` tells when it is NO, `cli.stderr.report`
whether a broken document makes it WRONG_INPUT. What is raised instead carries its status (`errors`); `cli._run` and
`cli.main_of` turn both into the end of the process.
"""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the end of a run says."""

    DONE = 0
    NO = 1
    """The answer is no: a pod is refused, a process not aligned; `--fail-on` moves the bar."""
    WRONG_INPUT = 2
    """The input or the command line is wrong."""
    HOST_UNREADABLE = 3
    """The host or the node could not be read."""
    KUBELET_FAILS = 4
    """The kubelet would refuse to start, crash or hang."""
    BUG = 70
    """numalign itself failed."""
    INTERRUPTED = 130
    PIPE_GONE = 141
    """The reader of our pipe went away."""
