"""`numalign discover`: what a host is made of."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, BinaryIO

import click

from numalign.cli.flags import OwnFlag, flag
from numalign.cli.options import machine_option, output_option, quiet_option
from numalign.cli.stderr import say, tell
from numalign.cli.view import Output, View, answering, late_imports, show
from numalign.errors import HostError, InputError, Notice
from numalign.exit_status import ExitStatus
from numalign.render.escape import in_yaml
from numalign.render.json import head
from numalign.tasks.discover import capture, discover
from numalign.tasks.requests import MachineName
from numalign.tasks.setup import load_machine
from numalign.values import NamedTuple

with late_imports():
    from numalign.model import document
    from numalign.render.picture import machine as picture
    from numalign.render.text import discover as text
    from numalign.render.text import tree
    from numalign.sources.machine import dump, hardware
    from numalign.store import atomic


if TYPE_CHECKING:
    from numalign.model.hardware import Hardware
    from numalign.model.machine import Machine
    from numalign.results.node import DiscoverResult


class Shown(NamedTuple):
    """A machine, and the flags that name it."""

    machine: Machine
    source: str

    @property
    def hint(self) -> str:
        """What to do with it."""
        return f"To save it: numalign discover {self.source}--save machine.yaml"


class Stopped(NamedTuple):
    """What can be said of a machine that the kubelet cannot read."""

    name: str
    hardware: Hardware


VIEW = View[Shown](
    document=lambda shown: text.discover_document(shown.machine, hint=shown.hint),
    wide=lambda shown: text.discover_document(shown.machine, wide=True, hint=shown.hint),
    data=lambda shown: dump.dump(shown.machine),
    names=lambda shown: (shown.machine.name,),
    picture=lambda shown: picture.draw(shown.machine),
    own={
        "yaml": lambda shown: in_yaml(dump.to_yaml(shown.machine)),
        "tree": lambda shown: tree.tree_document(shown.machine),
    },
)
HARDWARE_VIEW = View[Stopped](
    document=lambda stopped: text.hardware_document(stopped.name, stopped.hardware),
    wide=lambda stopped: text.hardware_document(stopped.name, stopped.hardware),
    data=lambda stopped: {
        **head("Hardware"),
        "name": stopped.name,
        "hardware": document.write(hardware.HARDWARE, stopped.hardware),
    },
    own={"tree": lambda stopped: text.hardware_document(stopped.name, stopped.hardware)},
)


@click.command("discover")
@flag(
    "--sysfs-root",
    metavar="PATH",
    default="/",
    help="captured tree or archive to read, not this host",
)
@machine_option(cls=OwnFlag)
@flag("--device-rules", metavar="FILE", help="rules: which PCI device is which resource")
@flag("--with", "requested", metavar="NAME", multiple=True, help="add the devices of a rule, such as nvme")
@output_option(VIEW, without="table")
@flag("--save", metavar="FILE", help="write a machine file (YAML, or .json)")
@flag("--capture", "snapshot", metavar="FILE", help="write FILE.tar.xz for --sysfs-root, anonymous")
@quiet_option
def command(
    sysfs_root: str,
    machine: str | None,
    device_rules: str | None,
    requested: tuple[str, ...],
    output: Output | None,
    save: str | None,
    snapshot: str | None,
    quiet: bool,
) -> ExitStatus:
    """Show the hardware of this host as its kubelet sees it, or save it as a machine file.

    \b
    Examples:
      numalign discover --save machine.yaml
      numalign discover --sysfs-root worker.tar.xz -o tree
      numalign discover --machine figure-1 -o svg > machine.svg
    """
    if output is None and not (save or snapshot):
        output = "table"
    shown = None if quiet else output
    if machine is not None:
        if snapshot or sysfs_root != "/":
            raise InputError("--machine cannot be used with --sysfs-root and --capture; fix: remove one kind")
        loaded = load_machine(machine)
        tell(loaded.notices)
        changes = machine.flags() if isinstance(machine, MachineName) else []
        given = shlex.join(word for flag, value in (("machine", machine), *changes) for word in (f"--{flag}", value))
        _put(loaded.machine, shown, save, f"{given} ")
        return ExitStatus.DONE
    found = _found(sysfs_root, snapshot, device_rules, requested)
    if found.machine is None:
        _refuse(found, sysfs_root, shown)
    else:
        tell(found.notices)
        _put(found.machine, shown, save, "" if sysfs_root == "/" else f"--sysfs-root {sysfs_root} ")
    return ExitStatus.DONE


def _found(root: str, snapshot: str | None, rules: str | None, requested: tuple[str, ...]) -> DiscoverResult:
    if snapshot is None:
        return discover(root, rules=rules, requested=requested)
    found, odd = capture(root, snapshot, rules=rules, requested=requested)
    tell(odd)
    say(f"captured {found.name} in {snapshot}", "")
    return found


def _put(machine: Machine, output: Output | None, save: str | None, source: str) -> None:
    """Save and print a machine."""
    with ExitStack() as files:
        written = files.enter_context(_saving(save, machine)) if save is not None else ()
        with answering(files):
            tell(written)
            if output is not None:
                show(VIEW, Shown(machine, source), output)
    if save is not None:
        say(f"saved {machine.name} in {save}", "")


def _refuse(found: DiscoverResult, root: str, output: Output | None) -> None:
    """Print what can be said of the hardware, then end with the kubelet's own error."""
    if found.hardware is not None and output and HARDWARE_VIEW.offers(output):
        show(HARDWARE_VIEW, Stopped(found.name, found.hardware), output)
    error = HostError(
        f"the kubelet's own reading of this machine fails: {found.kubelet_error}", "" if root == "/" else root
    )
    error.answered = output is not None
    raise error


def _saving(path: str, machine: Machine) -> AbstractContextManager[tuple[Notice, ...]]:
    """Write a machine file, whole or not at all, at the end of a `with` block."""
    text = dump.to_json(machine) if path.endswith(".json") else dump.to_yaml(machine)

    def write(file: BinaryIO) -> None:
        file.write(text.encode("utf-8", "backslashreplace"))

    return atomic.writing_whole(path, write)
