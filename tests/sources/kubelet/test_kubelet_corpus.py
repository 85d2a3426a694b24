"""A corpus of files in which people keep a kubelet's settings: what is read of each, or what is said of it.

The answers stand in `tests/corpus/kubelet/answers.json`; NUMALIGN_UPDATE_GOLDEN=1 writes them anew, to be read.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from numalign.analysis.config.system import Facts
from numalign.errors import NumalignError
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig
from numalign.sources.kubelet.configuration import load
from tests.corpus import Corpus

CORPUS = Corpus("kubelet")
MACHINE = Facts(cpus=96, memory=512 << 30)


def answer(name: str) -> dict[str, Any]:
    """Say what is read of a file, in the kubelet's own words, or what is wrong with it."""
    try:
        loaded = load(name, facts=MACHINE)
    except NumalignError as error:
        return {"error": str(error)}
    defaults = KubeletConfig()._asdict()
    settings = {
        FIELD_NAMES[field]: json.loads(json.dumps(value))
        for field, value in loaded.config._asdict().items()
        if value != defaults[field]
    }
    told = (*loaded.warnings, *(loaded.ground.notices(name) if loaded.ground else ()))
    return {"settings": settings, "warnings": [f"{one.code}: {one.path}: {one.message}" for one in told]}


@pytest.mark.parametrize("name", CORPUS.files)
def test_every_file_is_read_as_its_answer_says(name: str) -> None:
    CORPUS.judge(name, answer)


def test_no_answer_is_left_over() -> None:
    assert sorted(CORPUS.known) == CORPUS.files
