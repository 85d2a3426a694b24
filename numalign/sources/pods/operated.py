"""Objects whose pods have containers that are not in the file: their operator makes them, and they are worked out here.

KServe's InferenceService names a model, from which comes the container that serves it; Strimzi's Kafka and its kin have
`resources` for each container; Knative adds `queue-proxy` to the pod of a service; the services of a Dynamo graph have
resources under names of their own. All of it approximately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from numalign.model.path import child
from numalign.sources.pods.counts import count, nodes_of
from numalign.sources.pods.roles import Fields
from numalign.sources.pods.shapes import PLACING_FIELDS, Place, Template
from numalign.sources.text import inside, listed, mapping

_KSERVE_PARTS: Final = ("predictor", "transformer", "explainer")
_MODELS: Final = (
    *("model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml", "lightgbm"),
    *("paddle", "art"),
)
"""Fields of a part of an InferenceService that name what it serves, in place of containers."""
_KSERVE_DEFAULTS: Final = {"cpu": "1", "memory": "2Gi"}
"""What KServe sets as request and limit where a model names none, unless its own configuration says otherwise."""
_STRIMZI_SETS: Final = ("KafkaNodePool", "KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaBridge")
_STRIMZI_HELPERS: Final[Mapping[str, tuple[str, ...]]] = {
    "entityOperator": ("topicOperator", "userOperator"),
    "cruiseControl": ("",),
    "kafkaExporter": ("",),
}
"""Parts of a Kafka with one pod each -> the fields inside that have the resources of its containers."""
_MAX_DEPTH: Final = 60
"""How deep `resources` are looked for."""
_QUEUE: Final = "queue-proxy"
_QUEUE_KEYS: Final = "queue.sidecar.serving.knative.dev/"
_QUEUE_CPU: Final = "25m"
"""What Knative has `queue-proxy` ask for by default."""


def templates_of(thing: Fields, kind: str, path: str, others: Callable[[], Iterable[Template]]) -> Iterator[Template]:
    """Yield the pod templates of an object, with what its operator adds.

    Args:
        thing: the object.
        kind: what it is.
        path: where it stands in its document.
        others: finds the templates that stand in the object; asked at most once.

    Raises:
        CountError: a count is no whole number.
    """
    group = str(thing.get("apiVersion")).partition("/")[0]
    spec, place = thing.get("spec"), child(path, "spec")
    if not isinstance(spec, Mapping):
        yield from others()
    elif group == "serving.kserve.io" and kind == "InferenceService":
        made = list(_inference_service(spec, place))
        yield from made
        yield from (one for one in others() if one.path not in {each.path for each in made})
    elif group == "kafka.strimzi.io":
        if kind == "Kafka":
            yield from _kafka(spec, place)
        elif kind in _STRIMZI_SETS:
            yield _by_strimzi(place, "", spec, kind.lower(), kind)
    elif group == "nvidia.com" and kind == "DynamoGraphDeployment" and isinstance(spec.get("services"), Mapping):
        yield from _dynamo(spec["services"], child(place, "services"))
    elif group == "serving.knative.dev":
        yield from (_with_queue_proxy(one, kind) for one in others())
    else:
        yield from others()


def _inference_service(spec: Fields, place: str) -> Iterator[Template]:
    """Make the pods whose container serves a model."""
    for role in _KSERVE_PARTS:
        part = mapping(spec, role)
        model = next((name for name in _MODELS if isinstance(inside(part, name), Mapping)), "")
        if not model:
            continue
        there = child(place, role)
        asked = _resources(part[model])
        resources = {each: {**_KSERVE_DEFAULTS, **asked.get(each, {})} for each in ("requests", "limits")}
        sidecars = listed(part, "containers")
        yield _made(
            there,
            role,
            [{"name": "kserve-container", "resources": resources}, *sidecars],
            wanted=count(part, "minReplicas", there) or 1,
            inside=[f"{model}.resources", *(f"containers[{index}]" for index in range(len(sidecars)))],
            fields={name: part[name] for name in PLACING_FIELDS if part.get(name) is not None},
            said="InferenceService: tested as KServe's pod; Knative adds queue-proxy, which makes the pod Burstable",
        )


def _kafka(spec: Fields, place: str) -> Iterator[Template]:
    """Make the pods of a Kafka; brokers without a count are those of its node pools."""
    for role in ("kafka", "zookeeper"):
        part = spec.get(role)
        if isinstance(part, Mapping) and part.get("replicas") is not None:
            yield _by_strimzi(child(place, role), role, part, role, "Kafka")
    for field, parts in _STRIMZI_HELPERS.items():
        part = spec.get(field)
        if not isinstance(part, Mapping):
            continue
        names = [name for name in parts if not name or isinstance(part.get(name), Mapping)]
        containers = [
            {"name": (name or field).lower(), "resources": _resources(part[name] if name else part)} for name in names
        ]
        if containers:
            paths = [f"{name}.resources".lstrip(".") for name in names]
            yield _made(child(place, field), field.lower(), containers, inside=paths, said=_strimzi("Kafka"))


def _by_strimzi(place: str, role: str, part: Fields, name: str, kind: str) -> Template:
    container = {"name": name, "resources": _resources(part)}
    wanted = count(part, "replicas", place)
    return _made(place, role, [container], wanted=wanted, inside=["resources"], said=_strimzi(kind))


def _strimzi(kind: str) -> str:
    return f"{kind}: tested as the pods that Strimzi creates"


def _dynamo(services: Fields, place: str) -> Iterator[Template]:
    """Make the pods of a Dynamo graph of v1alpha1; those of v1beta1 have pod templates."""
    for name, service in services.items():
        if not isinstance(service, Mapping):
            continue
        there = child(place, name)
        extra = mapping(service, "extraPodSpec")
        container = {"name": "main", **mapping(extra, "mainContainer")}
        own, more = _resources(service), _resources(container)
        asked = {
            which: {**_dynamo_amounts(own.get(which, {})), **more.get(which, {})} for which in ("requests", "limits")
        }
        containers = [{**container, "resources": asked}, *(extra.get("containers") or ())]
        yield _made(
            there,
            str(name).lower(),
            containers,
            wanted=count(service, "replicas", there) * nodes_of(service, there),
            inside=["resources"],
            fields={key: one for key, one in extra.items() if key not in ("mainContainer", "containers")},
            said="DynamoGraphDeployment: tested as the pods that Dynamo's operator creates",
        )


def _dynamo_amounts(item: Fields) -> dict[str, object]:
    """Spell what a service asks for as a container does: `gpu` is the device of `gpuType`."""
    own = {name: item[name] for name in ("cpu", "memory") if item.get(name) is not None}
    amounts = {**mapping(item, "custom"), **own}
    if item.get("gpu") is not None:
        amounts[str(item.get("gpuType") or "nvidia.com/gpu")] = item["gpu"]
    return amounts


def _with_queue_proxy(template: Template, kind: str) -> Template:
    """Add the container that Knative puts beside those of a service; annotations may set what it asks for."""
    containers = inside(template.manifest, "spec", "containers")
    if not isinstance(containers, list) or template.places:
        return template
    said = mapping(template.manifest, "metadata", "annotations")
    resources: dict[str, dict[str, object]] = {"requests": {"cpu": _QUEUE_CPU}, "limits": {}}
    for which, values in resources.items():
        for name in ("cpu", "memory"):
            given = said.get(f"{_QUEUE_KEYS}{name}-resource-{which.removesuffix('s')}")
            if isinstance(given, str):
                values[name] = given
    named = [_named(container, index) for index, container in enumerate(containers)]
    proxy = {"name": _QUEUE, "resources": resources}
    return template._replace(
        manifest={**template.manifest, "spec": {**template.manifest["spec"], "containers": [*named, proxy]}},
        places=(
            Place(f"spec.containers[{len(containers)}]", template.path, exact=False),
            Place("", template.path),
        ),
        approximation=f"{kind} of Knative: tested with container {_QUEUE}, which Knative adds",
    )


def _named(container: object, index: int) -> object:
    """Name a container as Knative does where nobody named it."""
    if not isinstance(container, Mapping) or container.get("name") is not None:
        return container
    return {**container, "name": "user-container" if not index else f"user-container-{index}"}


def _made(
    place: str,
    role: str,
    containers: Sequence[object],
    *,
    inside: Sequence[str],
    said: str,
    wanted: int = 1,
    fields: Fields | None = None,
) -> Template:
    """Put a template together; `inside` are the places of what each container asks for, below the part's own."""
    places = [
        Place(f"spec.containers[{index}].resources", f"{place}.{path}")
        if path.endswith("resources")
        else Place(f"spec.containers[{index}]", f"{place}.{path}")
        for index, path in enumerate(inside)
    ]
    return Template(
        path=place,
        manifest={"spec": {"containers": containers, **(fields or {})}},
        role=role,
        wanted=wanted,
        places=(*places, Place("spec", place), Place("", place, exact=False)),
        approximation=said,
    )


def _resources(part: Fields) -> Mapping[str, Fields]:
    """Return the requests and limits that stand in a part."""
    asked = mapping(part, "resources")
    return {which: asked[which] for which in ("requests", "limits") if isinstance(asked.get(which), Mapping)}


def makes_pods(thing: object) -> bool:
    """Tell whether an object of a custom kind says what containers ask for, although none is in it.

    Its operator makes the pods, out of `resources` that stand somewhere in it.
    """
    group = str(inside(thing, "apiVersion")).partition("/")[0]
    if not isinstance(thing, Mapping) or "." not in group or group.endswith(".k8s.io"):
        return False
    pending: list[tuple[object, int]] = [(thing.get("spec"), 0)]
    while pending:
        value, depth = pending.pop()
        if isinstance(value, Mapping):
            asked = [name for amounts in _resources(value).values() for name in amounts]
            if any(name in ("cpu", "memory") or "/" in str(name) for name in asked):
                return True
        if depth < _MAX_DEPTH:
            inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
            pending += [(item, depth + 1) for item in inner]
    return False
