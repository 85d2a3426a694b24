"""Tests of numalign as a library."""
