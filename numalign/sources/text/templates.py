"""What a file is that could not be read because it is a template: of a Helm chart, or of Go otherwise."""

from __future__ import annotations

import os
from typing import Final

from numalign.errors import InputError

_MAX_CLIMB: Final = 8
"""How many folders up the chart of a template is looked for."""
_MAX_LOOK: Final = 1 << 20
"""How much of a file is looked at for signs of a template, in bytes."""


class SourceError(InputError):
    """A file is no manifest, but what Helm, kustomize or another tool makes manifests of."""


def explained(error: InputError, file: str) -> InputError:
    """Say what a file is that could not be read because it is a template of manifests; else give the error back."""
    if file == "-" or not _is_go_template(file):
        return error
    chart = _chart_of(file)
    if chart is None:
        return SourceError(f"a Go template, not a manifest ({error.message}): render it first", error.where)
    return SourceError(
        f"a Helm template, not a manifest: render its chart with `helm template {chart} > FILE` first", file
    )


def _is_go_template(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return b"{{" in opened.read(_MAX_LOOK)
    except (OSError, ValueError):
        return False


def _chart_of(file: str) -> str | None:
    folder = os.path.dirname(os.path.abspath(file))
    for _ in range(_MAX_CLIMB):
        if os.path.isfile(os.path.join(folder, "Chart.yaml")):
            return os.path.relpath(folder) if not os.path.relpath(folder).startswith("..") else folder
        folder = os.path.dirname(folder)
    return "CHART" if f"{os.sep}templates{os.sep}" in os.path.abspath(file) else None
