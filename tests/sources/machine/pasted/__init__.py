"""Tests of `sources/machine/pasted`."""
