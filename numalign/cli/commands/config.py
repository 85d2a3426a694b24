"""`numalign config check` and `numalign config suggest`: kubelet configurations against a machine."""

from __future__ import annotations

import click

from numalign.cli.options import (
    Output,
    beyond_options,
    flag,
    kubelet_options,
    machine_option,
    node_option,
    output_option,
    quiet_option,
)
from numalign.cli.printing import print_data
from numalign.cli.stderr import tell
from numalign.exit_status import ExitStatus
from numalign.tasks.config import check_config, suggest_config
from numalign.tasks.requests import KubeletRequest, NodeRequest
from numalign.tasks.setup import load_machine, load_setup


@click.group("config")
def command() -> None:
    """Check a KubeletConfiguration against a machine, or have one written.

    \b
    Examples:
      numalign config check kubelet.yaml --machine figure-1
      numalign config suggest --machine hgx-h100 > kubelet.yaml
    """


@command.command("check")
@click.argument("file", required=False, metavar="[FILE]")
@machine_option()
@node_option
@flag("--node-name", metavar="NAME", help="Which node, where --node has several.")
@kubelet_options
@beyond_options
@output_option("table", "json", "yaml")
@quiet_option
def check(
    file: str | None,
    machine: str | None,
    node: str | None,
    node_name: str | None,
    kubelet: KubeletRequest,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Tell whether the kubelet would start, or what stops it and the nearest configuration that starts.

    FILE is a KubeletConfiguration, the same as --kubelet-config. The sum behind reservedMemory is worked out either
    way. With --node the question is whether it would come up again with that node's files. The exit status is 0 when
    the kubelet starts and 4 when it does not.

    \b
    Examples:
      numalign config check kubelet.yaml --machine figure-1
      numalign config check new.yaml --node worker-1.tar.xz --kubelet-version 1.32
      numalign config check --machine figure-1 --policy restricted --memory-manager-policy Static -o json
    """
    from numalign.render.text import config as view

    if file is not None:
        if kubelet.config is not None:
            raise click.UsageError("name the configuration once: FILE or --kubelet-config")
        kubelet = kubelet._replace(config=file)
    if node is None:
        on = load_setup(machine, kubelet)
        result = check_config(on.setup)
    else:
        from numalign.tasks.status import check_node

        on, result = check_node(NodeRequest(node, node_name), machine, kubelet)
    if output == "table":
        tell(on.notices)
    if not quiet:
        if output == "table":
            from numalign.render.page.document import show

            show(view.check_document(result, on.origin))
        else:
            print_data(output, view.check_json(result, on.notices))
    return ExitStatus.DONE if result.starts else ExitStatus.KUBELET_FAILS


@command.command("suggest")
@machine_option()
@kubelet_options
@output_option("yaml", "json", "kubeletconfig", "performanceprofile", "kubeadm")
@quiet_option
def suggest(machine: str | None, kubelet: KubeletRequest, output: Output, quiet: bool) -> ExitStatus:
    """Write a KubeletConfiguration for a machine that aligns what can be aligned, with a reason on every setting.

    Flags are wishes: they are kept where the kubelet accepts them. The result passes `config check`.

    \b
    Examples:
      numalign config suggest --machine figure-1 > kubelet.yaml
      numalign config suggest --machine figure-1 --policy single-numa-node --scope pod
      numalign config suggest --machine hgx-h100 -o performanceprofile > profile.yaml
    """
    from numalign.render.text import config as view

    if kubelet.config is not None or kubelet.config_dir is not None:
        raise click.UsageError("suggest writes a configuration; to repair one use `numalign config check FILE`")
    found, _, notices = load_machine(machine)
    tell(notices)
    suggestion = suggest_config(found, kubelet)
    if not quiet:
        if output == "json":
            print_data("json", view.suggestion_json(suggestion))
        elif output == "yaml":
            click.echo(view.suggestion_yaml(suggestion, found.name), nl=False)
        else:
            from numalign.render.text.config_files import suggestion_file

            click.echo(suggestion_file(output, suggestion, found), nl=False)
    return ExitStatus.DONE
