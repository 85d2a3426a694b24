"""A corpus of files such as people keep: which pods are in each, with role and count, or what is said of it.

The answers stand in `tests/corpus/pods/answers.json`; NUMALIGN_UPDATE_GOLDEN=1 writes them anew, to be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.model.quantity import canonical
from numalign.sources.pods.manifest import read_pods
from numalign.sources.pods.template_pods import Copies
from tests.corpus import Corpus

CORPUS = Corpus("pods")


def answer(name: str) -> dict[str, Any]:
    """Say what is found in a file, or what is wrong with it."""
    try:
        given = read_pods([name])
    except InputError as error:
        return {"error": str(error)}
    return {
        "pods": [
            {
                "kind": source.kind,
                "pod": source.pod.name,
                "role": source.template.role,
                "wanted": source.template.wanted,
                "at": source.origin.rpartition(":")[2] + " " + source.template.path,
                "asks": [
                    {resource: canonical(amount) for resource, amount in container.limits.items()}
                    for container in source.pod.containers
                ],
            }
            for source in given.sources
        ],
        "notes": [f"{notice.code}: {notice.message}" for notice in given.notices],
    }


@pytest.mark.parametrize("name", CORPUS.files)
def test_every_file_is_read_as_its_answer_says(name: str) -> None:
    CORPUS.judge(name, answer)


def test_no_answer_is_left_over() -> None:
    assert sorted(CORPUS.known) == CORPUS.files


def test_a_gang_has_every_pod_that_is_asked_for() -> None:
    pods = read_pods([CORPUS.folder / "leader-worker-set.yaml"], Copies(gang=True)).pods

    assert [pod.name for pod in pods] == [
        *["serve-leader-0", "serve-leader-1"],
        *[f"serve-worker-{number}" for number in range(6)],
    ]


def test_the_whole_folder_is_read_and_what_is_broken_is_named() -> None:
    """One broken file spoils no other; each is named once, with what is wrong."""
    given = read_pods([CORPUS.folder], unique=False)
    alone = [name for name in CORPUS.files if "error" not in answer(str(CORPUS.folder / name))]

    assert {Path(source.document.name).name for source in given.sources} == set(alone)
    broken = {Path(error.where.partition(":")[0]).name for error in given.broken}
    assert "go-template.yaml" in broken
    assert not broken & set(alone)
