"""`numalign config check` and `numalign config suggest`: kubelet configurations against a machine."""

from __future__ import annotations

import json
from typing import Any

import click

from numalign.cli.inputs import load_machine, setting
from numalign.cli.options import KubeletFlags, kubelet_options, machine_option, output_option, quiet_option
from numalign.cli.stderr import tell

WOULD_NOT_START = 4


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
@kubelet_options
@output_option("table", "json", "yaml")
@quiet_option
def check(file: str | None, machine: str | None, kubelet: KubeletFlags, output: str, quiet: bool) -> int:
    """Tell whether the kubelet would start, or what stops it and the nearest configuration that starts.

    FILE is a KubeletConfiguration, the same as --kubelet-config. The sum behind reservedMemory is worked out either
    way. The exit status is 0 when the kubelet starts and 4 when it does not.

    \b
    Examples:
      numalign config check kubelet.yaml --machine figure-1
      numalign config check --machine figure-1 --policy restricted --memory-manager-policy Static -o json
    """
    from numalign.analysis.config.check import report
    from numalign.render.json.admit import settings_json
    from numalign.render.text import config as view

    if file is not None:
        if kubelet.config is not None:
            raise click.UsageError("name the configuration once: FILE or --kubelet-config")
        kubelet = kubelet._replace(config=file)
    on = setting(machine, kubelet)
    found = report(on.config, on.machine, ideal=on.base == "ideal")
    if output == "table":
        tell(on.notices)
    if not quiet:
        if output == "table":
            from numalign.render.page.document import show

            show(view.check_document(found, on.machine.name, on.origin, on.base))
        else:
            _print(output, view.check_json(found, on.machine.name, on.base, settings_json(on.config), on.notices))
    return 0 if found.starts else WOULD_NOT_START


@command.command("suggest")
@machine_option()
@kubelet_options
@output_option("yaml", "json")
@quiet_option
def suggest(machine: str | None, kubelet: KubeletFlags, output: str, quiet: bool) -> int:
    """Write a KubeletConfiguration for a machine that aligns what can be aligned, with a reason on every setting.

    Flags are wishes: they are kept where the kubelet accepts them. The result passes `config check`.

    \b
    Examples:
      numalign config suggest --machine figure-1 > kubelet.yaml
      numalign config suggest --machine figure-1 --policy single-numa-node --scope pod
    """
    from numalign.analysis.config.suggest import suggest as write
    from numalign.render.text import config as view
    from numalign.sources.kubelet.flags import read_flags

    if kubelet.config is not None or kubelet.config_dir is not None:
        raise click.UsageError("suggest writes a configuration; to repair one use `numalign config check FILE`")
    found, _, notices = load_machine(machine)
    suggestion = write(found, read_flags(kubelet.settings))
    tell(notices)
    if suggestion.error:
        from numalign.errors import StartError

        raise StartError(suggestion.error)
    if not quiet:
        if output == "json":
            _print("json", view.suggestion_json(suggestion))
        else:
            click.echo(view.suggestion_yaml(suggestion, found.name), nl=False)
    return 0


def _print(output: str, data: dict[str, Any]) -> None:
    if output == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        import yaml

        click.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), nl=False)
