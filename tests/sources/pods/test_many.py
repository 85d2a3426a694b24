"""Very many pods in one file: equal parts of them are one value, and of their documents only the places stay."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

from numalign.sources.pods import manifest
from numalign.sources.text.yaml import load_documents
from tests.cli.running import PODS

POD = """apiVersion: v1
kind: Pod
metadata: {name: p%d}
spec: {containers: [{name: c, image: i, resources: {limits: {cpu: '1', memory: 64Mi}}}]}
"""
NUMBER = 800
BYTES = 1_200
"""A pod costs about 900 in the end; each as a tree of its own would take 3,000."""


def test_what_stays_of_very_many_pods_is_little(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text("---\n".join(POD % number for number in range(NUMBER)))
    manifest.read_pods([PODS / "burstable.yaml"])  # what is imported and made once does not count
    tracemalloc.start()
    try:
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        read = manifest.read_pods([file])
        gc.collect()
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert len(read.pods) == NUMBER
    assert used / NUMBER < BYTES
    assert [source.origin for source in read.sources[:2]] == [f"{file}:1", f"{file}:6"]


ALIKE = {
    "a number, a truth and a text": ["a: 1", "a: true", "a: '1'", "a: 1.0", "a: 0", "a: false", "a: null"],
    "lists and mappings": ["[]", "{}", "a: []", "a: {}", "[1]", "{1: 2}", "['1']"],
    "keys in another order": ["{a: 1, b: 2}", "{b: 2, a: 1}"],
    "nested alike": ["a: {b: [1, {c: d}]}", "a: {b: [true, {c: d}]}", "a: {b: [1, {c: d}]}", "x: {b: [1, {c: d}]}"],
    "aliases and merges": ["a: &x {b: 1}\nc: *x", "a: &x {b: 1}\nc: {<<: *x, d: 2}", "a: {b: 1}"],
    "long texts": [f"a: {'x' * 100}", f"a: {'x' * 100}"],
    "long lists": [f"a: {list(range(40))}", f"a: {list(range(40))}"],
}


@pytest.mark.parametrize("case", ALIKE)
def test_documents_that_share_parts_say_what_each_says_alone(case: str) -> None:
    texts = ALIKE[case] * 3
    alone = [load_documents(text, "f")[0].data for text in texts]

    together = [document.data for document in load_documents("\n---\n".join(texts), "f")]

    assert repr(together) == repr(alone)


def test_equal_specs_are_one_value() -> None:
    first, second, third = load_documents("---\n".join(POD % number for number in range(3)), "f")

    assert second.data["spec"] is third.data["spec"]
    assert first.data == {**second.data, "metadata": {"name": "p0"}}
