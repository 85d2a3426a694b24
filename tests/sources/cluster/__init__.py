"""Tests of `numalign/sources/cluster`."""
