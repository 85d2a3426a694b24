"""Tests of `numalign/render/picture`."""
