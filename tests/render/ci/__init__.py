"""Tests of `numalign/render/ci`."""
