"""Tests of the CPU Manager."""
