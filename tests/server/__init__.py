"""Tests of `numalign/server`."""
