"""Tests of NodeResourceTopology objects as values."""
