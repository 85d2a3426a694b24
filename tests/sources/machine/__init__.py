"""Tests of `numalign/sources/machine`."""
