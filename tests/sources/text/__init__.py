"""Tests of `numalign/sources/text`."""
