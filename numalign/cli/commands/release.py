"""`numalign release`: pods of a node that lives in a file end."""

from __future__ import annotations

from contextlib import ExitStack

import click

from numalign.cli.options import quiet_option, state_option
from numalign.cli.stderr import tell, waiting
from numalign.cli.view import answering, print_names
from numalign.exit_status import ExitStatus


@click.command("release")
@click.argument("pods", nargs=-1, required=True, metavar="POD…")
@state_option("file with the node")
@quiet_option
def command(pods: tuple[str, ...], state: str | None, quiet: bool) -> ExitStatus:
    """End pods, by NAME or NAMESPACE/NAME, on the node in a state file.

    \b
    Examples:
      numalign release web-0 --state node.json
      numalign release default/web-0 default/web-1 --state node.json

    Exit status: 0 done, 2 a pod is not on the node; nothing is changed.
    """
    from numalign.tasks.node_state import releasing

    if state is None:
        raise click.UsageError("no node given; fix: add --state FILE")
    with ExitStack() as files:
        ended, notices = files.enter_context(releasing(state, pods, lambda: waiting(state)))
        with answering(files):
            tell(notices)
            if not quiet:
                print_names(f"{pod.namespace}/{pod.name} released" for pod in ended)
    return ExitStatus.DONE
