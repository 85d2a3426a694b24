"""Tests of what writes files."""
