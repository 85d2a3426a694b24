"""Tests of `numalign/render/page`."""
