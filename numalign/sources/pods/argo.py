"""Workflows of Argo -> the pods of their steps: a template with `container` or `script` is one pod."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from numalign.sources.pods.roles import Fields, Step, role_of
from numalign.sources.pods.shapes import STEP_FIELDS, Place, Template
from numalign.sources.text import inside, listed, mapping

_GROUP: Final = "argoproj.io/"


Reader = Callable[[Fields, str, str], Iterator[Template]]
"""Yields the templates of an object: (object, kind, path)."""


def templates_of(thing: Fields, path: str, inner: Reader) -> Iterator[Template]:
    """Yield the pods of a workflow's steps; nothing for objects that are no workflow.

    Args:
        thing: the object.
        path: where it stands in its document.
        inner: reads objects that a step creates.
    """
    if _GROUP not in str(thing.get("apiVersion")):
        return
    spec, place = mapping(thing, "spec"), f"{path}.spec" if path else "spec"
    if isinstance(spec.get("workflowSpec"), Mapping):
        spec, place = spec["workflowSpec"], f"{place}.workflowSpec"
    for number, step in enumerate(listed(spec, "templates")):
        if isinstance(step, Mapping):
            yield from _step(step, spec, f"{place}.templates[{number}]", number)
            yield from _created(step, f"{place}.templates[{number}]", number, inner)


def _step(step: Fields, workflow: Fields, place: str, number: int) -> Iterator[Template]:
    main = next((field for field in ("container", "script") if isinstance(step.get(field), Mapping)), None)
    if main is None:
        return
    sidecars = [one for one in step.get("sidecars") or () if isinstance(one, Mapping)]
    spec: dict[str, object] = {
        "containers": [{**step[main], "name": "main"}, *sidecars],
        **{field: given[field] for field in STEP_FIELDS for given in (workflow, step) if given.get(field) is not None},
    }
    if isinstance(step.get("initContainers"), list):
        spec["initContainers"] = step["initContainers"]
    metadata = step.get("metadata")
    yield Template(
        path=place,
        manifest={"metadata": metadata, "spec": spec} if isinstance(metadata, Mapping) else {"spec": spec},
        role=role_of([Step(number, step)]),
        places=(
            Place("spec.containers[0]", f"{place}.{main}"),
            *(Place(f"spec.containers[{index + 1}]", f"{place}.sidecars[{index}]") for index in range(len(sidecars))),
            Place("spec", place),
        ),
    )


def _created(step: Fields, place: str, number: int, inner: Reader) -> Iterator[Template]:
    """Yield the pods of an object that a step creates from a manifest in its text."""
    text = inside(step, "resource", "manifest")
    if not isinstance(text, str):
        return
    from numalign.sources.text.yaml import load_documents

    for document in load_documents(text, place):
        if isinstance(document.data, Mapping):
            for template in inner(document.data, str(document.data.get("kind")), ""):
                role = "-".join(filter(None, (role_of([Step(number, step)]), template.role)))
                whole = Place("", f"{place}.resource.manifest", exact=False)
                yield template._replace(path=whole.outside, role=role, places=(whole,))
