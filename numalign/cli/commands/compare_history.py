"""Parts of `numalign compare` about history: --hints, --preferred-sets and --kubelet-version A,B."""

from __future__ import annotations

from collections.abc import Sequence

import click

from numalign.cli.options import Output
from numalign.cli.printing import print_data, print_document
from numalign.cli.stderr import report, tell
from numalign.exit_status import ExitStatus
from numalign.kubelet.releases.release import Kubelet
from numalign.model.machine import Machine
from numalign.render.json import Data
from numalign.render.page.document import Document, Line, Table
from numalign.results.compare import Scene, UpgradeResult
from numalign.tasks.setup import LoadedPods, LoadedSetup


def compare_hints(given: str, kubelet: Kubelet, output: Output, *, quiet: bool) -> ExitStatus:
    """Print what every policy makes of hints.

    Args:
        given: hints as text, a file of them, or `every`.
        kubelet: which kubelet's policies stand beside those of the feedback document.
        output: table (the document's form), wide (all policies), json or yaml.
        quiet: print nothing.

    Raises:
        InputError: the hints cannot be read.
    """
    from numalign.render.text import hint_policies as view
    from numalign.tasks.hints import compare_hints as compare

    compared, nodes = compare(given, kubelet)
    if output == "table":
        _print(output, view.feedback_document(compared, nodes), quiet=quiet)
    elif output == "wide":
        _print(output, view.policies_document(compared, nodes, kubelet), quiet=quiet)
    else:
        _print(output, view.policies_json(compared, nodes, kubelet), quiet=quiet)
    return ExitStatus.DONE


def compare_sets(asked: str, machine: Machine, output: Output, *, quiet: bool) -> ExitStatus:
    """Print which sets of devices a plugin prefers, and the hints with and without them.

    Args:
        asked: `RESOURCE=N`.
        machine: whose devices and links.
        output: table, wide, json or yaml.
        quiet: print nothing.

    Raises:
        InputError: no such resource, or too large a machine.
    """
    from numalign.render.text import preferred_sets as view
    from numalign.tasks.hints import compare_sets as compare

    found = compare(asked, machine)
    if output in ("table", "wide"):
        _print(output, view.sets_document(found), quiet=quiet)
    else:
        _print(output, view.sets_json(found, machine.name), quiet=quiet)
    return ExitStatus.DONE


def compare_versions(
    versions: str, nodes: Sequence[LoadedSetup], pods: LoadedPods, output: Output, *, started: bool, quiet: bool
) -> ExitStatus:
    """Print what an upgrade of the kubelet changes for pods; status 1 where it makes something worse.

    Args:
        versions: two versions joined by a comma.
        nodes: machines and settings; the kubelet of each says what is beyond any kubelet.
        pods: who is there and who comes.
        output: table, wide, json, yaml, svg or html.
        started: see `--started`.
        quiet: print nothing.

    Raises:
        InputError: not two versions.
    """
    from numalign.render.text import upgrade as view
    from numalign.tasks.upgrade import compare_versions as compare

    results = [compare(on.setup, versions, pods.tried, beside=pods.beside, started=started) for on in nodes]
    seen = (*(notice for on in nodes for notice in on.notices), *pods.notices, *results[0].notices)
    notices = tuple(dict.fromkeys(seen))
    tell(notices)
    if output in ("table", "wide"):
        for place, (result, on) in enumerate(zip(results, nodes, strict=True)):
            document = view.upgrade_document(result, on.origin, wide=output == "wide")
            _print(output, [Line(), *document] if place else document, quiet=quiet)
    elif output in ("svg", "html"):
        if not quiet:
            _draw(output, results, [on.origin for on in nodes], pods, started=started)
    elif len(results) == 1:
        _print(output, view.upgrade_json(results[0], notices), quiet=quiet)
    else:
        _print(output, view.report_json(results, notices), quiet=quiet)
    return report(pods.broken, ExitStatus.NO if any(result.worse for result in results) else ExitStatus.DONE)


def _draw(
    output: Output, results: Sequence[UpgradeResult], origins: Sequence[str], pods: LoadedPods, *, started: bool
) -> None:
    """Draw the nodes before and after the upgrade."""
    from numalign.render.picture.page import scenes_text
    from numalign.render.text.upgrade import upgrade_document
    from numalign.tasks.before_after import before_and_after_upgrade

    scenes: list[Scene] = []
    document: list[Line | Table] = []
    for result, origin in zip(results, origins, strict=True):
        scenes += before_and_after_upgrade(result, pods.tried, beside=pods.beside, started=started)
        document += [*([Line()] if document else []), *upgrade_document(result, origin, wide=False)]
    click.echo(scenes_text(output, scenes, document), nl=False)


def _print(output: Output, result: Document | Data, *, quiet: bool) -> None:
    if quiet:
        return
    if isinstance(result, dict):
        print_data(output, result)
    else:
        print_document(output, result)
