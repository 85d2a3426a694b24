"""The flags that several commands share. A flag that names a kubelet setting has the kubelet's own name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class SharedOption(click.Option):
    """A flag of several commands: NUMALIGN_FLAG sets it for all of them, NUMALIGN_COMMAND_FLAG for one and wins."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Look into the environment; an empty variable is none."""
        own = super().resolve_envvar_value(ctx)
        if own:
            return own
        names = [name for name in self.opts if name.startswith("--")]
        variables = (f"NUMALIGN_{name.removeprefix('--').replace('-', '_').upper()}" for name in names)
        return next((os.environ[variable] for variable in variables if os.environ.get(variable)), None)


def shared_option(*names: str, **attributes: Any) -> Decorator:
    """Add an option that one variable of the environment sets for every command that has it."""
    return click.option(*names, cls=SharedOption, **attributes)


class KubeletFlags(NamedTuple):
    """The kubelet's settings as given on the command line."""

    config: str | None
    config_dir: str | None
    settings: dict[str, str]
    """Flag name without dashes -> text, only those that were given."""
    version: str | None = None
    """`--kubelet-version` as given."""
    per_pod_policy: bool = False
    preferred_allocation: str = "kubelet"


_SETTINGS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("--topology-manager-policy", "--policy"),
        "POLICY",
        "none, best-effort, restricted or single-numa-node.",
    ),
    (("--topology-manager-scope", "--scope"), "SCOPE", "container or pod."),
    (
        ("--topology-manager-policy-options",),
        "K=V,…",
        "prefer-closest-numa-nodes=true, max-allowable-numa-nodes=16.",
    ),
    (("--cpu-manager-policy",), "POLICY", "none or static."),
    (("--cpu-manager-policy-options",), "K=V,…", "full-pcpus-only=true, distribute-cpus-across-numa=true, …"),
    (("--memory-manager-policy",), "POLICY", "None or Static."),
    (("--reserved-memory",), "0:memory=1Gi;…", "Memory kept back, node by node."),
    (("--reserved-cpus",), "LIST", "CPUs that are never given out exclusively, 0-1,64."),
    (("--kube-reserved",), "cpu=1,…", "What Kubernetes daemons need."),
    (("--system-reserved",), "cpu=1,…", "What the operating system needs."),
    (("--eviction-hard",), "S<V,…", "Hard eviction thresholds, memory.available<100Mi."),
    (("--feature-gates",), "G=true,…", "CPUManagerPolicyAlphaOptions=true, …"),
)


def kubelet_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the kubelet's flags; the command gets them as one argument, `kubelet`."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        settings = {}
        for names, _, _ in _SETTINGS:
            value = kwargs.pop(_parameter(names))
            if value is not None:
                settings[names[0].removeprefix("--")] = value
        kwargs["kubelet"] = KubeletFlags(
            kwargs.pop("kubelet_config"),
            kwargs.pop("config_dir"),
            settings,
        )
        return function(*args, **kwargs)

    wrapped.__doc__ = function.__doc__
    wrapped.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Callable[..., Any] = wrapped
    for names, metavar, text in reversed(_SETTINGS):
        decorated = shared_option(*names, _parameter(names), metavar=metavar, help=text)(decorated)
    decorated = shared_option(
        "--config-dir", metavar="DIR", help="Drop-ins (*.conf) over the KubeletConfiguration, in text order."
    )(decorated)
    return shared_option(
        "--kubelet-config",
        metavar="FILE",
        help="A KubeletConfiguration, or what the node's /configz returns. Flags win over it.",
    )(decorated)


_BEYOND: tuple[Decorator, ...] = (
    shared_option(
        "--kubelet-version",
        metavar="1.N",
        help="History: decide as an earlier kubelet, 1.16 to 1.32, did (docs/history.md).",
    ),
    shared_option(
        "--preferred-allocation",
        type=click.Choice(["kubelet", "proposal"]),
        default="kubelet",
        help="Beyond the kubelet: use devices' preferred sets as proposed in 2019.",
    ),
    shared_option(
        "--per-pod-policy",
        is_flag=True,
        help="Beyond the kubelet: honour the pods' annotations numalign/topology-policy and -scope.",
    ),
)


def beyond_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags about history and proposals, under `kubelet_options`; they come in the same argument."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        kwargs["kubelet"] = kwargs["kubelet"]._replace(
            version=kwargs.pop("kubelet_version"),
            per_pod_policy=kwargs.pop("per_pod_policy"),
            preferred_allocation=kwargs.pop("preferred_allocation"),
        )
        return function(*args, **kwargs)

    wrapped.__doc__ = function.__doc__
    wrapped.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Callable[..., Any] = wrapped
    for option in reversed(_BEYOND):
        decorated = option(decorated)
    return decorated


def _parameter(names: tuple[str, ...]) -> str:
    return names[0].removeprefix("--").replace("-", "_")


def machine_option(*, multiple: bool = False, without: str = "this host") -> Decorator:
    """Add `--machine`; `without` says what holds when it is left out."""
    text = f"A machine file, a bundled machine (see `numalign machines`), or a short form; without it: {without}."
    return shared_option("-m", "--machine", metavar="MACHINE", multiple=multiple, help=text)


def output_option(*formats: str) -> Decorator:
    """Add `-o`; the first format is the default."""
    return shared_option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print."
    )


INSTEAD_OF_PODS = ("hints", "preferred_sets")
"""Parameters that ask something that needs no pod."""


def pods_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add POD… and everything that says which pods come up; the command gets one argument, `pods`."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        names = (*kwargs.pop("pod"), *kwargs.pop("files"))
        if not names and all(kwargs.get(other) is None for other in INSTEAD_OF_PODS):
            raise click.UsageError("name at least one POD: a file, a folder, or - for standard input")
        kwargs["pods"] = PodArguments(names, kwargs.pop("beside"), kwargs.pop("replicas"), kwargs.pop("started"))
        return function(*args, **kwargs)

    wrapped.__doc__ = function.__doc__
    wrapped.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Callable[..., Any] = wrapped
    decorated = shared_option(
        "--started", is_flag=True, help="Pods start before the next one comes; their init containers have ended."
    )(decorated)
    decorated = shared_option(
        "--replicas", type=click.IntRange(1, 100_000), metavar="N", help="Pods to try of each template; without it one."
    )(decorated)
    decorated = shared_option(
        "--beside",
        metavar="FILE",
        help="Pods that are there already (kubectl get pods -o json), admitted first, oldest first.",
    )(decorated)
    decorated = shared_option("-f", "--filename", "files", multiple=True, metavar="POD", help="The same as POD.")(
        decorated
    )
    return click.argument("pod", nargs=-1, metavar="POD…")(decorated)


class PodArguments(NamedTuple):
    """Which pods come up for admission."""

    names: tuple[str, ...]
    beside: str | None
    replicas: int | None
    started: bool


quiet_option: Decorator = shared_option("-q", "--quiet", is_flag=True, help="Print no results, only errors.")
