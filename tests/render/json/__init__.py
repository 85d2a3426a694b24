"""Tests of `numalign/render/json`."""
