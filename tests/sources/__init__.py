"""Tests of numalign.sources."""
