"""Claims, templates, classes and slices from files: what people wrote, or `kubectl get … -A -o json|yaml`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Final, TypeVar

from numalign.dra import reading
from numalign.dra.api_forms import Reader
from numalign.dra.claim_objects import ClaimObjects, Placed
from numalign.dra.values import DeviceClass, Node, Slice, TaintRule
from numalign.errors import InputError
from numalign.sources.cluster.stream import HEAD_BYTES, Item, Rejoined, is_json, items
from numalign.sources.pods.files import documents_of, readable_documents
from numalign.sources.pods.pod_objects import Carrier, Thing, carriers_of, things_of
from numalign.sources.text import Found, inside, mapping
from numalign.sources.text.yaml import MAX_INPUT, Document, FilePath, iter_documents, shown_name
from numalign.store.reading import reading as opened
from numalign.values import NamedTuple

T = TypeVar("T")

_GROUP: Final = "resource.k8s.io/"
_VERSIONS: Final = ("v1", "v1beta2", "v1beta1")
_KINDS: Final = ("ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "DeviceTaintRule")


class Given(NamedTuple):
    """What files hold of claims, and beside them."""

    objects: ClaimObjects
    carriers: tuple[Carrier, ...]
    """Pods, and objects with a pod template."""
    others: int
    """Objects that are none of these."""


class _Collected:
    """Collects objects of several files; one that is there twice is an error.

    With `apart` it is one only within a file.
    """

    def __init__(self, *, apart: bool) -> None:
        self._apart = apart
        self.again: dict[tuple[str, tuple[str, str]], tuple[Placed, ...]] = {}
        self.slices: list[Slice] = []
        self.classes: dict[str, DeviceClass] = {}
        self.claims: dict[tuple[str, str], Placed] = {}
        self.templates: dict[tuple[str, str], Placed] = {}
        self.nodes: list[Node] = []
        self.taint_rules: list[TaintRule] = []
        self.carriers: list[Carrier] = []
        self.others = 0

    def add(self, thing: Thing, *, pods: bool) -> None:
        """Read an object, if it is one of ours."""
        kind = thing.kind
        version = str(inside(thing.data, "apiVersion") or "")
        if version.startswith(_GROUP) or kind in _KINDS:
            self._add_resource(thing, kind, version.removeprefix(_GROUP))
        elif kind == "Node" and version in ("v1", ""):
            self.nodes.append(_read(thing, reading.read_node))
        else:
            carriers = carriers_of(thing, check=True) if pods else []
            self.carriers += carriers
            self.others += not carriers

    def _add_resource(self, thing: Thing, kind: str, version: str) -> None:
        if kind == "DeviceTaintRule":
            self.taint_rules.append(_read(thing, reading.read_taint_rule))
            return
        if version and version not in _VERSIONS:
            raise thing.document.error(
                f"{kind} of resource.k8s.io/{version}: expected one of {', '.join(_VERSIONS)}"
                "; fix: kubectl get KIND.v1.resource.k8s.io",
                f"{thing.path}.apiVersion".lstrip("."),
            )
        if kind == "ResourceSlice":
            self.slices.append(_read(thing, reading.read_slice))
        elif kind == "DeviceClass":
            class_ = _read(thing, reading.read_class)
            if class_.name in self.classes and not (self._apart and class_ == self.classes[class_.name]):
                raise thing.document.error(f"duplicate DeviceClass {class_.name}; fix: remove one", thing.path)
            self.classes[class_.name] = class_
        elif kind in ("ResourceClaim", "ResourceClaimTemplate"):
            is_claim = kind == "ResourceClaim"
            claim = _read(thing, reading.read_claim if is_claim else reading.read_template)
            known = self.claims if is_claim else self.templates
            key = (claim.namespace or "default", claim.name)
            metadata, of_spec = mapping(thing.data, "metadata"), mapping(thing.data, "spec", "metadata")
            annotations = {**mapping(of_spec, "annotations"), **mapping(metadata, "annotations")}
            placed = Placed(claim, f"{thing.document.name}:{thing.document.line(thing.path)}", annotations)
            if key not in known:
                known[key] = placed
                return
            further = self.again.get((kind, key), ())
            if not self._apart or any(one.file == placed.file for one in (known[key], *further)):
                raise thing.document.error(f"the {kind} {key[0]}/{key[1]} is also at {known[key].origin}", thing.path)
            self.again[kind, key] = (*further, placed)
        else:
            self.others += 1


def _read(thing: Thing, read: Reader[T]) -> T:
    """Read an object; what is wrong with it is told with its line."""
    try:
        return read(thing.data, thing.path)
    except InputError as error:
        raise thing.document.error(error.message, error.where) from None


def read_objects(names: Iterable[FilePath], *, pods: bool) -> Given:
    """Read files, folders and `-`: a file given twice once, and claims of one name by file (`ClaimObjects.near`).

    Args:
        names: the inputs.
        pods: read pods and templates of pods too; else they are counted among the others.

    Raises:
        InputError: an input cannot be read, or an object in it is wrong; `where` has file, line and field.
    """
    broken: list[InputError] = []
    found = _collected(_each_once(names, documents_of), pods=pods, broken=broken)
    for error in broken:
        raise error
    return found


def objects_of(documents: Iterable[Document]) -> ClaimObjects:
    """Take the objects of documents that were read already, without pods.

    Raises:
        InputError: an object is wrong; `where` has file, line and field.
    """
    return _collected(documents, pods=False).objects


def read_beside_pods(
    names: Iterable[FilePath], broken: list[InputError] | None, documents: Iterable[Document]
) -> ClaimObjects:
    """Read the files and folders that pods were read from: what cannot be read in them was said with the pods.

    Args:
        names: the inputs.
        broken: takes what is wrong with an object, which is left out then, and files may have claims of the same name
            (`ClaimObjects.near`); None: it is raised.
        documents: those of standard input.

    Raises:
        InputError: an object in them is wrong; `where` has file, line and field.
    """
    files = _each_once((name for name in names if str(name) != "-"), readable_documents)
    return _collected(chain(files, documents), pods=False, broken=broken).objects


def _each_once(names: Iterable[FilePath], documents: Callable[[FilePath], Iterator[Document]]) -> Iterator[Document]:
    """Return the documents of files; a file given once more, itself or in a folder, is passed over."""
    seen: set[str] = set()
    for name in names:
        here = set()
        for document in documents(name):
            file = os.path.realpath(document.name)
            if file not in seen:
                here.add(file)
                yield document
        seen |= here


def _collected(documents: Iterable[Document], *, pods: bool, broken: list[InputError] | None = None) -> Given:
    found = _Collected(apart=broken is not None)
    for document in documents:
        for thing in things_of(document):
            try:
                found.add(thing, pods=pods)
            except InputError as error:
                if broken is None:
                    raise
                broken.append(error)
    objects = ClaimObjects(
        slices=tuple(found.slices),
        classes=found.classes,
        claims=found.claims,
        templates=found.templates,
        nodes=tuple(found.nodes),
        again=found.again,
        taint_rules=tuple(found.taint_rules),
    )
    return Given(objects, tuple(found.carriers), found.others)


def read_slices(name: FilePath, beside: Iterable[FilePath] = ()) -> ClaimObjects:
    """Read a dump of a cluster, or what `numalign dra slices` printed; of JSON only an item at a time is held.

    Args:
        name: the dump.
        beside: the inputs that pods and claims are read from.

    Raises:
        InputError: as `read_objects`, there is no ResourceSlice in it, or standard input is asked for twice.
    """
    if str(name) == "-" and "-" in map(str, beside):
        text = "standard input is read once; fix: name a file for the slices, or for the pods and claims"
        raise InputError(text, "--slices -")
    shown = shown_name(name)
    if os.path.isdir(name):
        found = objects_of(documents_of(name))
    else:
        with opened(name, shown) as file:
            head = file.read(HEAD_BYTES)
            if is_json(head):
                found = objects_of(_Item(shown, one) for one in items(Rejoined(head, file), shown))
            else:
                found = objects_of(iter_documents(head + file.read(MAX_INPUT + 1), shown))
    if not found.slices:
        message = "no ResourceSlice found; fix: kubectl get resourceslices,deviceclasses -A -o json"
        raise InputError(message, shown)
    return found


class _Item(Document):
    """An item of a dump: what is in it is told with the line where it begins."""

    def __init__(self, name: str, item: Item) -> None:
        data = item.data
        if item.list_kind.endswith("List") and isinstance(data, dict):
            data.setdefault("kind", item.list_kind.removesuffix("List"))
        super().__init__(name, Found(data, item.line, "", item.line), is_json=True)

    def _places(self, wanted: Collection[str] | None) -> Iterator[tuple[str, int]]:  # noqa: ARG002 (there are none)
        return iter(())
