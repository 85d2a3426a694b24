"""Recorded scenarios and lists of hints, as `replay` and `compare --hints` take them."""
