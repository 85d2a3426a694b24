"""Tests of `numalign/analysis/lint`."""
