"""Tests of `numalign/analysis/config`."""
