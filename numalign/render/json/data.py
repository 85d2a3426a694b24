"""Plain data: what `json.dumps` and `yaml.dump` take."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]
"""An object of JSON; docs/json.md describes each."""
