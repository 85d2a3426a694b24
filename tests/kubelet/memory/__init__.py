"""Tests of the Memory Manager."""
