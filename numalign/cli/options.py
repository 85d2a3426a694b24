"""The flags that several commands share. A flag that names a kubelet setting has the kubelet's own name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from numalign.cli.flags import Decorator, Flag, Given, flag, gathered
from numalign.kubelet.releases import NEWEST_TEXT, OLDEST, PUBLISHED
from numalign.results.verdict import FAIL_ON
from numalign.tasks.requests import KubeletRequest, MachineName, NodeName

if TYPE_CHECKING:
    from numalign.cli.view import View
    from numalign.sources.machine.changes import Changes


_SETTINGS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("--topology-manager-policy", "--policy"),
        "POLICY",
        "none, best-effort, restricted, single-numa-node",
    ),
    (("--topology-manager-scope", "--scope"), "SCOPE", "container or pod"),
    (
        ("--topology-manager-policy-options",),
        "K=V,…",
        "such as prefer-closest-numa-nodes=true",
    ),
    (("--cpu-manager-policy",), "POLICY", "none or static"),
    (("--cpu-manager-policy-options",), "K=V,…", "such as full-pcpus-only=true"),
    (("--memory-manager-policy",), "POLICY", "None or Static"),
    (("--reserved-memory",), "0:memory=1Gi;…", "memory withheld from pods, per NUMA node"),
    (("--reserved-cpus",), "LIST", "CPUs withheld from pods, such as 0-1,64"),
    (("--kube-reserved",), "cpu=1,…", "resources of Kubernetes daemons"),
    (("--system-reserved",), "cpu=1,…", "resources of the operating system"),
    (("--eviction-hard",), "S<V,…", "hard thresholds, such as memory.available<100Mi"),
    (("--feature-gates",), "G=true,…", "such as CPUManagerPolicyAlphaOptions=true"),
    (("--max-pods",), "N", "pods of a node, by which clouds reserve memory"),
)


def _parameter(names: tuple[str, ...]) -> str:
    return names[0].removeprefix("--").replace("-", "_")


kubelet_version_option: Decorator = flag(
    "--kubelet-version",
    metavar="1.N",
    help=f"release to replay, 1.{OLDEST[1]} to 1.{PUBLISHED[1]} [default: {NEWEST_TEXT}]",
)


@gathered(
    kubelet_version_option,
    flag(
        "--kubelet-config",
        metavar="FILE",
        help="KubeletConfiguration, or a file that contains one",
    ),
    flag("--config-dir", metavar="DIR", help="drop-ins (*.conf) over --kubelet-config"),
    flag("--instance-type", metavar="TYPE", help="EC2 instance type, such as p5.48xlarge"),
    flag("--pool", metavar="NAME", help="pool of nodes to use, if a file has several"),
    *(flag(*names, _parameter(names), metavar=metavar, help=text) for names, metavar, text in _SETTINGS),
)
def kubelet_options(given: Given) -> None:
    """Add the kubelet's flags; the command gets them as one argument, `kubelet`."""
    settings = {names[0].removeprefix("--"): given.pop(_parameter(names)) for names, _, _ in _SETTINGS}
    given["kubelet"] = KubeletRequest(
        config=given.pop("kubelet_config"),
        config_dir=given.pop("config_dir"),
        settings={flag: text for flag, text in settings.items() if text is not None},
        version=given.pop("kubelet_version"),
        instance=given.pop("instance_type"),
        pool=given.pop("pool"),
    )


_CHANGES: tuple[Decorator, ...] = (
    flag(
        "--device",
        "devices",
        multiple=True,
        metavar="RESOURCE[@NODE]=N,…",
        help="set devices of each NUMA node of --machine, or of one",
    ),
    flag(
        "--hugepages",
        multiple=True,
        metavar="SIZE[@NODE]=AMOUNT,…",
        help="set huge pages of each NUMA node, or of one",
    ),
    flag("--memory-per-numa-node", "memory", metavar="AMOUNT", help="set memory of each NUMA node"),
    flag("--nps", type=int, metavar="1|2|4", help="set NUMA nodes of each socket, as AMD firmware"),
    flag("--snc", type=int, metavar="1|2|3|4", help="set NUMA nodes of each socket, as Intel firmware"),
)


def machine_option(*, multiple: bool = False, without: str = "this host", cls: type[Flag] = Flag) -> Decorator:
    """Add `--machine`, and the flags that change one; `without` says what holds when it is left out."""
    text = f"file, bundled name or short form [default: {without}]"
    named = flag("-m", "--machine", cls=cls, metavar="MACHINE", multiple=True, help=text)

    @gathered(named, *_CHANGES)
    def option(given: Given) -> None:
        asked = {name: given.pop(name) for name in ("devices", "hugepages", "memory", "nps", "snc")}
        names, changes = given["machine"], None
        if any(value not in (None, ()) for value in asked.values()):
            if not names:
                flags = "--device, --hugepages, --memory-per-numa-node, --nps and --snc"
                raise click.UsageError(f"{flags} require --machine; fix: add --machine")
            from numalign.sources.machine.changes import Changes

            changes = Changes(**asked)
        if multiple:
            given["machine"] = tuple(_machine_name(name, changes, ()) for name in names)
        else:
            given["machine"] = _machine_name(names[0], changes, names[1:]) if names else None

    return option


def _machine_name(name: str, changes: Changes | None, beside: tuple[str, ...]) -> str:
    if changes is None and not beside:
        return name
    result = MachineName(name)
    result.changes, result.beside = changes, beside
    return result


def output_option(view: View[Any], *, without: str | None = None) -> Decorator:
    """Add `-o` with the outputs of a view; `without` tells what is printed if it is left out, where that differs."""
    return flag(
        "-o",
        "--output",
        type=click.Choice(view.outputs),
        metavar="FORMAT",
        default=("yaml" if view.document is None else "table") if without is None else None,
        show_default=without is None,
        help=f"{', '.join(view.outputs)}{f' [default: {without}]' if without else ''}",
    )


node_option: Decorator = flag("--node", metavar="SOURCE", help="snapshot, /var/lib/kubelet, must-gather, state file")


@gathered(
    node_option,
    flag("--ignore-checksums", is_flag=True, help="accept state files with a wrong checksum"),
)
def node_options(given: Given) -> None:
    """Add `--node` for commands that go on from a node, and what to do where its files are damaged."""
    if not given.pop("ignore_checksums"):
        return
    if given["node"] is None:
        raise click.UsageError("--ignore-checksums requires --node; fix: add --node")
    given["node"] = NodeName(given["node"])


def state_option(text: str = "keep the node in FILE between commands") -> Decorator:
    """Add `--state`."""
    return flag("--state", metavar="FILE", help=text)


fail_on_option: Decorator = flag(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="rejected",
    show_default=True,
    metavar="WHAT",
    help="exit 1: rejected, unaligned, rail, impossible, nothing",
)
quiet_option: Decorator = flag("-q", "--quiet", count=True, help="hide results and notes; -qq hides warnings too")


def answer_options(view: View[Any], *, without: str | None = None) -> Decorator:
    """Add what every command with an answer has: `-o` with the outputs of a view, and `-q`."""
    return lambda function: output_option(view, without=without)(quiet_option(function))


slices_option: Decorator = flag(
    "--slices",
    metavar="DUMP",
    help="ResourceSlices and claims of the cluster",
)
