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
@state_option("The file with the node; locked meanwhile, and written back.")
@quiet_option
def command(pods: tuple[str, ...], state: str | None, quiet: bool) -> ExitStatus:
    """End PODs, by NAME or NAMESPACE/NAME, on the node in --state: what they hold is free for the next ones.

    Where one of them is not there, nothing is changed and the exit status is 2.

    \b
    Examples:
      numalign release web-0 --state node.json
      numalign release default/web-0 default/web-1 --state node.json
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
