"""Tests of `numalign/sources/host`."""
