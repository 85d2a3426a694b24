"""Puts the man pages into the wheel, made of the commands' own help, and the project's address into its metadata."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Makes the package's links of the one address that `numalign/version.py` has; none before there is one."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the links."""
        known: dict[str, str] = {}
        exec(Path(self.root, "numalign", "version.py").read_text(encoding="utf-8"), known)  # noqa: S102 (our own file)
        address = known["ADDRESS"]
        pages = {"Homepage": "", "Documentation": "/docs", "Changelog": "/changelog", "Source": "/source"}
        metadata["urls"] = {name: f"{address}{path}" for name, path in pages.items() if address}


class ManPages(BuildHookInterface):
    """Writes share/man/man1 of a wheel; an editable install runs from the checkout and needs none."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the pages before the wheel is put together."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from manual.man import pages

        self._folder = tempfile.TemporaryDirectory()
        for name, text in pages():
            path = Path(self._folder.name, name)
            path.write_text(text, encoding="utf-8")
            build_data["shared_data"][str(path)] = f"share/man/man1/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 (its signature)
        """Remove what was made for the wheel."""
        if version != "editable":
            self._folder.cleanup()
