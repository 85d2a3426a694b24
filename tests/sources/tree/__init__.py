"""Tests of `numalign/sources/tree`."""
