"""Command lines to type next: the present one with one thing changed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from numalign.tasks.requests import KubeletRequest, MachineName, NodeName, PodsRequest

SHORT_FLAGS = {"topology-manager-policy": "policy", "topology-manager-scope": "scope"}
"""Flags that have a shorter name."""


def command_line(
    command: str,
    pods: PodsRequest | None,
    machines: Sequence[str],
    kubelet: KubeletRequest,
    *,
    settings: Mapping[str, str] | None = None,
    more: Sequence[tuple[str, str]] = (),
) -> str:
    """Write a command line.

    Args:
        command: `explain`, `compare`, …
        pods: which pods come up; None: a command without pods.
        machines: values of `--machine`.
        kubelet: the flags given.
        settings: kubelet flags to change or add.
        more: further flags with their values.
    """
    words = ["numalign", *command.split(), *(pods.names if pods else ())]
    flags: list[tuple[str, str]] = [("machine", machine) for machine in machines]
    flags += machines[0].flags() if machines and isinstance(machines[0], MachineName) else []
    flags += [("beside", pods.beside)] if pods and pods.beside else []
    flags += _pod_flags(pods) if pods else []
    flags += [("kubelet-config", kubelet.config)] if kubelet.config else []
    flags += [("config-dir", kubelet.config_dir)] if kubelet.config_dir else []
    flags += [("kubelet-version", kubelet.version)] if kubelet.version else []
    if kubelet.preferred_allocation != "kubelet":
        flags.append(("preferred-allocation", kubelet.preferred_allocation))
    flags += [(SHORT_FLAGS.get(name, name), text) for name, text in {**kubelet.settings, **(settings or {})}.items()]
    for name, text in (*flags, *more):
        words += [f"--{name}", text]
        words += ["--ignore-checksums"] if isinstance(text, NodeName) else []
    for resource in pods.allow_missing if pods else ():
        words += ["--allow-missing", resource]
    words += ["--started"] if pods and pods.started else []
    words += ["--gang"] if pods and pods.gang else []
    words += ["--per-pod-policy"] if kubelet.per_pod_policy else []
    return shlex.join(words)


def _pod_flags(pods: PodsRequest) -> list[tuple[str, str]]:
    counts = [str(pods.replicas)] if pods.replicas else []
    counts += [f"{role}={number}" for role, number in pods.role_replicas.items()]
    flags = [("replicas", ",".join(counts))] if counts else []
    return flags + ([("node-name", pods.node_name)] if pods.node_name else [])
