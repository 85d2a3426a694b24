"""Recorded scenarios, as `replay` takes them."""
