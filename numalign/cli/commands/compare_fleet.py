"""`numalign compare --fleet`: the same question on every node of a folder, each in whatever process is free.

What a worker gives back is what is printed: plain data for programs, a document for people. So the bytes are the same
from one process, eight, or a Dask cluster, and a node that cannot be read takes nothing from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from numalign.cli.stderr import Progress, say
from numalign.cli.view import Face, Output, View, command_line, faces_of, late_imports, tell_and_show
from numalign.errors import InputError, Notice
from numalign.exit_status import ExitStatus
from numalign.render.json import Data
from numalign.render.page.document import Document, Title, one_below_the_other
from numalign.results.compare import CompareResult
from numalign.tasks.cluster_files import files_of
from numalign.tasks.fleet import NodeAnswer, NodeQuestion, ask_node
from numalign.tasks.parallel import Done, Engine, run_all
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.values import NamedTuple

with late_imports():
    from numalign.render.json import compare as compare_json
    from numalign.render.page import html
    from numalign.render.text import compare, upgrade


class Part(NamedTuple):
    """The answer of one node: data or a document, whichever is printed."""

    data: Data | None
    document: Document
    admits: tuple[bool, ...]
    """Variant by variant, whether all pods are admitted; of two releases, whether nothing gets worse."""
    aligned: frozenset[bool | None]
    """Of the variants that admit every pod, whether all are aligned; empty: none does, or of two releases."""
    notices: tuple[Notice, ...]
    sums: Mapping[str, int]
    """Policy -> most aligned copies; empty of two releases."""


class Shown(NamedTuple):
    """The answers of all nodes."""

    parts: Sequence[Part]
    upgrades: bool

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is told beside them, each once."""
        return tuple(dict.fromkeys(notice for part in self.parts for notice in part.notices))

    @property
    def document(self) -> Document:
        """All, one below the other, and their sum."""
        sums = {name: sum(part.sums.get(name, 0) for part in self.parts) for part in self.parts for name in part.sums}
        documents = [part.document for part in self.parts]
        total = [[Title(compare.sum_text(sums, len(self.parts)))]] if sums and len(self.parts) > 1 else []
        return one_below_the_other([*(documents if self.upgrades else compare.alike(documents)), *total])

    @property
    def page(self) -> str:
        """All on a page, below how many nodes admit the pods, and on how many they are aligned."""
        best = sum(all(part.admits) if self.upgrades else any(part.admits) for part in self.parts)
        nodes = f"{best} of {len(self.parts)} nodes"
        verdict = f"Nothing gets worse on {nodes}" if self.upgrades else f"{nodes} can admit every pod"
        if any(part.aligned - {None} for part in self.parts):
            verdict += f", {sum(True in part.aligned for part in self.parts)} of these aligned"
        body = "\n<hr>\n".join(html.blocks(part.document) for part in self.parts)
        return html.page("numalign compare", verdict, command_line(), body)

    @property
    def data(self) -> Data:
        """All in one list."""
        data = [part.data for part in self.parts if part.data is not None]
        of = compare_json.report_of if self.upgrades else compare_json.compare_of
        return of(data, self.notices)


VIEW = View[Shown](
    document=lambda shown: shown.document,
    wide=lambda shown: shown.document,
    data=lambda shown: shown.data,
    own={"html": lambda shown: shown.page},
)


def sources_of(
    fleet: str | None, node: str | None, machines: Sequence[str], slices: str | None, output: Output
) -> tuple[str, ...]:
    """List the nodes that are asked about, each by itself.

    Raises:
        InputError: something else is asked for that has no answer for them, or the folder has no nodes.
    """
    flag = "--fleet" if fleet is not None else "--node with two versions"
    if machines or (node is not None and fleet is not None):
        raise InputError("cannot be used with other flags that name a node; fix: remove those", flag)
    if slices is not None or not VIEW.offers(output):
        raise InputError("cannot be used with --slices or -o svg; fix: remove these", flag)
    return files_of(fleet, folders=True) if fleet is not None else (str(node),)


def compare_fleet(
    sources: Sequence[str],
    pods: PodsRequest,
    kubelet: KubeletRequest,
    options: Sequence[str],
    output: Output,
    engine: Engine,
    *,
    need: str | None,
    quiet: bool,
) -> ExitStatus:
    """Print the comparison of every node.

    Args:
        sources: snapshots, folders that stand for nodes, machine files.
        pods: who is there and who comes.
        kubelet: how each kubelet is set; its version may be two, joined by a comma.
        options: policy options that are tried.
        output: how to print.
        engine: where the work is done.
        need: `any` or `all` variants have to admit every pod; of two releases nothing may get worse.
        quiet: print nothing.

    Raises:
        InputError: pods come from standard input.
    """
    if "-" in (*pods.names, pods.beside):
        raise InputError("standard input is read once; fix: name files of pods for the nodes of --fleet", "-")
    faces = faces_of(VIEW, output)
    questions = [NodeQuestion(one, pods, kubelet, tuple(options), reasons=faces != ("data",)) for one in sources]
    with Progress() as progress:
        answers = run_all(
            partial(_part, faces),
            questions,
            engine,
            done=lambda count: progress.show(f"{count} of {len(sources)} nodes", count / len(sources)),
        )
    shown = Shown([one.answer for one in answers if one.answer is not None], questions[0].upgrades)
    tell_and_show(VIEW, shown, output, shown.notices, quiet=quiet)
    return _status(sources, answers, "all" if shown.upgrades else need)


def _part(faces: Sequence[Face], question: NodeQuestion) -> Part:
    """Answer for one node, in whatever process; as a function of a module others find it."""
    answer = ask_node(question)
    data = "data" in faces
    compared = answer.result if isinstance(answer.result, CompareResult) else None
    return Part(
        data=_data(answer) if data else None,
        document=() if data else _document(answer, wide="wide" in faces),
        admits=answer.admits,
        aligned=frozenset(row.aligned for row in (compared.rows if compared else ()) if row.admit),
        notices=answer.notices,
        sums=compare.most_aligned(compared) if compared else {},
    )


def _data(answer: NodeAnswer) -> Data:
    if isinstance(answer.result, CompareResult):
        return compare_json.compare_json(answer.result, ())
    return compare_json.upgrade_json(answer.result, answer.notices)


def _document(answer: NodeAnswer, *, wide: bool) -> Document:
    if isinstance(answer.result, CompareResult):
        return compare.compare_document(answer.result, [answer.origin], wide=wide)
    return upgrade.upgrade_document(answer.result, answer.origin, wide=wide)


def _status(sources: Sequence[str], answers: Sequence[Done[Part]], needed: str | None) -> ExitStatus:
    """Name the nodes without an answer; they beat any answer about the rest."""
    lost = [(source, one.error) for source, one in zip(sources, answers, strict=True) if one.answer is None]
    for source, error in lost:
        say(error if error.startswith(source) else f"{source}: {error}")
    if lost:
        return ExitStatus.WRONG_INPUT
    admits = [admit for one in answers if one.answer for admit in one.answer.admits]
    enough = needed is None or {"any": any, "all": all}[needed](admits)
    return ExitStatus.DONE if enough else ExitStatus.NO
