"""The pods that a command asks about, as read, and on what terms they come up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING

from numalign.errors import InputError, Notice
from numalign.kubelet.fit.predicates import as_static
from numalign.kubelet.releases.release import Kubelet, version_text
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.validation import container_policies
from numalign.model.pod import Pod
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.admission import Session
    from numalign.model.machine import Machine
    from numalign.sources.pods.manifest import PodSource
    from numalign.sources.text.yaml import Document
    from numalign.tasks.requests import PodsRequest


class Terms(NamedTuple):
    """On what terms pods come up: what is there before them, when containers start, what they may go without."""

    beside: Sequence[Pod] = ()
    """Pods that are there already, admitted first."""
    started: bool = False
    """The containers of an admitted pod start before the next pod comes."""
    there: Session | None = None
    """The node as it is; None: empty."""
    allow_missing: Sequence[str] = ()
    """Devices that pods may go without where a machine does not have them."""

    def passing_over(self, pods: Iterable[Pod], machine: Machine) -> Iterable[Pod]:
        """Leave out what pods may go without there; where nothing is, they stay as they come, one at a time."""
        if not self.allow_missing:
            return pods
        from numalign.worlds.missing import passing_over

        return passing_over(pods, machine, self.allow_missing)


ALONE = Terms()
"""On an empty node, with all that is asked for."""


class LoadedPods(NamedTuple):
    """The pods of an invocation."""

    beside: tuple[Pod, ...]
    """There already, oldest first."""
    tried: tuple[Pod, ...]
    """Up for admission, in order."""
    notices: tuple[Notice, ...]
    sources: tuple[PodSource, ...]
    """Where those of `tried` come from."""
    broken: tuple[InputError, ...]
    """What is wrong with inputs that were left out, where several were given."""
    claims: tuple[Document, ...]
    """Documents of standard input with claims (`PodInput.claims`)."""

    @property
    def files(self) -> dict[str, str]:
        """Pod (`namespace/name`) -> the file it stands in."""
        return {one.pod.full_name: one.document.name for one in self.sources}

    def terms(self, asked: PodsRequest, there: Session | None = None) -> Terms:
        """Say on what terms they come up: what was asked for, on a node as it is."""
        return Terms(self.beside, asked.started, there, asked.allow_missing)

    def places(self, fields: Iterable[Sequence[str]]) -> Iterator[tuple[str | None, list[int]]]:
        """Yield for each of `tried` its file (None: standard input), its line, and the lines of some of its fields.

        A document is read once for all of them: it may be a list of very many pods.
        """
        wanted = zip(self.sources, fields, strict=False)
        for _, members in groupby(wanted, key=lambda one: id(one[0].document)):
            pods = tuple(members)
            paths = [[source.template.path, *map(source.template.place, each)] for source, each in pods]
            lines = iter(pods[0][0].document.lines(chain.from_iterable(paths)))
            yield from (
                (file_of(source), list(islice(lines, len(each)))) for (source, _), each in zip(pods, paths, strict=True)
            )


def load_pods(request: PodsRequest, there: tuple[Pod, ...] = (), on: Setup | None = None) -> LoadedPods:
    """Read and check all pods.

    Args:
        request: which pods.
        there: pods of the node that none of them may be called like.
        on: the machine, whose name tells which node is meant where the pods beside are on several; its kubelet is of
            the API server's release.

    Raises:
        InputError: a pod the API server would refuse, or an input without a pod.
    """
    from numalign.sources.pods import manifest, template_pods

    beside: tuple[Pod, ...] = ()
    notices: tuple[Notice, ...] = ()
    if request.beside:
        from numalign.sources.pods.beside import read_beside

        known = (on.machine.node.name or "", on.machine.name) if on else ()
        found = read_beside(request.beside, request.node_name, known)
        beside, notices = found.pods, found.notices
    copies = template_pods.Copies(request.replicas, request.role_replicas, request.gang)
    given = manifest.read_pods(request.names, copies, beside=(*there, *beside), needed=bool(request.names))
    if request.static:
        given = given._replace(sources=tuple([one._replace(pod=as_static(one.pod)) for one in given.sources]))
    if on is not None and not on.kubelet.gates_with(on.config.feature_gates)(RESTART_GATE):
        _refuse_policies(given.sources, on.kubelet)
    return LoadedPods(
        beside=beside,
        tried=given.pods,
        notices=(*notices, *given.notices),
        sources=given.sources,
        broken=given.broken,
        claims=given.claims,
    )


RESTART_GATE = "ContainerRestartRules"
"""The gate of restart policies of containers."""


def _refuse_policies(sources: Sequence[PodSource], kubelet: Kubelet) -> None:
    """Refuse pods that the API server of an older release refuses (docs/rules/admission-fit.md 10)."""
    for source in sources:
        for path in container_policies(source.pod.spec):
            text = f"Kubernetes {version_text(kubelet.version)} takes none here (1.35 does): only init containers"
            raise source.document.error(
                f"{text} may have a restartPolicy, and only Always", source.template.place(path)
            )


def file_of(source: PodSource) -> str | None:
    """Return the name of the file that a pod comes from; None: standard input."""
    from numalign.sources.text.yaml import STDIN

    return None if source.document.name == STDIN else source.document.name
