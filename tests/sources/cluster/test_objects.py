"""NodeResourceTopology objects as other projects print them (objects/README.md): read, with their oddities named."""

from __future__ import annotations

from pathlib import Path

import pytest

from numalign.kubelet import admission
from numalign.kubelet.setup import Setup
from numalign.model.path import FieldError
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.machine import machine_of
from numalign.scheduler.nrt.occupied import occupied
from numalign.scheduler.nrt.value import manifest
from numalign.sources.cluster import nrt
from numalign.sources.cluster.nrt import ReadNRT
from numalign.sources.text.yaml import load_file

OBJECTS = Path(__file__).parent / "objects"


def objects(file: str) -> list[ReadNRT]:
    found = []
    for document in load_file(OBJECTS / file):
        things = document.data["items"] if document.data["kind"] == "List" else [document.data]
        found += [nrt.read_nrt(thing) for thing in things]
    return found


EVERY = [(path.name, place) for path in sorted(OBJECTS.glob("*.yaml")) for place in range(len(objects(path.name)))]


@pytest.mark.parametrize(
    ("file", "codes"),
    [
        ("fake-gpu-operator-kwok-numa-0.yaml", set()),
        ("koordinator-proposal-annotations.yaml", {"nrt-no-costs"}),
        ("nfd-docs-node1-v1alpha1.yaml", {"nrt-no-costs"}),
        ("nrt-api-crd-instance-example.yaml", {"nrt-no-costs", "nrt-policy-unknown"}),
        ("openshift-docs-real-two-workers-list.yaml", {"nrt-version"}),
        ("scheduler-plugins-readme-numa-node-names.yaml", {"nrt-name", "nrt-zone-name", "nrt-no-costs"}),
        ("scheduler-plugins-worker-node-A.yaml", {"nrt-no-costs"}),
        ("scheduler-plugins-worker-node-B.yaml", {"nrt-no-costs"}),
    ],
)
def test_what_is_odd_about_it_is_named(file: str, codes: set[str]) -> None:
    for found in objects(file):
        assert {notice.code for notice in found.notices} == codes


@pytest.mark.parametrize(("file", "place"), EVERY)
def test_a_kubelet_starts_on_its_machine_with_the_free_amounts_that_it_says(file: str, place: int) -> None:
    found = objects(file)[place].nrt
    assumed = machine_of(found)
    session = admission.open_session(Setup(assumed.machine, assumed.config, "ideal"), fit_check=False)
    session = session._replace(state=occupied(session.node, assumed.used))
    again = export(session, found.name, ExportOptions(fingerprint=False))
    for mine, theirs in zip(again.zones, found.zones, strict=True):
        for name, resource in theirs.resources.items():
            assert mine.resources[name].available == resource.available, (theirs.name, name)
            assert mine.resources[name].allocatable == resource.allocatable, (theirs.name, name)


@pytest.mark.parametrize(("file", "place"), EVERY)
def test_a_manifest_reads_back_as_the_same_object(file: str, place: int) -> None:
    found = objects(file)[place].nrt
    assert nrt.read_nrt(manifest(found)).nrt == found


ZONE = {"name": "node-0", "type": "Node"}


@pytest.mark.parametrize(
    ("thing", "path", "said"),
    [
        pytest.param({}, ("metadata", "name"), "expected the node's name, got null", id="no name"),
        pytest.param({"metadata": {"name": "n"}}, ("zones",), "expected the list of zones, got null", id="no zones"),
        pytest.param(
            {"metadata": {"name": "n"}, "zones": [ZONE, ZONE]},
            ("zones",),
            "duplicate 'node-0', see zones[0]",
            id="twice",
        ),
        pytest.param(
            {"metadata": {"name": "n"}, "zones": [{**ZONE, "resources": [{"name": "cpu", "available": "lots"}]}]},
            ("zones", 0, "resources", 0, "available"),
            'expected a quantity, got "lots"',
            id="no quantity",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(thing: dict[str, object], path: tuple[object, ...], said: str) -> None:
    with pytest.raises(FieldError) as refused:
        nrt.read_nrt(thing)
    assert (refused.value.path, refused.value.message) == (path, said)


def test_an_attribute_that_is_a_number_is_read_as_text() -> None:
    thing = {"metadata": {"name": "n"}, "zones": [ZONE], "attributes": [{"name": "a", "value": 16}]}
    assert nrt.read_nrt(thing).nrt.attributes == (("a", "16"),)
