"""`numalign help [TOPIC]` and `numalign completion SHELL`: what holds for all commands."""

from __future__ import annotations

import click

from numalign.errors import InputError
from numalign.exit_status import ExitStatus

TOPICS = {
    "exit-status": """\
What the exit status says, for every command:

    0    done; for admit, explain, verify: everything admitted, aligned
    1    the answer is no: a pod refused, or without a device it asks for;
         --fail-on moves the bar
    2    the input or the command line is wrong: a line on standard error says
         what and where; nothing was changed
    3    the host or the node could not be read
    4    the kubelet would refuse to start, or crash, with this configuration
         on this machine
    70   a bug in numalign; --debug shows the traceback
    130  interrupted
    141  the reader of our pipe went away
""",
    "formats": """\
-o names how a result is printed; each command's --help lists its own:

    table     for people; on a terminal it fits, in a pipe nothing is cut
    wide      the same with every column, and a drawing
    json      documented, with a JSON Schema, only ever added to (docs/json.md);
              a document at every exit status
    yaml      the same as YAML
    name      one name a line, for scripts
    junit, github, gitlab, sarif    for build servers and code scanning
    markdown, svg, html, tree, csv  where they make sense

Results go to standard output, everything else to standard error. -q leaves
out results, never errors.
NO_COLOR, FORCE_COLOR and COLUMNS are honoured.
""",
    "environment": """\
Every flag but --help and --version can be set in the environment: NUMALIGN_FLAG
for all commands that have it, NUMALIGN_COMMAND_FLAG for one, which wins. A flag
on the command line wins over both. --help of a command names them; of a flag
that means something else there (discover --machine) only the command's own is.

    NUMALIGN_MACHINE=node-a.yaml numalign admit pod.yaml
    NUMALIGN_FAIL_ON=unaligned numalign admit pod.yaml -m hgx-h100
    NUMALIGN_CONFIG_CHECK_OUTPUT=json numalign config check kubelet.yaml

A flag without a value takes 1 or 0, one that may be repeated several values
with a space between. An empty variable sets nothing.
""",
    "machines": """\
--machine names a machine in one of these ways; without it, it is this host:

    hgx-h100       a bundled machine; `numalign machines` lists them
    node-a.yaml    a machine file (docs/machines.md), as `numalign discover
                   --save` writes it; or hwloc's XML
    sockets=2,coresPerNumaNode=8,threadsPerCore=2,memoryPerNumaNode=64Gi
""",
}
"""Topic -> text, at most 80 columns wide."""


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def command(context: click.Context, topic: str | None) -> ExitStatus:
    """Explain what holds for all commands: exit-status, formats, environment, machines. Of a command, print its --help.

    \b
    Examples:
      numalign help exit-status
      numalign help admit
    """
    root = context.find_root()
    group = root.command
    if topic is None:
        click.echo(group.get_help(root))
        click.echo(f"\nTopics of `numalign help`: {', '.join(TOPICS)}.")
    elif topic in TOPICS:
        click.echo(TOPICS[topic], nl=False)
    else:
        found = group.get_command(context, topic) if isinstance(group, click.Group) else None
        if found is None:
            raise InputError(f"unknown topic or command {topic!r}; allowed: {', '.join(TOPICS)}", "help")
        from numalign.cli.help import grouped

        with click.Context(found, info_name=topic, parent=root) as inner:
            click.echo(grouped(found).get_help(inner))
    return ExitStatus.DONE


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> ExitStatus:
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
