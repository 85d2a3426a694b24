"""Compare on one node of many: every policy and scope, or two releases; each node is read by whoever asks it."""

from __future__ import annotations

from numalign.errors import Notice
from numalign.results.compare import CompareResult, UpgradeResult
from numalign.tasks.compare import compare
from numalign.tasks.loaded_pods import load_pods
from numalign.tasks.place import Place, find_place
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.upgrade import compare_versions
from numalign.values import NamedTuple


class NodeQuestion(NamedTuple):
    """What is compared, and the node on which it is."""

    source: str
    """A snapshot, a folder that stands for a node, or a machine file."""
    pods: PodsRequest
    kubelet: KubeletRequest
    options: tuple[str, ...]
    """Policy options that are tried."""
    reasons: bool
    """Take refusals apart."""

    @property
    def upgrades(self) -> bool:
        """Tell whether two releases are compared."""
        return "," in (self.kubelet.version or "")


class NodeAnswer(NamedTuple):
    """What came of it."""

    result: CompareResult | UpgradeResult
    origin: str
    notices: tuple[Notice, ...]

    @property
    def admits(self) -> tuple[bool, ...]:
        """Variant by variant, whether all pods are admitted; of two releases, whether nothing gets worse."""
        if isinstance(self.result, CompareResult):
            return tuple([row.admit for row in self.result.rows])
        return (not self.result.worse,)


def ask_node(question: NodeQuestion) -> NodeAnswer:
    """Compare on one node.

    Raises:
        NumalignError: the node cannot be read, or its kubelet would not start.
    """
    upgrades, source = question.upgrades, question.source
    node = None if source.endswith((".yaml", ".yml", ".json")) else source
    kubelet = question.kubelet._replace(version=None) if upgrades else question.kubelet
    here, asked = find_place(node, source if node is None else None, kubelet, question.pods)
    up = load_pods(asked, here.pods, here.on.setup)
    if up.broken:
        raise up.broken[0]
    terms = up.terms(asked, here.there)
    if not upgrades:
        result = compare([here.on.setup], up.tried, terms, options=question.options, reasons=question.reasons)
        return NodeAnswer(result, here.on.origin, (*here.on.notices, *up.notices, *result.notices))
    terms = terms._replace(beside=(*here.pods, *up.beside))
    upgrade = compare_versions(here.on.setup, question.kubelet.version or "", up.tried, terms)
    notices = (*here.on.notices, *_replayed(here), *up.notices, *upgrade.notices)
    return NodeAnswer(upgrade, here.on.origin, notices)


def _replayed(here: Place) -> tuple[Notice, ...]:
    """Say that a release starts from the pods, not from what another one gave them; only the restart does."""
    if not here.pods:
        return ()
    text = "both releases admit its pods again, in order; the present places are not used"
    return (Notice("pods-replayed", text, here.on.origin),)
