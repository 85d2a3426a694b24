"""`numalign admit`: the main job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

import click

from numalign.cli.flags import flag
from numalign.cli.options import (
    answer_options,
    fail_on_option,
    kubelet_options,
    machine_option,
    node_options,
    slices_option,
    state_option,
)
from numalign.cli.pod_options import pods_arguments, since_options
from numalign.cli.stderr import but_claims, counted, report, tell, waiting
from numalign.cli.view import Output, View, answering, faces_of, late_imports, print_names, show
from numalign.errors import Notice
from numalign.exit_status import ExitStatus
from numalign.results.admit import AdmitResult
from numalign.results.verdict import FailOn, claims_fail, fails, rail_notices
from numalign.tasks.admit import admit, gangs_of
from numalign.tasks.loaded_pods import LoadedPods, load_pods
from numalign.tasks.place import Place, find_place
from numalign.tasks.requests import ClaimsRequest, KubeletRequest, PodsRequest, SinceRequest
from numalign.tasks.setup import default_policy
from numalign.values import NamedTuple

with late_imports():
    from numalign.render.ci import admit as checks
    from numalign.render.json import admit as json
    from numalign.render.page import document as page
    from numalign.render.picture import occupants
    from numalign.render.text import admit as text
    from numalign.tasks import claimed, node_state, problems, together

if TYPE_CHECKING:
    from numalign.dra.claim_objects import ClaimObjects
    from numalign.kubelet.setup import Setup
    from numalign.results.explain import ExplainedPod
    from numalign.tasks.node_state import KeptNode


class Shown(NamedTuple):
    """An answer, and what is told beside it."""

    result: AdmitResult
    origin: str
    up: LoadedPods
    notices: Sequence[Notice]
    fail_on: FailOn
    explained: Mapping[int, ExplainedPod]
    """Place of a pod -> why it was rejected or is not aligned, where build servers are told."""


VIEW = View[Shown](
    document=lambda shown: text.admit_document(shown.result, shown.origin),
    wide=lambda shown: [
        *text.admit_document(shown.result, shown.origin, wide=True),
        *text.drawing(shown.result, page.terminal_width()),
    ],
    data=lambda shown: json.admit_json(shown.result, shown.notices),
    names=lambda shown: text.admit_names(shown.result.pods),
    checks=lambda shown: checks.admit_checks(
        shown.result, shown.explained, shown.up.tried, shown.up.places, shown.fail_on
    ),
    picture=lambda shown: occupants.draw_occupants(shown.result),
)


@click.command("admit")
@pods_arguments
@since_options
@machine_option()
@node_options
@state_option()
@kubelet_options
@slices_option
@flag("--only", type=click.Choice(["managers"]), help="skip the check of node totals")
@fail_on_option
@answer_options(VIEW)
def command(
    pods: PodsRequest,
    since: SinceRequest,
    machine: str | None,
    node: str | None,
    state: str | None,
    kubelet: KubeletRequest,
    slices: str | None,
    only: str | None,
    fail_on: FailOn,
    output: Output,
    quiet: bool,
) -> ExitStatus:
    """Predict whether a node admits the pods, in order, and what each container gets.

    POD is a manifest, a folder of manifests, or - for standard input.

    \b
    Examples:
      numalign admit pod.yaml --machine hgx-h100 --policy single-numa-node
      kubectl get pod web-0 -o json | numalign admit - --machine node-a.yaml
      numalign admit pod.yaml --node worker-1.tar.xz

    Exit status: 0 all admitted, 1 a pod is rejected, 2 wrong input, 4 the kubelet does not start.
    """
    if node is not None and state is not None:
        raise click.UsageError("--node cannot be used with --state; fix: remove one")
    if not pods.names and state is None:
        raise click.UsageError("no POD given; fix: name a POD, or add --state FILE")
    with ExitStack() as files:
        kept = None if state is None else files.enter_context(_kept(state, machine, kubelet))
        here, asked = (Place(kept.on, kept.there), pods) if kept else find_place(node, machine, kubelet, pods)
        on = here.on
        up = load_pods(asked, tuple(pod for pod in here.pods if pod.name not in since.without), on.setup)
        objects, up = _claims(slices, pods, up, on.setup)
        faces = faces_of(VIEW, output)
        result, explained = _admitted(here, up, pods, since, fit_check=only is None, faces=faces, fail_on=fail_on)
        result = _with_gangs_and_claims(result, up, pods, slices, objects)
        written: tuple[Notice, ...] = ()
        if kept and result.session and not (result.fatal or up.broken):
            written = files.enter_context(kept.keeping(result.session))
        about_claims = result.claims.notices if result.claims is not None else ()
        notices = (*on.notices, *but_claims(up.notices, slices), *result.notices, *about_claims, *written)
        notices += rail_notices(result.pods, on.setup.machine, fail_on, result.claims)
        with answering(files):
            tell((*(() if node or state else default_policy(on, kubelet)), *notices))
            if not (quiet or pods.names) and (said := _since(since, faces)):
                print_names(said)
            elif not quiet:
                shown = Shown(result, on.origin, up, notices=notices, fail_on=fail_on, explained=explained)
                show(VIEW, shown, output)
    if result.fatal:
        return report(up.broken, ExitStatus.KUBELET_FAILS)
    return report(up.broken, _status(result, fail_on))


def _status(result: AdmitResult, fail_on: FailOn) -> ExitStatus:
    """Say whether the answer is no."""
    refused = any(fails(pod, fail_on, result.setup.machine, result.claims) for pod in result.pods)
    return ExitStatus.NO if refused or claims_fail(result.claims, fail_on) else ExitStatus.DONE


def _claims(
    slices: str | None, pods: PodsRequest, up: LoadedPods, setup: Setup
) -> tuple[ClaimObjects | None, LoadedPods]:
    """Read what is claimed, where slices are given."""
    if slices is None:
        return None, up
    return claimed.load_claims_for(_claims_request(slices, pods, up), up, [setup])


def _claims_request(slices: str, pods: PodsRequest, up: LoadedPods) -> ClaimsRequest:
    return ClaimsRequest(slices, pods.node_name, pods.names, up.claims, up.files)


def _with_gangs_and_claims(
    result: AdmitResult, up: LoadedPods, pods: PodsRequest, slices: str | None, objects: ClaimObjects | None
) -> AdmitResult:
    """Add what was asked for beside the pods themselves."""
    if pods.gang:
        result = result._replace(gangs=gangs_of(up.sources, result.pods))
    if len(result.pods) > 1 and any(one.belongs_to for one in up.sources):
        found = tuple(together.together(result.setup.machine, up.sources, result.pods))
        result = result._replace(together=found)
    if slices is not None and objects is not None:
        request = _claims_request(slices, pods, up)
        held = claimed.claims_on(result.setup, result.pods, up.tried, objects, request)
        result = result._replace(claims=held)
    return result


def _kept(state: str, machine: str | None, kubelet: KubeletRequest) -> AbstractContextManager[KeptNode]:
    return node_state.kept_node(state, machine, kubelet, lambda: waiting(state))


def _admitted(
    here: Place,
    up: LoadedPods,
    pods: PodsRequest,
    since: SinceRequest,
    *,
    fit_check: bool,
    faces: Sequence[str],
    fail_on: FailOn,
) -> tuple[AdmitResult, Mapping[int, ExplainedPod]]:
    """Admit the pods, and explain those that were rejected or are not aligned where build servers are told."""
    terms = up.terms(pods, here.there)
    result = admit(
        here.on.setup,
        counted(up.tried, "pods"),
        terms,
        fit_check=fit_check,
        reasons=any(face in faces for face in ("document", "wide", "picture")),
        occupants="picture" in faces or "wide" in faces,
        impossible=fail_on == "impossible",
        since=since,
        keep=True,
    )
    if "checks" not in faces:
        return result, {}
    return result, problems.explain_problems(result, up.tried, terms, fit_check=fit_check, since=since)


def _since(since: SinceRequest, faces: Sequence[str]) -> tuple[str, ...]:
    """Say what happened to the pods there, in place of an answer about pods that come, where people read it."""
    if not {"document", "wide", "names"} & set(faces) or "picture" in faces:
        return ()
    return (*(f"{name} started" for name in since.started), *(f"{name} released" for name in since.without))
