"""Files in the folder of `--config-dir` go over a kubelet's configuration, in order; a locked folder is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from numalign.errors import HostError
from numalign.sources.node.kubelet_folder import kubelet_configuration, read_settings
from numalign.sources.tree.folder import FolderTree

COMMAND = {"config": "/etc/kubelet.yaml", "config-dir": "/etc/kubelet.d"}


@pytest.fixture
def node(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    write(tmp_path / "etc/kubelet.yaml", "topologyManagerPolicy: none\ncpuManagerPolicy: static")
    return tmp_path


def write(file: Path, fields: str) -> None:
    file.write_text(f"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{fields}\n")


def fields(node: Path) -> dict[str, object]:
    settings, _ = read_settings(FolderTree(str(node)), COMMAND, kubelet_configuration)
    assert settings is not None
    return dict(settings.fields)


def test_they_go_over_it_in_the_order_of_their_names_and_others_do_not(node: Path) -> None:
    folder = node / "etc/kubelet.d"
    folder.mkdir()
    write(folder / "20-last.conf", "topologyManagerPolicy: restricted")
    write(folder / "10-first.conf", "topologyManagerPolicy: best-effort\nmaxPods: 5")
    write(folder / "30-no.yaml", "maxPods: 7")

    found = fields(node)

    assert found == {"topologyManagerPolicy": "restricted", "cpuManagerPolicy": "static", "maxPods": 5}


def test_a_folder_that_is_not_there_changes_nothing(node: Path) -> None:
    assert fields(node) == {"topologyManagerPolicy": "none", "cpuManagerPolicy": "static"}


def test_a_locked_folder_is_told(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings may be others than those that can be read."""
    folder = node / "etc/kubelet.d"
    folder.mkdir()
    real = os.listdir

    def guarded(path: str) -> list[str]:
        if path == str(folder):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "listdir", guarded)
    with pytest.raises(HostError) as told:
        fields(node)

    assert str(told.value) == f"{node}: etc/kubelet.d: cannot be read: Permission denied"
