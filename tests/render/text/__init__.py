"""Tests of `numalign/render/text`."""
