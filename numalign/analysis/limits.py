"""How much of what can grow without bound is worked out and shown."""

from __future__ import annotations

MAX_COMBINATIONS_SHOWN = 64
"""Combinations of hints."""

MAX_ALLOCATIONS_SHOWN = 100
"""Aligned allocations."""
