"""Tests of `numalign/analysis/whatif`."""
