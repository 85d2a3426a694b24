"""`numalign config check` and `numalign config suggest`: kubelet configurations against a machine."""

from __future__ import annotations

from functools import partial

import click

from numalign.analysis.config.suggest import Suggestion
from numalign.analysis.config.systems import FORMATS
from numalign.cli.flags import flag
from numalign.cli.options import answer_options, kubelet_options, machine_option, node_option
from numalign.cli.stderr import tell
from numalign.cli.view import Output, View, faces_of, late_imports, show, tell_and_show
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.model.machine import Machine
from numalign.results.node import ConfigCheckResult
from numalign.tasks.config import before_upgrade, check_config, suggest_config
from numalign.tasks.requests import KubeletRequest, NodeRequest
from numalign.tasks.setup import LoadedSetup, load_machine, load_setup
from numalign.values import NamedTuple

with late_imports():
    from numalign.render.json import node as json
    from numalign.render.text import config as text
    from numalign.render.text import config_files
    from numalign.tasks import status


class Checked(NamedTuple):
    """An answer of `config check`, and where its machine came from."""

    result: ConfigCheckResult
    on: LoadedSetup


class Suggested(NamedTuple):
    """A suggestion, and the machine that it is for."""

    suggestion: Suggestion
    machine: Machine


def _written(form: str, suggested: Suggested) -> str:
    return config_files.suggestion_file(form, suggested.suggestion, suggested.machine)


CHECK_VIEW = View[Checked](
    document=lambda checked: text.check_document(checked.result, checked.on.origin),
    data=lambda checked: json.check_json(checked.result, checked.on.notices),
)
SUGGEST_VIEW = View[Suggested](
    data=lambda suggested: json.suggestion_json(suggested.suggestion),
    own={
        "yaml": lambda suggested: text.suggestion_yaml(suggested.suggestion, suggested.machine.name),
        **{form: partial(_written, form) for form in FORMATS},
    },
)


@click.group("config")
def command() -> None:
    """Check a KubeletConfiguration against a machine, or write one.

    \b
    Examples:
      numalign config check kubelet.yaml --machine figure-1
      numalign config suggest --machine hgx-h100 > kubelet.yaml
    """


@command.command("check", short_help="check whether the kubelet starts")
@click.argument("file", required=False, metavar="[FILE]")
@machine_option()
@node_option
@flag("--node-name", metavar="NAME", help="node to use, if a file has several")
@flag("--beside", metavar="FILE", help="pods on the node (kubectl get pods -o json)")
@kubelet_options
@answer_options(CHECK_VIEW)
def check_command(
    file: str | None,
    machine: str | None,
    node: str | None,
    node_name: str | None,
    beside: str | None,
    kubelet: KubeletRequest,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Check whether the kubelet starts with a configuration; if not, show the nearest that does.

    FILE is the same as --kubelet-config. With --node: whether that node's kubelet would restart, and which running
    pods it would reject.

    \b
    Examples:
      numalign config check kubelet.yaml --machine figure-1
      numalign config check new.yaml --node worker-1.tar.xz --kubelet-version 1.32

    Exit status: 0 the kubelet starts, 2 wrong input or unknown, 4 the kubelet does not start.
    """
    if file is not None:
        if kubelet.config is not None:
            raise click.UsageError("FILE cannot be used with --kubelet-config; fix: remove one")
        kubelet = kubelet._replace(config=file)
    if node is None:
        on = before_upgrade(load_setup(machine, kubelet, doubtful=True))
        result = check_config(on.setup, on.ground)
    else:
        on, result = status.check_node(NodeRequest(node, node_name, beside), machine, kubelet)
    if "document" in faces_of(CHECK_VIEW, output):
        tell(on.notices)
    if not quiet:
        show(CHECK_VIEW, Checked(result, on), output)
    if result.report.starts is None:
        return ExitStatus.WRONG_INPUT
    return ExitStatus.DONE if result.starts else ExitStatus.KUBELET_FAILS


@command.command("suggest", short_help="write a configuration that aligns pods")
@machine_option()
@kubelet_options
@answer_options(SUGGEST_VIEW)
def suggest(machine: str | None, kubelet: KubeletRequest, output: Output, quiet: bool) -> ExitStatus:
    """Write a KubeletConfiguration that aligns pods on a machine, with a reason for each setting.

    Flags are kept where the kubelet accepts them.

    \b
    Examples:
      numalign config suggest --machine figure-1 > kubelet.yaml
      numalign config suggest --machine figure-1 --policy single-numa-node --scope pod
      numalign config suggest --machine hgx-h100 -o performanceprofile > profile.yaml
    """
    if kubelet.config is not None or kubelet.config_dir is not None:
        raise click.UsageError("suggest takes no configuration; fix: to repair one, run numalign config check FILE")
    found, _, notices = load_machine(machine)
    system = FORMATS.get(output)
    suggestion = suggest_config(found, kubelet, system)
    if system is not None and suggestion.left_out:
        text = f"{system.name} has no such setting, so it is left out"
        notices = (*notices, Notice("setting-not-taken", text, ", ".join(suggestion.left_out)))
    tell_and_show(SUGGEST_VIEW, Suggested(suggestion, found), output, notices, quiet=quiet)
    return ExitStatus.DONE
