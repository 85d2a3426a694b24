"""`numalign discover`: what a host is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import click

from numalign.cli.options import output_option, quiet_option
from numalign.cli.printing import print_data, print_machine, print_names
from numalign.cli.stderr import say, tell
from numalign.errors import HostError, InputError

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.sources.host.device_rules import DeviceRule
    from numalign.sources.host.discovery import Discovery


@click.command("discover")
@click.option(
    "--sysfs-root",
    metavar="PATH",
    default="/",
    help="Read this captured tree instead of the host: the folder that stands for /, or a tar archive of it.",
)
@click.option("-m", "--machine", metavar="MACHINE", help="Show this machine file or bundled machine instead of a host.")
@click.option(
    "--device-rules", metavar="FILE", help="Which PCI device is which resource, instead of the default rules."
)
@click.option(
    "--with", "requested", metavar="NAME", multiple=True, help="Add the devices of these rules, such as nvme."
)
@output_option("table", "wide", "json", "yaml", "name", "tree", "svg")
@click.option("--save", metavar="FILE", help="Write the machine file (YAML; JSON if FILE ends in .json).")
@click.option("--capture", metavar="FILE", help="Write a small anonymous snapshot, FILE.tar.xz, for --sysfs-root.")
@quiet_option
def command(
    sysfs_root: str,
    machine: str | None,
    device_rules: str | None,
    requested: tuple[str, ...],
    output: str,
    save: str | None,
    capture: str | None,
    quiet: bool,
) -> int:
    """Show what this host (or a captured one) is made of, as its kubelet sees it, and write it as a machine file.

    Where the hardware differs from what a kubelet believes, a warning and the machine's `hardware` section say so. With
    --machine a machine file is shown instead of a host, for its tree or its picture.

    \b
    Examples:
      numalign discover
      numalign discover --save machine.yaml
      numalign discover --sysfs-root worker.tar.xz -o tree
      numalign discover --machine figure-1 -o svg > machine.svg
    """
    if machine is not None:
        if capture or sysfs_root != "/":
            raise InputError("--machine shows a machine file; --sysfs-root and --capture are about a host")
        _put(_file_machine(machine), output, save, quiet, f"--machine {machine} ")
        return 0
    rules = _rules(device_rules, requested)
    if capture:
        from numalign.sources.host.capture import capture as take_notes
        from numalign.store.archive import compression, write_archive

        compression(capture)  # A name that cannot be written should not cost a discovery first.
        found, entries = take_notes(sysfs_root, rules)
        tell(write_archive(capture, entries))
        say(f"captured {found.name} in {capture}")
    else:
        from numalign.sources.host.discovery import discover

        found = discover(sysfs_root, rules, frozenset(requested))
    if found.machine is None:
        _refuse(found, sysfs_root, output, quiet or bool(capture))
    else:
        _tell(found)
        source = "" if sysfs_root == "/" else f"--sysfs-root {sysfs_root} "
        _put(found.machine, output, save, quiet or bool(capture), source)
    return 0


def _rules(path: str | None, requested: tuple[str, ...]) -> tuple[DeviceRule, ...] | None:
    """Read the rules where they are needed before the devices are known."""
    if path is None and not requested:
        return None
    from numalign.sources.host.device_rules import DEFAULT, load_rules, requestable

    rules = load_rules(path or DEFAULT)
    for name in requested:
        if name not in requestable(rules):
            known = ", ".join(requestable(rules)) or "none"
            raise InputError(f"no rule is called {name!r}; the rules on request are: {known}", "--with")
    return rules


def _file_machine(spec: str) -> Machine:
    from numalign.sources.machine.file import load_machine

    loaded = load_machine(spec)
    tell(loaded.warnings)
    return loaded.machine


def _tell(found: Discovery) -> None:
    if found.warnings:
        tell(found.warnings)


def _put(machine: Machine, output: str, save: str | None, quiet: bool, source: str) -> None:
    """Save or print a machine."""
    if save is not None:
        from numalign.sources.machine import dump as machine_dump

        text = machine_dump.to_json(machine) if save.endswith(".json") else machine_dump.to_yaml(machine)
        _save(save, text)
        say(f"saved {machine.name} in {save}")
    elif not quiet:
        _print(machine, output, source)


def _print(machine: Machine, output: str, source: str) -> None:
    if output in ("json", "yaml"):
        print_machine(machine, output)
    elif output == "name":
        print_names([machine.name])
    elif output == "svg":
        from numalign.render.picture.machine import draw

        click.echo(draw(machine), nl=False)
    else:
        from numalign.render.page.document import show

        show(_document(machine, output, source))


def _document(machine: Machine, output: str, source: str) -> Any:
    if output == "tree":
        from numalign.render.text.tree import tree_document

        return tree_document(machine)
    from numalign.render.text.discover import discover_document

    hint = f"To save it: numalign discover {source}--save machine.yaml"
    return discover_document(machine, wide=output == "wide", hint=hint)


def _refuse(found: Discovery, root: str, output: str, quiet: bool) -> None:
    """Print what can be said of the hardware, then end with the kubelet's own error."""
    from numalign.sources.host.contrast import hardware_of
    from numalign.sources.machine.hardware import dump

    hardware = hardware_of(found.hardware, None)
    if not quiet:
        if output in ("json", "yaml"):
            data = {"apiVersion": "numalign/v1", "kind": "Hardware", "name": found.name, "hardware": dump(hardware)}
            print_data(output, data)
        elif output not in ("name", "svg"):
            from numalign.render.page.document import show
            from numalign.render.text.discover import hardware_document

            show(hardware_document(found.name, hardware))
    raise HostError(
        f"the kubelet's own reading of this machine fails: {found.kubelet_error}", "" if root == "/" else root
    )


def _save(path: str, text: str) -> None:
    """Write a text to a file, whole or not at all."""
    from numalign.store.atomic import write_whole

    def write(file: BinaryIO) -> None:
        file.write(text.encode("utf-8", "backslashreplace"))

    tell(write_whole(path, write))
