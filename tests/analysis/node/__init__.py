"""Tests of `numalign/analysis/node`."""
