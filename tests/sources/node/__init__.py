"""Tests of `numalign/sources/node`."""
