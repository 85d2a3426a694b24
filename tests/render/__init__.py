"""Tests of numalign.render."""
