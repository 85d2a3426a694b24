"""What `kubectl numalign why` knows beside what `explain` gets: what happened, what is unknown, how to ask again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from numalign.results.explain import Observed
from numalign.values import NamedTuple

NOT_AT_ADMISSION: Final = ("Evicted", "NodeShutdown", "Terminated", "NodeLost", "Preempting", "DeadlineExceeded")
"""Reasons of pods that the kubelet had admitted before they failed."""
ENDED: Final = ("Succeeded", "Failed")


class Why(NamedTuple):
    """The call of `why` that asks `explain`."""

    words: tuple[str, ...]
    """The command line, to write others like it."""
    folder: str
    """Of the files that it made."""
    kept: bool
    """Whether they stay."""
    node: str
    observed: Observed | None
    """None: the kubelet has not decided, or its decision is no longer to be seen."""
    unknown: tuple[str, ...]
    """What the cluster does not say, a clause each."""

    @property
    def message(self) -> str:
        """What the kubelet said; empty: nothing."""
        return self.observed.message if self.observed is not None else ""

    def again(self, flags: Iterable[tuple[str, str]]) -> str:
        """Write the same call with further flags."""
        return shlex.join([*self.words, *(word for name, text in flags for word in (f"--{name}", text))])

    def with_files(self, command: str) -> str:
        """Write a command over the files: where they go away, one that keeps them comes first."""
        if self.kept or self.folder not in command:
            return command
        name = f"why-{self.words[3]}"
        return f"{shlex.join([*self.words, '--keep', name])}; {command.replace(self.folder, name)}"


def inside(data: object, key: str) -> Mapping[str, object]:
    """Return a mapping inside of an answer; where there is something else, an empty one."""
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def observed_of(pod: Mapping[str, object]) -> Observed | None:
    """Read from a pod's status what its kubelet decided; None: that is not to be seen there."""
    status = inside(pod, "status")
    reason, message = (text if isinstance(text := status.get(key), str) else "" for key in ("reason", "message"))
    if any(one.keys() & {"running", "terminated"} for one in _states(status)):
        return Observed(False, "", "")
    if status.get("phase") == "Failed" and reason and reason not in NOT_AT_ADMISSION:
        return Observed(True, reason, message)
    return Observed(False, "", "") if status.get("phase") == "Running" else None


def _states(status: Mapping[str, object]) -> list[Mapping[str, object]]:
    listed = [status.get(key) for key in ("containerStatuses", "initContainerStatuses")]
    every = [one for each in listed if isinstance(each, list) for one in each]
    return [*(inside(one, "state") for one in every), *(inside(one, "lastState") for one in every)]


class There(NamedTuple):
    """The pods that were on a node when its kubelet decided about one."""

    pods: tuple[object, ...]
    at: str
    """When that was; empty: it has not, or nobody knows."""
    later: int
    """How many started later, and are left out."""
    ended: int
    """How many have ended since, and count."""


def there_then(pod: Mapping[str, object], listed: Sequence[object]) -> There:
    """Take of the pods that are listed now those that were there when the kubelet decided."""
    own, at = inside(pod, "metadata"), _time(inside(pod, "status"), "startTime")
    kept: list[object] = []
    later = ended = 0
    for one in listed:
        metadata, status = inside(one, "metadata"), inside(one, "status")
        if metadata.get("uid") == own.get("uid"):
            continue
        start = _time(status, "startTime") or _time(metadata, "creationTimestamp")
        if at and (start, _time(metadata, "creationTimestamp")) > (at, _time(own, "creationTimestamp") or "z"):
            later += 1
        elif at and status.get("phase") in ENDED and max(_ends(status), default="") > at:
            ended += 1
            kept.append({key: value for key, value in one.items() if key != "status"} if isinstance(one, dict) else one)
        else:
            kept.append(one)
    return There(tuple(kept), at, later, ended)


def _ends(status: Mapping[str, object]) -> list[str]:
    return [_time(inside(one, "terminated"), "finishedAt") for one in _states(status)]


def _time(data: Mapping[str, object], key: str) -> str:
    """Read a time; in the API's form earlier ones are smaller texts."""
    value = data.get(key)
    return value if isinstance(value, str) else ""
