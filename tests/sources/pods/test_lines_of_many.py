"""The lines of very many pods: a text is read a bounded number of times, however many pods and findings are in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.sources.text import places
from numalign.tasks.lint import lint
from numalign.tasks.loaded_pods import load_pods
from numalign.tasks.requests import PodsRequest

COUNT = 40
POD = """\
- apiVersion: v1
  kind: Pod
  metadata: {name: web-%d}
  spec:
    containers:
    - name: app
      image: x
      resources:
        limits: {cpu: 3, memory: 1Gi}
"""


def as_documents() -> str:
    return "".join("---\n" + "".join(f"{line[2:]}\n" for line in (POD % i).splitlines()) for i in range(COUNT))


def as_list() -> str:
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(POD % i for i in range(COUNT))


@pytest.mark.parametrize("text", [as_documents(), as_list()], ids=["documents", "a list"])
def test_a_text_is_read_once_for_all_lines(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pods.yaml"
    path.write_text(text)
    up = load_pods(PodsRequest((str(path),)))
    read: list[int] = []
    really = places.yaml_places

    def watched(text: str, *more: Any) -> Iterator[places.Place]:
        read.append(len(text))
        return really(text, *more)

    monkeypatch.setattr(places, "yaml_places", watched)
    found = lint(up.sources)

    lines = text.splitlines()
    assert len(found.pods) == COUNT
    assert all(f"web-{i}" in "".join(lines[pod.line - 1 : pod.line + 3]) for i, pod in enumerate(found.pods))
    assert all(line > pod.line for pod in found.pods for line in pod.lines)
    assert any(pod.lines for pod in found.pods)
    assert sum(read) <= len(text)
    assert [line for _, (line,) in up.places([()] * COUNT)] == [pod.line for pod in found.pods]


def test_more_containers_than_an_api_server_takes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text("kind: Pod\nmetadata: {name: a}\nspec:\n  containers: [" + "{}, " * 5001 + "]\n")
    with pytest.raises(InputError, match=r"spec\.containers: has 5,001 entries; numalign reads at most 5,000"):
        load_pods(PodsRequest((str(path),)))
