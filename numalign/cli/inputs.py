"""From flags to values: the machine, the settings on it and the pods that come up, with what was odd about them.

Everything is read and checked before the first admission, so that wrong input (status 2) beats a refusal (status 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from numalign.cli.options import KubeletFlags, PodArguments
from numalign.errors import Notice
from numalign.kubelet.config import IDEAL, KubeletConfig
from numalign.kubelet.profile import FEEDBACK_POLICIES, REFERENCE, Profile
from numalign.kubelet.setup import Base
from numalign.model.machine import Machine
from numalign.model.pod import Pod

if TYPE_CHECKING:
    from numalign.sources.pods.manifest import PodInput, PodSource


class Setting(NamedTuple):
    """A machine and the kubelet on it."""

    machine: Machine
    origin: str
    """Where the machine came from: `bundled`, a file's name, `short form`, `this host`."""
    config: KubeletConfig
    base: Base
    notices: tuple[Notice, ...]
    profile: Profile = REFERENCE
    """Which kubelet: v1.32, or what `--kubelet-version` and the flags beyond the kubelet ask for."""


def setting(machine: str | None, flags: KubeletFlags) -> Setting:
    """Read the machine and the settings: a flag beats the file, the file beats the machine's own section.

    Raises:
        InputError: something is wrong with them.
        HostError: the live host cannot be read.
        StartError: the kubelet would not accept the configuration.
    """
    found, origin, notices = load_machine(machine)
    config, base, more = configuration(found, origin, flags)
    asked = profile(flags)
    if asked is REFERENCE:
        return Setting(found, origin, config, base, (*notices, *more))
    from numalign.cli.history import check_size, notices_of

    check_size(asked, found)
    return Setting(found, origin, config, base, (*notices, *more, *notices_of(asked, config)), asked)


def profile(flags: KubeletFlags) -> Profile:
    """Return the kubelet that the flags ask for: v1.32 unless they name another, or something beyond any kubelet.

    Raises:
        InputError: `--kubelet-version` names a release that numalign does not know.
    """
    policy = flags.settings.get("topology-manager-policy")
    if (
        flags.version is None
        and not flags.per_pod_policy
        and flags.preferred_allocation == "kubelet"
        and policy not in FEEDBACK_POLICIES
    ):
        return REFERENCE
    from numalign.cli.history import profile_asked

    return profile_asked(flags)


def load_machine(name: str | None) -> tuple[Machine, str, tuple[Notice, ...]]:
    """Read one machine; None: the live host."""
    if name is None:
        from numalign.sources.host.discovery import live_machine

        live = live_machine()
        return live.machine, "this host", tuple(Notice("host", text) for text in live.warnings)
    from numalign.sources.machine.file import load_machine as load

    loaded = load(name)
    return loaded.machine, loaded.origin, loaded.warnings


def configuration(machine: Machine, origin: str, flags: KubeletFlags) -> tuple[KubeletConfig, Base, tuple[Notice, ...]]:
    """Read the settings for a machine; returns them with their base and what was odd."""
    base: Base = "ideal"
    config = IDEAL
    warnings: tuple[Notice, ...] = ()
    if flags.config is not None or flags.config_dir is not None or machine.kubelet is not None:
        from numalign.sources.kubelet import configuration as kubelet_file

        base, where = "kubelet", flags.config or f"{origin}: kubelet"
        if flags.config is not None:
            config, warnings = kubelet_file.load(flags.config, flags.config_dir)
        elif flags.config_dir is not None:
            raise click.UsageError("--config-dir goes with --kubelet-config")
        else:
            config, warnings = kubelet_file.from_data(machine.kubelet or {}, where)
    if flags.settings:
        from numalign.sources.kubelet.flags import apply_flags

        config = apply_flags(config, flags.settings)
    return config, base, warnings


class Pods(NamedTuple):
    """The pods of an invocation."""

    beside: tuple[Pod, ...]
    """There already, oldest first."""
    tried: tuple[Pod, ...]
    """Up for admission, in order."""
    notices: tuple[Notice, ...]
    sources: tuple[PodSource, ...] = ()
    """Where those of `tried` come from."""


def read_pods(arguments: PodArguments) -> Pods:
    """Read and check all pods.

    Raises:
        InputError: a pod the API server would refuse, or an input without a pod.
    """
    from numalign.sources.pods import manifest

    beside = manifest.read_beside(arguments.beside) if arguments.beside else ()
    given = manifest.read(arguments.names, replicas=arguments.replicas, beside=beside)
    notices = [Notice("replicas", text) for text in given.notes]
    return Pods(tuple(beside), given.pods, (*notices, *passed_over(given)), given.sources)


def passed_over(given: PodInput) -> Iterator[Notice]:
    """Say how many documents have no pod in them."""
    if given.passed_over:
        many = given.passed_over != 1
        yield Notice("no-pod", f"{given.passed_over} document{'s' * many} without a pod passed over")


def file_of(source: PodSource) -> str | None:
    """Return the name of the file that a pod comes from; None: standard input."""
    from numalign.sources.text.yaml import STDIN

    return None if source.document.name == STDIN else source.document.name


def check_choices(on: Setting, pods: Iterable[Pod]) -> None:
    """Check the pods' annotations where `--per-pod-policy` honours them.

    Raises:
        InputError: an annotation cannot be read, or asks for too much of a large machine.
    """
    if on.profile.per_pod_policy:
        from numalign.cli.history import check_pod

        for pod in pods:
            check_pod(pod, on.machine)
