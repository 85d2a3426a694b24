"""`numalign snapshot`: a node in one archive."""

from __future__ import annotations

import click

from numalign.cli.options import flag, quiet_option
from numalign.cli.stderr import say, tell
from numalign.errors import Notice
from numalign.exit_status import ExitStatus


@click.command("snapshot")
@click.argument("file", required=False, metavar="[FILE]")
@flag("--host-root", metavar="DIR", default="/", help="The tree that stands for the host's /, in a container.")
@flag("--redact", is_flag=True, help="Replace names of pods, namespaces and containers by hashes.")
@quiet_option
def command(file: str | None, host_root: str, redact: bool, quiet: bool) -> ExitStatus:
    """Write what the other commands need of this node into FILE, an archive (.tar.xz); they take it as --node.

    Read are /sys as far as `discover` reads it, the kubelet's configuration and state files, the PodResources API if
    its socket is there, and what the control groups and threads of pods may use. Nothing is changed. What may not be
    read is named, and an archive without the kubelet's own files is none for --node; as root nothing is left out.

    \b
    Examples:
      numalign snapshot
      numalign snapshot worker-1.tar.xz --redact
      numalign status --node worker-1.tar.xz
    """
    from numalign.tasks.snapshot import snapshot

    result = snapshot(file, host_root=host_root, redact=redact)
    tell(result.notices)
    tell(Notice("snapshot-incomplete", one) for one in result.missing)
    if not quiet:
        say(f"wrote {result.file}: {result.machine}, {result.entries} entries", "")
    return ExitStatus.DONE
