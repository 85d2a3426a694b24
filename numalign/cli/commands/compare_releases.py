"""`numalign compare --kubelet-version A,B`: what an upgrade of the kubelet changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.cli.stderr import report
from numalign.cli.view import Output, View, late_imports, tell_and_show
from numalign.exit_status import ExitStatus
from numalign.results.compare import Scene, UpgradeResult
from numalign.sources.machine.loading import machines_of
from numalign.tasks.loaded_pods import LoadedPods, Terms, load_pods
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.scenes import before_and_after_upgrade
from numalign.tasks.setup import LoadedSetup, load_setup
from numalign.tasks.upgrade import compare_versions
from numalign.values import NamedTuple

with late_imports():
    from numalign.render.json import compare as json
    from numalign.render.page import document as page
    from numalign.render.picture import occupants
    from numalign.render.text import upgrade as text

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.render.page.document import Document


class Shown(NamedTuple):
    """Answers, machine by machine, and what they came of."""

    results: Sequence[UpgradeResult]
    nodes: Sequence[LoadedSetup]
    up: LoadedPods
    terms: Terms

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is told beside them, each once."""
        about_nodes = (notice for on in self.nodes for notice in on.notices)
        return tuple(dict.fromkeys((*about_nodes, *self.up.notices, *self.results[0].notices)))

    def document(self, *, wide: bool) -> Document:
        """Tell each."""
        both = zip(self.results, self.nodes, strict=True)
        return page.one_below_the_other(text.upgrade_document(one, on.origin, wide=wide) for one, on in both)

    def scenes(self) -> Sequence[Scene]:
        """Admit the pods once more, to draw them before and after."""
        tried, terms = self.up.tried, self.terms
        return [scene for one in self.results for scene in before_and_after_upgrade(one, tried, terms)]


VIEW = View[Shown](
    document=lambda shown: shown.document(wide=False),
    wide=lambda shown: shown.document(wide=True),
    data=lambda shown: json.releases_json(shown.results, shown.notices),
    picture=lambda shown: occupants.draw_scenes(shown.scenes()),
)


def compare_releases(
    pods: PodsRequest, machines: Sequence[str], kubelet: KubeletRequest, output: Output, *, quiet: bool
) -> ExitStatus:
    """Print what an upgrade of the kubelet changes for pods; status 1 where it makes something worse.

    Args:
        pods: who is there and who comes.
        machines: files, folders of them, bundled ones; none: this host.
        kubelet: its version is two of them, joined by a comma.
        output: how to print.
        quiet: print nothing.

    Raises:
        InputError: not two versions.
    """
    names = [name for given in machines or (None,) for name in machines_of(given)]
    nodes = [load_setup(name, kubelet._replace(version=None)) for name in names]
    up = load_pods(pods, on=nodes[0].setup)
    terms = up.terms(pods)
    results = [compare_versions(on.setup, kubelet.version or "", up.tried, terms) for on in nodes]
    shown = Shown(results, nodes, up, terms)
    tell_and_show(VIEW, shown, output, shown.notices, quiet=quiet)
    return report(up.broken, ExitStatus.NO if any(result.worse for result in results) else ExitStatus.DONE)
