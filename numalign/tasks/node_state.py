"""A node that lives in a file (`--state`): opened for one change, kept in one step; and the end of pods on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.kubelet.admission import Session, end
from numalign.kubelet.releases.table import parse_version
from numalign.sources.kubelet.fields import dump as dump_config
from numalign.sources.node.state import NODE_STATE, dump, load
from numalign.store import state_file
from numalign.store.state_file import OpenState
from numalign.tasks.admit import pod_there
from numalign.tasks.setup import LoadedSetup, load_setup
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod
    from numalign.tasks.requests import KubeletRequest


class KeptNode(NamedTuple):
    """A node in a file, open for a change."""

    on: LoadedSetup
    there: Session | None
    """The node as it is in the file; None: the file is new."""
    change: OpenState

    def keeping(self, session: Session) -> AbstractContextManager[tuple[Notice, ...]]:
        """Replace what is in the file at the end of a `with` block; gives what a person should know of it.

        Raises:
            InputError: the file cannot be written; what was in it is still there.
        """
        return self.change.writing(dump(self.on.setup, session))


@contextmanager
def kept_node(
    path: str, machine: str | None, request: KubeletRequest, waiting: Callable[[], None] = lambda: None
) -> Iterator[KeptNode]:
    """Open a node in a file; nobody else changes it meanwhile.

    Args:
        path: the file; a new one gets a node of the machine and the settings asked for.
        machine: the machine's name; with a file that is there it must be the same, or None.
        request: the kubelet's settings, likewise.
        waiting: called once when somebody else is changing the file.

    Raises:
        InputError: the file is no state, cannot be changed, or holds another node than is asked for.
        StartError: the kubelet would not start.
    """
    with state_file.changing(path, NODE_STATE, waiting, load) as change:
        if change.document is None:
            yield KeptNode(load_setup(machine, request), None, change)
            return
        found = load(change.document, path)
        on = LoadedSetup(found.setup, path, ())
        _check_same(found.setup, machine, request, path)
        yield KeptNode(on, found.session, change)


def read_node(path: str) -> tuple[LoadedSetup, Session] | None:
    """Read a node from a state file without changing it; None: the file is empty or not there.

    Raises:
        InputError: the file is no state of a node.
    """
    document = state_file.read_state(path, NODE_STATE)
    if document is None:
        return None
    found = load(document, path)
    return LoadedSetup(found.setup, path, ()), found.session


@contextmanager
def releasing(
    path: str, names: Sequence[str], waiting: Callable[[], None]
) -> Iterator[tuple[tuple[Pod, ...], tuple[Notice, ...]]]:
    """End pods of a node in a file at the end of a `with` block.

    Gives the pods in the order of the names, and what a person should know of the file.

    Args:
        path: the file.
        names: pods, by NAME, NAMESPACE/NAME or UID.
        waiting: called once when somebody else is changing the file.

    Raises:
        InputError: the file holds no node, or no such pod; nothing is changed then.
    """
    with state_file.changing(path, NODE_STATE, waiting, load) as change:
        if change.document is None:
            raise InputError("holds no node; fix: create one with numalign admit --state", path)
        setup, session = load(change.document, path)
        ended = []
        for name in dict.fromkeys(names):
            uid = pod_there(session, name)
            ended.append(next(pod for pod in session.pods if pod.uid == uid))
            session = end(session, uid)
        with change.writing(dump(setup, session)) as notices:
            yield tuple(ended), notices


def _check_same(setup: Setup, machine: str | None, request: KubeletRequest, path: str) -> None:
    """Refuse flags that ask for another node than the one in the file."""
    given = request.config or request.config_dir or request.settings or request.version
    if machine is None and not given:
        return
    if machine is None:
        from numalign.sources.kubelet.flags import apply_flags

        same = request.config is None and apply_flags(setup.config, request.settings) == setup.config
        if not same or (request.version and parse_version(request.version) != setup.kubelet.version):
            raise InputError("holds a node with other settings; fix: remove the flags, or name another file", path)
        return
    asked = load_setup(machine, request).setup
    if asked.machine != setup.machine:
        raise InputError(f"belongs to machine {setup.machine.name}; fix: remove --machine", path)
    if asked != setup:
        old, new = dump_config(setup.config), dump_config(asked.config)
        names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name)) or ["the release"]
        raise InputError(
            f"holds a node with other settings ({', '.join(names)}); fix: remove the flags, or name another file", path
        )
