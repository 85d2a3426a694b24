"""`numalign compare --fleet`: the same question on every node of a folder, each in whatever process is free.

What a worker gives back is what is printed: plain data for programs, a document for people. So the bytes are the same
from one process, eight, or a Dask cluster, and a node that cannot be read takes nothing from the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from numalign.cli.options import Output
from numalign.cli.printing import print_data, print_document
from numalign.cli.stderr import Progress, say, tell
from numalign.errors import InputError, Notice
from numalign.exit_status import ExitStatus
from numalign.render.json import Data
from numalign.render.page.document import Document, Line
from numalign.render.text import compare as view
from numalign.render.text import upgrade as upgrade_view
from numalign.tasks.cluster import files_of
from numalign.tasks.compare import compare
from numalign.tasks.parallel import Done, Engine, run_all
from numalign.tasks.place import Place, place
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.setup import load_pods
from numalign.tasks.upgrade import compare_versions
from numalign.values import NamedTuple


class Job(NamedTuple):
    """The question, and the node it is asked about."""

    source: str
    pods: PodsRequest
    kubelet: KubeletRequest
    options: tuple[str, ...]
    output: Output

    @property
    def upgrades(self) -> bool:
        """Tell whether two releases are compared."""
        return "," in (self.kubelet.version or "")


class Part(NamedTuple):
    """The answer of one node."""

    printed: Data | Document
    admits: tuple[bool, ...]
    """Variant by variant, whether all pods are admitted; of two releases, whether nothing gets worse."""
    notices: tuple[Notice, ...]


def sources_of(
    fleet: str | None, node: str | None, machines: Sequence[str], others: Sequence[object], output: Output
) -> tuple[str, ...]:
    """List the nodes that are asked about, each by itself.

    Raises:
        InputError: something else is asked for that has no answer for them, or the folder has no nodes.
    """
    flag = "--fleet" if fleet is not None else "--node with two versions"
    if machines or (node is not None and fleet is not None):
        raise InputError("names the nodes; leave the other flags that name one out", flag)
    if any(one is not None for one in others) or output in ("svg", "html"):
        raise InputError("goes with neither --slices, --hints, --preferred-sets nor a picture", flag)
    return files_of(fleet, folders=True) if fleet is not None else (str(node),)


def compare_fleet(sources: Sequence[str], asked: Job, engine: Engine, *, need: str | None, quiet: bool) -> ExitStatus:
    """Print the comparison of every node.

    Args:
        sources: snapshots, folders that stand for nodes, machine files.
        asked: the question.
        engine: where the work is done.
        need: `any` or `all` variants have to admit every pod; of two releases nothing may get worse.
        quiet: print nothing.

    Raises:
        InputError: pods come from standard input.
    """
    if "-" in (*asked.pods.names, asked.pods.beside):
        raise InputError("standard input is read once; name files of pods for the nodes of --fleet", "-")
    with Progress() as progress:
        answers = run_all(
            judge,
            [asked._replace(source=source) for source in sources],
            engine,
            done=lambda count: progress.show(f"{count} of {len(sources)} nodes", count / len(sources)),
        )
    parts = [one.answer for one in answers if one.answer is not None]
    notices = tuple(dict.fromkeys(notice for part in parts for notice in part.notices))
    tell(notices)
    if not quiet:
        _print(asked, [part.printed for part in parts], notices)
    return _status(asked, sources, answers, need)


def _status(asked: Job, sources: Sequence[str], answers: Sequence[Done[Part]], need: str | None) -> ExitStatus:
    """Name the nodes without an answer; they beat any answer about the rest."""
    lost = [(source, one.error) for source, one in zip(sources, answers, strict=True) if one.answer is None]
    for source, error in lost:
        say(error if error.startswith(source) else f"{source}: {error}")
    if lost:
        return ExitStatus.WRONG_INPUT
    admits = [admit for one in answers if one.answer for admit in one.answer.admits]
    needed = "all" if asked.upgrades else need
    enough = needed is None or {"any": any, "all": all}[needed](admits)
    return ExitStatus.DONE if enough else ExitStatus.NO


def judge(job: Job) -> Part:
    """Answer for one node, in whatever process.

    Raises:
        NumalignError: the node cannot be read, or its kubelet would not start.
    """
    node = None if job.source.endswith((".yaml", ".yml", ".json")) else job.source
    kubelet = job.kubelet._replace(version=None) if job.upgrades else job.kubelet
    here, asked = place(node, job.source if node is None else None, kubelet, job.pods)
    up = load_pods(asked, here.pods, here.on.setup.machine)
    if up.broken:
        raise up.broken[0]
    wide, data = job.output == "wide", job.output in ("json", "yaml")
    if job.upgrades:
        upgrade = compare_versions(
            here.on.setup, job.kubelet.version or "", up.tried, beside=(*here.pods, *up.beside), started=asked.started
        )
        found = (*here.on.notices, *_replayed(here), *up.notices, *upgrade.notices)
        printed = (
            upgrade_view.upgrade_json(upgrade, found)
            if data
            else upgrade_view.upgrade_document(upgrade, here.on.origin, wide=wide)
        )
        return Part(printed, (not upgrade.worse,), found)
    result = compare(
        [here.on.setup],
        up.tried,
        beside=up.beside,
        started=asked.started,
        options=job.options,
        allow_missing=asked.allow_missing,
        reasons=not data,
        there=here.there,
    )
    found = (*here.on.notices, *up.notices, *result.notices)
    printed = view.compare_json(result, ()) if data else view.compare_document(result, [here.on.origin], wide=wide)
    return Part(printed, tuple([row.admit for row in result.rows]), found)


def _replayed(here: Place) -> tuple[Notice, ...]:
    """Say that a release starts from the pods, not from what another one gave them."""
    if not here.pods:
        return ()
    text = "its pods are admitted again by both releases, in order: where they are now does not count"
    return (Notice("pods-replayed", text, here.on.origin),)


def _print(asked: Job, parts: Sequence[Data | Document], notices: Sequence[Notice]) -> None:
    data = [part for part in parts if isinstance(part, dict)]
    if asked.output not in ("json", "yaml"):
        for number, part in enumerate(part for part in parts if not isinstance(part, dict)):
            print_document(asked.output, [Line(), *part] if number else part)
    elif asked.upgrades:
        print_data(asked.output, upgrade_view.report_of(data, notices))
    else:
        print_data(asked.output, view.compare_of(data, notices))
