"""`numalign completion SHELL`: the script that lets a shell complete."""

from __future__ import annotations

import click

from numalign.exit_status import ExitStatus


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> ExitStatus:
    """Print the script that lets a SHELL complete commands, flags, and names of machines, policies, options and pods.

    \b
    Examples:
      eval "$(numalign completion bash)"                                     # this shell; or add it to ~/.bashrc
      numalign completion zsh > "${fpath[1]}/_numalign"
      numalign completion fish > ~/.config/fish/completions/numalign.fish
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    root = context.find_root()
    program = root.info_name or "numalign"
    variable = f"_{program.replace('-', '_').replace(' ', '_').upper()}_COMPLETE"
    kind = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
    click.echo(kind(root.command, {}, program, variable).source())
    return ExitStatus.DONE
