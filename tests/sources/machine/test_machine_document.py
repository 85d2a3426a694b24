"""docs/machines.md: example files can be read, what it calls an error is one in these words, no key is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.sources.machine import regular as machine_regular
from numalign.sources.machine.dump import dump
from numalign.sources.machine.file import MACHINE
from numalign.sources.machine.loading import load_machine
from tests.schemas import SCHEMAS, keys, validator

DOCUMENT = (Path(__file__).parents[3] / "docs" / "machines.md").read_text(encoding="utf-8")
# What is below `hardware` is written by `discover`, and by nobody else.
KNOWN = keys({**SCHEMAS["machine"], "properties": {**SCHEMAS["machine"]["properties"], "hardware": {}}}) - {"timeAdded"}
FILES = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, re.M | re.S)


@pytest.mark.parametrize("text", FILES, ids=lambda text: text.split("\n", 1)[0][:60])
def test_an_example_file_is_what_the_document_says(text: str, tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text(text, encoding="utf-8")
    wrong = re.match(r"# error: (.*)\n", text)
    if wrong:
        with pytest.raises(InputError) as caught:
            load_machine(str(file))
        assert str(caught.value).endswith(f": {wrong[1]}")
        return
    loaded = load_machine(str(file))
    validator("machine").validate(dump(loaded.machine))
    assert not loaded.warnings


def test_both_ways_to_write_huge_pages_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    machines = []
    for text in FILES:
        if text.startswith("numaNodes: [{id: 0") and "hugepages" in text:
            file.write_text(text, encoding="utf-8")
            machines.append(load_machine(str(file)).machine)
    assert len(machines) == 2
    assert machines[0] == machines[1]


@pytest.mark.parametrize("key", sorted({*MACHINE.schema["properties"], *machine_regular.KEYS, *KNOWN}))
def test_every_key_is_explained(key: str) -> None:
    assert re.search(rf"`(numaNodes\[\]\.)?{key}:?`|\b{key}: |\{{id, {key}\}}", DOCUMENT)
