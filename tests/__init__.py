"""Tests of numalign."""
