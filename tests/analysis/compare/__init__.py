"""Tests of `numalign/analysis/compare`."""
