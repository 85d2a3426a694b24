"""`numalign help [TOPIC]` and `numalign completion SHELL`: what holds for all commands."""

from __future__ import annotations

import click

from numalign.errors import InputError
from numalign.exit_status import ExitStatus

TOPICS = {
    "exit-status": """\
The exit status of every command:

    0    done; for admit, explain, verify: everything admitted, as planned
    1    the answer is no: a pod is rejected, or runs without a device that it
         requests; --fail-on changes what counts
    2    the input or the command line is wrong; standard error shows what and
         where; nothing was changed
    3    the host or the node is unreadable
    4    the kubelet does not start, or crashes, with this configuration on this
         machine
    70   a bug in numalign; --debug shows the traceback
    130  interrupted
    141  the reader of the pipe ended
""",
    "formats": """\
-o selects the format of a result; --help of each command lists its formats:

    table     for people; fits a terminal, in a pipe nothing is cut
    wide      table with every column, and a drawing
    json      documented, with a JSON Schema (docs/json.md); a document at every
              exit status
    yaml      json as YAML
    name      one name a line, for scripts
    junit, github, gitlab, sarif    for build servers and code scanning
    markdown, svg, html, tree, csv  in some commands

Results go to standard output, everything else to standard error. -q hides
results, never errors. NO_COLOR, FORCE_COLOR and COLUMNS work as usual.
""",
    "environment": """\
A variable sets every flag but --help and --version. NUMALIGN_FLAG sets a flag
of every command, NUMALIGN_COMMAND_FLAG of one command, and wins. A flag on the
command line wins over both.

    NUMALIGN_MACHINE=node-a.yaml numalign admit pod.yaml
    NUMALIGN_FAIL_ON=unaligned numalign admit pod.yaml -m hgx-h100
    NUMALIGN_CONFIG_CHECK_OUTPUT=json numalign config check kubelet.yaml

A flag without a value takes 1 or 0. Separate several values by spaces. An
empty variable sets nothing.
""",
    "machines": """\
--machine accepts one of these; without --machine, numalign reads this host:

    hgx-h100       a bundled machine; `numalign machines` lists them
    node-a.yaml    a machine file (docs/machines.md), such as `numalign discover
                   --save` writes; or XML of hwloc
    sockets=2,coresPerNumaNode=8,threadsPerCore=2,memoryPerNumaNode=64Gi
""",
}
"""Topic -> text, at most 80 columns wide."""


def _variables() -> str:
    """List the variables of all commands, and of flags that mean something else in one command."""
    from textwrap import fill

    from numalign.cli.flags import Flag, OwnFlag, variables
    from numalign.cli.root import COMMANDS, below, import_command

    found = [(name.upper(), import_command(name)) for name in COMMANDS]
    found += [(f"{name}_{key.upper()}", one) for name, group in found for key, one in below(group).items()]
    names = {
        variables(option, f"NUMALIGN_{name}" if isinstance(option, OwnFlag) else "NUMALIGN")[-1]
        for name, one in found
        for option in one.params
        if isinstance(option, Flag)
    }
    return fill(", ".join(sorted(names)), 76, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def command(context: click.Context, topic: str | None) -> ExitStatus:
    """Explain a topic: exit-status, formats, environment, machines; or show the help of a command.

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
        if topic == "environment":
            click.echo(f"\n{_variables()}")
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
    """Print the script that lets a shell complete commands, flags, and names of machines and pods.

    \b
    Examples:
      eval "$(numalign completion bash)"
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
