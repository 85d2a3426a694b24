"""`numalign snapshot`: a node in one archive."""

from __future__ import annotations

import click

from numalign.cli.flags import flag
from numalign.cli.options import quiet_option
from numalign.cli.stderr import say, tell
from numalign.errors import Notice
from numalign.exit_status import ExitStatus


@click.command("snapshot")
@click.argument("file", required=False, metavar="[FILE]")
@flag("--host-root", metavar="DIR", default="/", help="tree that stands for the host's /")
@flag("--redact", is_flag=True, help="replace names of pods and namespaces by hashes")
@quiet_option
def command(file: str | None, host_root: str, redact: bool, quiet: bool) -> ExitStatus:
    """Save this node in FILE, an archive (.tar.xz) that other commands take as --node.

    Reads only, as root: hardware, the kubelet's files, PodResources, control groups.

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
