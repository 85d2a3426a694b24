"""From flags to values: the machine, the settings on it and the pods that come up, with what was odd about them.

Everything is read and checked before the first admission, so that wrong input (status 2) beats a refusal (status 1).
"""

from __future__ import annotations

from typing import NamedTuple

import click

from numalign.cli.options import KubeletFlags, PodArguments
from numalign.errors import Notice
from numalign.kubelet.config import IDEAL, KubeletConfig
from numalign.model.machine import Machine
from numalign.model.pod import Pod


class Setting(NamedTuple):
    """A machine and the kubelet on it."""

    machine: Machine
    origin: str
    """Where the machine came from: `bundled`, a file's name, `short form`, `this host`."""
    config: KubeletConfig
    base: str
    """`ideal` or `kubelet`."""
    notices: tuple[Notice, ...]


def setting(machine: str | None, flags: KubeletFlags) -> Setting:
    """Read the machine and the settings: a flag beats the file, the file beats the machine's own section.

    Raises:
        InputError: something is wrong with them.
        HostError: the live host cannot be read.
        StartError: the kubelet would not accept the configuration.
    """
    found, origin, notices = load_machine(machine)
    config, base, more = configuration(found, origin, flags)
    return Setting(found, origin, config, base, (*notices, *more))


def load_machine(name: str | None) -> tuple[Machine, str, tuple[Notice, ...]]:
    """Read one machine; None: the live host."""
    if name is None:
        from numalign.sources.sysfs import live_machine

        live = live_machine()
        return live.machine, "this host", tuple(Notice("host", text) for text in live.warnings)
    from numalign.sources.machine_file import load_machine as load

    loaded = load(name)
    return loaded.machine, loaded.origin, loaded.warnings


def configuration(machine: Machine, origin: str, flags: KubeletFlags) -> tuple[KubeletConfig, str, tuple[Notice, ...]]:
    """Read the settings for a machine; returns them with their base and what was odd."""
    base, config = "ideal", IDEAL
    warnings: tuple[Notice, ...] = ()
    if flags.config is not None or flags.config_dir is not None or machine.kubelet is not None:
        from pathlib import Path

        from numalign.sources import kubelet_file

        base, where = "kubelet", flags.config or f"{origin}: kubelet"
        if flags.config is not None:
            directory = Path(flags.config_dir) if flags.config_dir else None
            config, warnings = kubelet_file.load(Path(flags.config), directory)
        elif flags.config_dir is not None:
            raise click.UsageError("--config-dir goes with --kubelet-config")
        else:
            config, warnings = kubelet_file.from_data(machine.kubelet or {}, where)
    if flags.settings:
        from numalign.sources.kubelet_flags import apply_flags

        config = apply_flags(config, flags.settings)
    return config, base, warnings


class Pods(NamedTuple):
    """The pods of an invocation."""

    beside: tuple[Pod, ...]
    """There already, oldest first."""
    tried: tuple[Pod, ...]
    """Up for admission, in order."""
    notices: tuple[Notice, ...]


def read_pods(arguments: PodArguments) -> Pods:
    """Read and check all pods.

    Raises:
        InputError: a pod the API server would refuse, or an input without a pod.
    """
    from numalign.sources import manifest

    beside = manifest.read_beside(arguments.beside) if arguments.beside else ()
    given = manifest.read(arguments.names, replicas=arguments.replicas, beside=beside)
    notices = [Notice("replicas", text) for text in given.notes]
    if given.passed_over:
        many = given.passed_over != 1
        text = f"{given.passed_over} document{'s' * many} without a pod passed over"
        notices.append(Notice("no-pod", text))
    return Pods(tuple(beside), given.pods, tuple(notices))


def tell(notices: tuple[Notice, ...]) -> None:
    """Print warnings to standard error, one a line."""
    for notice in notices:
        where = f"{notice.path}: " if notice.path else ""
        click.echo(f"numalign: warning: {where}{notice.message}", err=True)
