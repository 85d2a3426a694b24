"""Parts of `numalign compare` about history: --hints, --preferred-sets and --kubelet-version A,B."""

from __future__ import annotations

import json
from typing import Any

import click

from numalign.cli.inputs import Pods, Setting
from numalign.cli.stderr import tell
from numalign.errors import InputError, Notice
from numalign.kubelet.profile import Profile
from numalign.model.machine import Machine
from numalign.render.page.document import Document, show

EVERY = "every"
"""What `--hints` alone means: every pair of hints on two NUMA nodes."""

MOST_DEVICES = 1024


def compare_hints(given: str, profile: Profile, output: str, *, quiet: bool) -> int:
    """Print what every policy makes of hints.

    Args:
        given: hints as text, a file of them, or `EVERY`.
        profile: which kubelet's policies stand beside those of the feedback document.
        output: table (the document's form), wide (all policies), json or yaml.
        quiet: print nothing.

    Raises:
        InputError: the hints cannot be read.
    """
    from numalign.analysis.compare.hint_policies import compare, every_combination
    from numalign.render.text import hint_policies as view
    from numalign.sources.recorded.hint_lists import read

    nodes = 2
    if given == EVERY:
        compared = [compare(providers, nodes, profile) for providers in every_combination(nodes)]
    else:
        providers, nodes = read(given)
        compared = [compare(providers, nodes, profile)]
    if output == "table":
        _print(output, view.feedback_document(compared, nodes), quiet=quiet)
    elif output == "wide":
        _print(output, view.policies_document(compared, nodes, profile), quiet=quiet)
    else:
        _print(output, view.policies_json(compared, nodes, profile), quiet=quiet)
    return 0


def compare_sets(asked: str, machine: Machine, output: str, *, quiet: bool) -> int:
    """Print which sets of devices a plugin prefers, and the hints with and without them.

    Args:
        asked: `RESOURCE=N`.
        machine: whose devices and links.
        output: table, wide, json or yaml.
        quiet: print nothing.

    Raises:
        InputError: no such resource, or too large a machine.
    """
    from numalign.analysis.compare.preferred_sets import preferred_sets
    from numalign.cli.history import check_size
    from numalign.kubelet.profile import REFERENCE
    from numalign.render.text import preferred_sets as view

    resource, _, number = asked.rpartition("=")
    if not (number.isascii() and number.isdigit()) or not 1 <= int(number) <= MOST_DEVICES:
        raise InputError(f"--preferred-sets: expected RESOURCE=N like nvidia.com/gpu=2, got {asked!r}")
    check_size(REFERENCE._replace(preferred_allocation="proposal"), machine)
    found = preferred_sets(machine, resource, int(number))
    if output in ("table", "wide"):
        _print(output, view.sets_document(found), quiet=quiet)
    else:
        _print(output, view.sets_json(found, machine.name), quiet=quiet)
    return 0


def compare_versions(versions: str, on: Setting, pods: Pods, output: str, *, started: bool, quiet: bool) -> int:
    """Print what an upgrade of the kubelet changes for pods.

    Args:
        versions: two versions joined by a comma.
        on: machine and settings; its profile says what is beyond the kubelet.
        pods: who is there and who comes.
        output: table, wide, json or yaml.
        started: see `--started`.
        quiet: print nothing.

    Raises:
        InputError: not two versions.
    """
    from numalign.analysis.compare.upgrade import changes, run
    from numalign.analysis.whatif.situation import Situation, arrivals
    from numalign.kubelet.releases import parse_release, profile_of
    from numalign.render.text import upgrade as view

    releases = sorted({parse_release(text) for text in versions.split(",")})
    if len(releases) != 2:
        raise InputError(f"--kubelet-version: expected two different versions like 1.23,1.24, got {versions!r}")
    beyond = {field: getattr(on.profile, field) for field in ("policies", "preferred_allocation", "per_pod_policy")}
    situation = Situation(on.config, on.machine, ideal=on.base == "ideal", past=arrivals(pods.beside, started=started))
    runs = [run(situation, pods.tried, profile_of(release)._replace(**beyond), started=started) for release in releases]
    found = changes(situation, pods.tried, runs[0], runs[1], started=started)
    label = Notice("history-kubelet-version", f"history: kubelet {versions} as they decided", "--kubelet-version")
    notices = (*on.notices, *pods.notices, label)
    tell(notices)
    if output in ("table", "wide"):
        _print(output, view.upgrade_document(runs, found, on.base, on.origin), quiet=quiet)
    else:
        data = view.upgrade_json(on.config, on.machine.name, on.base, runs, found, notices)
        _print(output, data, quiet=quiet)
    return 0


def _print(output: str, result: Document | dict[str, Any], *, quiet: bool) -> None:
    if quiet:
        return
    if not isinstance(result, dict):
        show(result)
    elif output == "json":
        click.echo(json.dumps(result, indent=2))
    else:
        import yaml

        click.echo(yaml.safe_dump(result, sort_keys=False, allow_unicode=True), nl=False)
