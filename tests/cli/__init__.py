"""Tests of numalign.cli."""
