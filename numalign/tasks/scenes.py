"""Nodes to be drawn: as an explanation has them, and beside each other as things are and as they might be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.analysis.settings import apply
from numalign.errors import StartError
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.results.compare import ComparedRow, CompareResult, Scene, UpgradeResult
from numalign.results.explain import ExplainResult, first_problem
from numalign.tasks.admit import admit, drawn
from numalign.tasks.loaded_pods import Terms


def explained_scenes(result: ExplainResult, there: Sequence[Pod]) -> Iterator[Scene]:
    """Yield the node after the last admission, and where a fix was found the node with it; `there`: pods before."""
    if result.session is None:
        return
    yield Scene("", drawn(result.setup, result.session, [one.pod for one in result.pods], there))
    place = first_problem(result.pods)
    if place is None or not result.pods[place].changes:
        return
    change, after = result.pods[place].changes[0], result.pods[place].after[0]
    if change.tried is not None and after is not None:
        machine = change.tried.before.node.machine
        setup = result.setup._replace(machine=machine, config=apply(result.setup.config, change.flags))
        others = [pod for pod in change.tried.then.pods if pod.full_name != after.full_name]
        yield Scene("with the fix", drawn(setup, change.tried.then, [after], others))


def before_and_after(result: CompareResult, pods: Sequence[Pod], terms: Terms) -> tuple[Scene, ...]:
    """Admit the pods under the settings as given, and under the best ones if these are better.

    Args:
        result: the comparison of these pods.
        pods: see `compare`, as for the terms.
        terms: what is there before them, and how they come.
    """

    def scene(title: str, row: ComparedRow) -> Scene:
        first = row.setup.machine is result.machines[0].setup.machine
        return _scene(title, row.setup, pods, terms if first else terms._replace(there=None))

    present = next(row for row in result.rows if row.present)
    best = _best(result, present)
    if best is None:
        return (scene("as given (nothing that was tried is better)", present),)
    option = f", with {best.option}" if best.option else ""
    return scene("before, as given", present), scene(f"after, the best that was tried{option}", best)


def before_and_after_upgrade(result: UpgradeResult, pods: Sequence[Pod], terms: Terms) -> tuple[Scene, ...]:
    """Admit the pods as the older kubelet of an upgrade, and as the newer one; see `before_and_after`."""
    setup, scenes = result.setup, []
    for when, version in (("before", result.older.version), ("after", result.newer.version)):
        release = kubelet(parse_version(version))
        title = f"{when}, kubelet {version}"
        scenes.append(_scene(title, setup._replace(kubelet=release), pods, terms))
    return tuple(scenes)


def _best(result: CompareResult, present: ComparedRow) -> ComparedRow | None:
    """Choose the best row; None: none is better than the present one."""
    rows = result.best or [row for row in result.rows if not row.error]
    best = max(rows, key=_rank, default=present)
    better = _rank(best) > _rank(present) or bool(result.best and present not in result.best)
    return best if better else None


def _rank(row: ComparedRow) -> tuple[int, bool]:
    """Order rows: by how many pods are admitted, then by whether these are aligned."""
    return sum(pod.admitted for pod in row.pods), row.aligned is not False


def _scene(title: str, setup: Setup, pods: Sequence[Pod], terms: Terms) -> Scene:
    try:
        return Scene(title, admit(setup, pods, terms, occupants=True))
    except StartError as error:
        return Scene(title, None, error.message)
